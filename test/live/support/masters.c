/* SPDX-License-Identifier: BSD-3-Clause */
/* masters - see masters.h. */
#include "masters.h"

#include <string.h>

#include "check.h"

void masters_start(struct masters *masters, unsigned count)
{
    memset(masters, 0, sizeof *masters);
    masters->count = count;
    for (unsigned i = 0; i < count; i++) {
        masters->servers[i] = server_start(NULL);
        masters->looks[i] = redis_open(masters->servers[i]);
        masters->urls[i] = masters->servers[i]->url;
    }
}

void masters_end(struct masters *masters)
{
    for (unsigned i = 0; i < masters->count; i++) {
        if (masters->looks[i])
            assert_int_equal(redis_lock_keys(masters->looks[i]), 0);
        redis_close(masters->looks[i]);
        server_end(masters->servers[i]);
    }
}

void masters_kill(struct masters *masters, unsigned i)
{
    redis_close(masters->looks[i]);
    masters->looks[i] = NULL;
    server_kill(masters->servers[i]);
}

void masters_restart(struct masters *masters, unsigned i)
{
    if (masters->looks[i])
        masters_kill(masters, i);
    server_restart(masters->servers[i]);
    masters->looks[i] = redis_open(masters->servers[i]);
}

struct awaited { struct client *client; unsigned up; };

static int are_up(void *arg)
{
    const struct awaited *awaited = arg;
    return client_stats(awaited->client).nodes_up == awaited->up;
}

void masters_await(struct client *client, unsigned up)
{
    struct awaited awaited = {client, up};
    client_until(client, are_up, &awaited, "the masters to be connected");
}
