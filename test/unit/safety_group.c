/* SPDX-License-Identifier: BSD-3-Clause */
/* What a multi must not do: keep what it got while it waits for another program, or believe in what may be gone.
 * What votes must be good for: more than half, each for its own lease, given back when they were too few, and healed
 * in time. */
#include "safety.h"
#include "stage.h"

SAFETY_WITH_CLIENT(MULTI_KEEPS, behind_another_program_a_multi_keeps_nothing_for_long, "kept_ms < 700")
{
    unsigned kept_ms = 0;
    gathering(p, NULL, "c", store_take);
    for (int i = 0; i < 1000; i++) {
        run_ms(s, 1);
        kept_ms += is_ours(s, "a") != 0;
    }
    HOLDS(s, kept_ms < 700);
    store_free_name(&s->store, "c");
    TELLS_IN(s, 5, "m:WAITING m:OK");
}

SAFETY_WITH_CLIENT(MULTI_NEVER_ORDERED, refused_often_a_multi_takes_one_name_after_the_other, "is_ours(s, 'a')")
{
    gathering(p, NULL, "c", store_grant);
    HOLDS(s, is_ours(s, "a"));
    HOLDS(s, is_ours(s, "b"));
}

/* It stands at "b" first, and comes to "c" when "z" waits there. */
SAFETY_WITH_CLIENT(LINE_BY_ARRIVAL, in_a_line_a_multi_is_as_old_as_its_acquire, "x:OK x:released m:OK")
{
    store_take(&s->store, "b", "another", 600000);
    store_take(&s->store, "c", "another", 600000);
    acquire(multi_new(p, "m", abc, NULL), HILOCK_FOREVER);
    run_ms(s, 5);
    struct handle *x = asking(p, "x", "c", NULL);
    run_ms(s, 5);
    asking(p, "z", "c", NULL);
    store_free_name(&s->store, "b");
    TELLS_IN(s, 5, "m:WAITING x:WAITING z:WAITING");
    store_free_name(&s->store, "c");
    run_ms(s, 5);
    release(x);
    TELLS_IN(s, 5, "x:OK x:released m:OK");
}

SAFETY_WITH_CLIENT(MULTI_UNEVEN, fixed_leases_of_a_multi_end_together,
       "store_left_ms(&s->store, 'a') == store_left_ms(&s->store, 'b')")
{
    PLAN(s, .on = "mutex_acquire", .error = "NOSCRIPT gone", .after = 1);
    PLAN(s, .on = "mutex_acquire", .fate.there_us = 400000, .after = 2);
    acquire(multi_new(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER)), HILOCK_FOREVER);
    TELLS_IN(s, 500, "m:OK");
    SAME(s, store_left_ms(&s->store, "a"), store_left_ms(&s->store, "b"));
}

/* The store loses its data, and "a" goes to somebody else; with so many holds it is asked for a moment after the link is back, and in that moment
 * the rest is got. */
SAFETY(MULTI_UNVERIFIED, what_is_kept_across_a_loss_of_data_is_asked_for_anew,
       "hilock_lock_state(m->lock) == HILOCK_STATE_WAITING")
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 0));
    struct handle *m = gathering(p, NULL, "b", store_grant); /* a client of ours hands over: "a" is kept */
    HOLDS(s, is_ours(s, "a"));
    s->is_untold = s->is_tampered = 1;
    for (int i = 0; i < 100; i++) {
        held(p, "o", formatted("other%d", i), NULL);
    }
    loses_the_first(s, m);
}

SAFETY_GIVEN(QUORUM_OF_HALF, half_of_the_votes_are_too_few, OVERBELIEF, quorum(s, 4))
{
    take_at(s, 0, 2, "another");
    acquiring(handle_new(p, "a", "stock", NULL), HILOCK_TRY);
    TELLS_IN(s, 5, "a:TIMED_OUT");
}

SAFETY(QUORUM_KEEPS, too_few_votes_are_given_back, "!strstr(store_holder(store_at(s, 2), 'stock'), p->uuid)")
{
    struct client *p = quorum(s, 3);
    take_at(s, 0, 2, "another");
    asking(p, "a", "stock", NULL);
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

SAFETY_GIVEN(QUORUM_UNHEALED, an_empty_master_is_healed, OVERBELIEF, quorum(s, 3))
{
    held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    for (unsigned i = 0; i < 3; i++) {
        restart_empty(s, i);
        run_ms(s, 2000);
    }
    TELLS(s, "");
}

/* The first master is still another's, so the free ones are left alone, for some seconds: he may be about to have them. */
SAFETY_GIVEN(BALLOT_ALL_AT_ONCE, who_is_woken_asks_one_master_before_the_others,
       "!*store_holder(store_at(s, 1), 'stock') && !*store_holder(store_at(s, 2), 'stock')", quorum(s, 3))
{
    take_at(s, 0, 3, "another");
    asking(p, "a", "stock", NULL);
    run_ms(s, 20);
    store_free_name(store_at(s, 1), "stock");
    store_free_name(store_at(s, 2), "stock");
    run_ms(s, 1);
    HOLDS(s, !*store_holder(store_at(s, 1), "stock") && !*store_holder(store_at(s, 2), "stock"));
    TELLS_IN(s, 10000, "a:WAITING a:OK");
}

/* Both holds end while the client stands still, and a quorum of "a" stands: its extend failed at the others. */
SAFETY_GIVEN(MEMBER_EXTENDS_FIRST, what_a_lost_vote_says_of_an_extend_comes_after_all_losses,
             "b:LOST EXPIRED a:extend UNKNOWN", quorum(s, 3))
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    held(p, "b", "other", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .hold_max_ms = 3000));
    world_freeze(&store_at(s, 0)->lane);
    run_ms(s, 2700);
    for (unsigned i = 1; i < 3; i++)
        PLAN(s, .on = "renew", .at = store_at(s, i), .error = "LOADING Redis is loading");
    extend(a, 3000);
    run_ms(s, 10);
    frozen_ms(p, 400);
    run_ms(s, 1);
    TELLS(s, "b:LOST EXPIRED a:extend UNKNOWN");
}
