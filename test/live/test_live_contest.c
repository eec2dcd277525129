/* SPDX-License-Identifier: BSD-3-Clause */
/* Many processes want the same names, several in random orders or one as MUTEX or FAIR, while the connections die by
 * which they are woken. No two ever hold one, tokens rise, and none is kept out for ever. MULTI_SECONDS makes it
 * longer (figures). */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/child.h"
#include "support/fixture.h"
#include "support/ledger.h"

enum { NAMES = 10, CLIENTS = 20, SECONDS = 3, KILLS = 20 };
enum { SERVED }; /* a word of the ledger: clients that came to their end */

struct contest {
    const struct server *server;
    struct ledger *ledger;
    unsigned index;
    uint64_t ends_us;
};

static void shuffle(unsigned *order, unsigned short random[3])
{
    for (unsigned i = 0; i < NAMES; i++)
        order[i] = i;
    for (unsigned i = NAMES - 1; i > 0; i--) {
        unsigned j = (unsigned)nrand48(random) % (i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* All under one grant: each is written down as held, and as free again before the release leaves. */
static void play_round(const struct contest *contest, struct client *client, unsigned short random[3])
{
    static const char *const all[NAMES] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"};
    const char *names[NAMES + 1] = {NULL};
    unsigned order[NAMES], count = 1 + (unsigned)nrand48(random) % NAMES;
    size_t grants[NAMES];
    struct handle handle;
    shuffle(order, random);
    for (unsigned i = 0; i < count; i++)
        names[i] = all[order[i]];
    if (count > 1)
        handle_open_all(&handle, client, names, NULL);
    else
        handle_open(&handle, client, names[0],
                    HILOCK_LOCK_OPTIONS(.kind = nrand48(random) % 2 ? HILOCK_FAIR : HILOCK_MUTEX, .lease_ms = 60000));
    CHECK(handle_acquire(&handle, HILOCK_FOREVER) == HILOCK_OK);
    for (unsigned i = 0; i < count; i++)
        grants[i] = ledger_begin(contest->ledger, order[i],
                                 count > 1 ? hilock_multi_token(handle.lock, i) : hilock_lock_token(handle.lock));
    for (unsigned i = 0; i < count; i++)
        ledger_end(contest->ledger, grants[i]);
    CHECK(handle_give(&handle) == HILOCK_OK);
    handle_free(&handle);
}

static void take_several(void *arg)
{
    struct contest *contest = arg;
    unsigned short random[3] = {(unsigned short)contest->index, 7, 11};
    struct client client;
    client_open(&client, contest->server->url);
    client_connect(&client);
    do
        play_round(contest, &client, random);
    while (check_now_us() < contest->ends_us);
    atomic_fetch_add(ledger_word(contest->ledger, SERVED), 1);
    client_end(&client);
}

LIVE(all_are_served)
{
    struct ledger *ledger = ledger_new(NAMES, 4000000);
    struct contest contests[CLIENTS];
    pid_t children[CLIENTS];
    unsigned seconds = check_count_wanted("MULTI_SECONDS", SECONDS);
    uint64_t ends_us = check_now_us() + (uint64_t)seconds * 1000000;
    for (unsigned i = 0; i < CLIENTS; i++) {
        contests[i] = (struct contest){.server = fixture->server, .ledger = ledger, .index = i, .ends_us = ends_us};
        children[i] = child_start(take_several, &contests[i]);
    }
    for (unsigned i = 0; i < KILLS; i++) {
        check_pause_ms(50);
        redis_do(fixture->redis, "CLIENT KILL TYPE pubsub");
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        child_join(children[i]);
    struct verdict verdict = ledger_judge(ledger);
    printf("figure: %d clients over %d names in random orders for %u s: %zu names held, %zu overlaps, "
           "tokens backward %zu, clients served %d\n",
           CLIENTS, NAMES, seconds, verdict.grants, verdict.overlaps + verdict.met, verdict.backward,
           (int)atomic_load(ledger_word(ledger, SERVED)));
    assert_int_equal(verdict.overlaps + verdict.met + verdict.backward + verdict.open, 0);
    assert_int_equal(atomic_load(ledger_word(ledger, SERVED)), CLIENTS);
    ledger_free(ledger);
}

/* ---- the judge gets two holders at once, and a token that falls: it must see both ---- */

TEST(judge_sees_what_is_wrong)
{
    struct ledger *ledger = ledger_new(2, 8);
    size_t first = ledger_begin(ledger, 0, 10);
    check_pause_ms(2);
    size_t second = ledger_begin(ledger, 0, 11);
    check_pause_ms(2);
    ledger_end(ledger, first);
    ledger_end(ledger, second);
    ledger_end(ledger, ledger_begin(ledger, 1, 20));
    check_pause_ms(2);
    ledger_end(ledger, ledger_begin(ledger, 1, 19));
    check_pause_ms(2);
    ledger_begin(ledger, 1, 21);
    struct verdict verdict = ledger_judge(ledger);
    assert_true(verdict.grants == 5 && verdict.overlaps == 1 && verdict.met >= 1 && verdict.backward == 1 &&
                verdict.open == 1);
    ledger_free(ledger);
}
