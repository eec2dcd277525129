/* SPDX-License-Identifier: BSD-3-Clause */
/* quorum_stage - see quorum_stage.h. */
#include "quorum_stage.h"

#include <string.h>

const char *const *urls_of(unsigned count)
{
    static const char *lists[FIXTURE_MASTERS_MAX + 1][FIXTURE_MASTERS_MAX + 1];
    for (unsigned i = 0; i < count; i++)
        lists[count][i] = fixture_urls[i];
    return lists[count];
}

struct client *quorum_with(struct fixture *s, unsigned count, struct hilock_client_options options)
{
    struct client *p;
    fixture_masters(s, count);
    options.quorum_urls = urls_of(count);
    p = fixture_connect(s, &options);
    run_ms(s, 1);
    return p;
}

struct client *quorum(struct fixture *s, unsigned count) { return quorum_with(s, count, hilock_client_options_default()); }

/* How many masters have the name for some client of this fixture. */
unsigned kept(struct fixture *s, const char *name)
{
    unsigned found = 0;
    for (unsigned i = 0; i < s->masters_count; i++)
        found += strstr(store_holder(store_at(s, i), name), "-aaaa-4bbb-") != NULL;
    return found;
}

size_t asked_all(struct fixture *s, const char *word)
{
    size_t count = 0;
    for (unsigned i = 0; i < s->masters_count; i++)
        count += store_count(store_at(s, i), word);
    return count;
}

void crash(struct fixture *s, unsigned i)
{
    s->net.places[i].mood = NET_REFUSES;
    net_reset_at(&s->net, s->net.places[i].store, NET_ALL);
}

void restart_empty(struct fixture *s, unsigned i)
{
    store_restart(store_at(s, i), 0);
    net_reset_at(&s->net, s->net.places[i].store, NET_ALL);
    s->net.places[i].mood = NET_LISTENS;
}

void take_at(struct fixture *s, unsigned first, unsigned count, const char *holder)
{
    for (unsigned i = first; i < first + count; i++)
        store_take(store_at(s, i), "stock", holder, 60000);
}
