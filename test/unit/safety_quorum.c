/* SPDX-License-Identifier: BSD-3-Clause */
/* What votes must be good for: more than half, each for its own lease, given back when they were too few, and healed in time. */
#include <string.h>

#include "quorum_stage.h"
#include "safety.h"

SAFETY(QUORUM_OF_HALF, half_of_the_votes_are_too_few, "a handle believes in no more than the server has")
{
    struct client *p = quorum(s, 4);
    struct handle *a = handle_new(p, "a", "stock", NULL);
    take_at(s, 0, 2, "another");
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 5, "a:TIMED_OUT");
}

SAFETY(QUORUM_KEEPS, too_few_votes_are_given_back, "!strstr(store_holder(store_at(s, 2), 'stock'), p->uuid)")
{
    struct client *p = quorum(s, 3);
    struct handle *a = handle_new(p, "a", "stock", NULL);
    take_at(s, 0, 2, "another");
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 1);
    s->is_tampered = 1;
    TELLS_IN(s, 500, "a:WAITING");
    HOLDS(s, !strstr(store_holder(store_at(s, 2), "stock"), p->uuid));
}

SAFETY(QUORUM_NO_BREAKER, a_hanging_master_is_not_asked_again, "a->result.attempts == i < 1 ? 3 : 2")
{
    struct client *p = quorum(s, 3);
    world_freeze(&store_at(s, 2)->lane);
    for (int i = 0; i < 3; i++) {
        struct handle *a = handle_new(p, "a", (const char *const[]){"one", "two", "three"}[i], NULL);
        acquire(a, HILOCK_TRY);
        run_ms(s, 1);
        SAME(s, a->result.attempts, i < 1 ? 3 : 2);
        release(a);
        run_ms(s, 200);
    }
    TELLS(s, "a:OK a:released a:OK a:released a:OK a:released");
}

SAFETY(QUORUM_UNHEALED, an_empty_master_is_healed, "a handle believes in no more than the server has")
{
    struct client *p = quorum(s, 3);
    held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    for (unsigned i = 0; i < 3; i++) {
        restart_empty(s, i);
        run_ms(s, 2000);
    }
    TELLS(s, "");
}

/* The first master is still another's, so the free ones are left alone, for some seconds: he may be about to have them. */
SAFETY(BALLOT_ALL_AT_ONCE, who_is_woken_asks_one_master_before_the_others,
       "!*store_holder(store_at(s, 1), 'stock') && !*store_holder(store_at(s, 2), 'stock')")
{
    struct client *p = quorum(s, 3);
    take_at(s, 0, 3, "another");
    acquire(handle_new(p, "a", "stock", NULL), HILOCK_FOREVER);
    run_ms(s, 20);
    store_free_name(store_at(s, 1), "stock");
    store_free_name(store_at(s, 2), "stock");
    run_ms(s, 1);
    HOLDS(s, !*store_holder(store_at(s, 1), "stock") && !*store_holder(store_at(s, 2), "stock"));
    TELLS_IN(s, 10000, "a:WAITING a:OK");
}
