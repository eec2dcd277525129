/* SPDX-License-Identifier: BSD-3-Clause */
/* A hold by the votes of masters: renewed, healed, extended, lost, released; and what the restart guard is for. */
#include "played.h"
#include "quorum_stage.h"

A_PLAY(renewed_by_a_majority)
{
    struct handle *a = held(quorum(s, 5), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    crash(s, 1);
    world_freeze(&store_at(s, 4)->lane);
    TELLS_AFTER(s, 20000, "");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 1900);
    release(a);
    TELLS_AFTER(s, 5, "a:released");
    SAME(s, a->result.votes, 3);
}

A_PLAY(without_a_majority_for_a_while_it_stands)
{
    struct handle *a = held(quorum(s, 3), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    crash(s, 0);
    crash(s, 1);
    run_ms(s, 8200);
    s->net.places[0].mood = s->net.places[1].mood = NET_LISTENS;
    TELLS_AFTER(s, 10000, "a:RENEWAL_FAILED a:RENEWED");
    SAME(s, kept(s, "stock"), 3);
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 5000);
}

A_PLAY(taken_at_a_majority_it_is_lost_and_never_healed)
{
    struct handle *a = held(quorum(s, 5), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    s->is_tampered = 1;
    for (unsigned i = 0; i < 3; i++)
        store_delete(store_at(s, i), "stock");
    TELLS_AFTER(s, 1100, "a:LOST TAKEN");
    run_ms(s, 4000);
    SAME(s, kept(s, "stock"), 0);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
}

GIVEN(extended_by_a_majority_or_not_at_all, quorum(s, 3))
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 30000, .renew = HILOCK_RENEW_NEVER));
    world_freeze(&store_at(s, 0)->lane);
    extend(a, 30000);
    run_us(s, 250);
    TELLS(s, "a:extended");
    PLAN(s, .on = "renew", .at = store_at(s, 1), .act = PLAN_REFUSE, .error = "OOM command not allowed");
    extend(a, 30000);
    TELLS_AFTER(s, 4000, "a:extend UNWRITABLE");
    world_thaw(&s->world, &store_at(s, 0)->lane);
}

A_PLAY(a_release_that_most_do_not_answer_is_UNKNOWN_and_settles)
{
    struct handle *a = held(quorum(s, 3), "a", "stock", NULL);
    world_freeze(&store_at(s, 0)->lane);
    world_freeze(&store_at(s, 1)->lane);
    release(a);
    TELLS_AFTER(s, 2900, "");
    TELLS_AFTER(s, 200, "a:release UNKNOWN");
    world_thaw(&s->world, &store_at(s, 0)->lane);
    world_thaw(&s->world, &store_at(s, 1)->lane);
    TELLS_AFTER(s, 5000, "a:SETTLED");
    SAME(s, kept(s, "stock"), 0);
}

/* A request to heal is lost with its link and still runs, behind a refusal. */
GIVEN(a_master_that_refuses_to_be_healed_is_released_too, quorum(s, 3))
{
    run_ms(s, 1);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    struct plan *stray = PLAN(s, .on = "mutex_acquire", .at = store_at(s, 2), .act = PLAN_STRAY, .us = 500000);
    store_restart(store_at(s, 2), 0);
    net_reset_at(&s->net, &s->net.places[2]);
    for (int i = 0; i < 4000 && !stray->met; i++)
        run_ms(s, 1);
    store_take(store_at(s, 2), "stock", "another", 60000);
    net_reset_at(&s->net, &s->net.places[2]);
    run_ms(s, 400);
    SAME(s, store_count(store_at(s, 2), "mutex_acquire"), 2);
    store_delete(store_at(s, 2), "stock");
    run_ms(s, 200);
    HOLDS(s, strstr(store_holder(store_at(s, 2), "stock"), p->uuid));
    release(a);
    TELLS_AFTER(s, 5, "a:released");
    run_ms(s, 4000); /* until that request can run no more */
    TEXT(s, store_holder(store_at(s, 2), "stock"), "");
}

/* ---- the restart guard ---- */

/* a holds by the first two of three, the second restarts empty, which a cannot learn, and b asks the last two. */
static struct handle *restarted_under_a_holder(struct fixture *s, uint32_t guard_ms)
{
    const struct hilock_client_options options = {.size = sizeof options, .restart_guard_ms = guard_ms, .lease_ms = 10000};
    struct client *p = quorum_with(s, 3, options), *q = quorum_with(s, 3, options);
    struct handle *a, *b = handle_new(q, "b", "stock", NULL);
    s->is_tampered = 1;
    s->net.places[2].mood = NET_REFUSES;
    net_reset_at(&s->net, &s->net.places[2]);
    run_ms(s, 5);
    a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.renew = HILOCK_RENEW_NEVER));
    s->net.places[0].mood = NET_REFUSES;
    net_reset_at(&s->net, &s->net.places[0]);
    s->net.places[2].mood = NET_LISTENS;
    PLAN(s, .on = "renew", .times = PLAN_ALWAYS, .act = PLAN_REFUSE, .error = "LOADING Redis is loading the dataset in memory");
    restart_empty(s, 1);
    run_ms(s, 3000);
    acquire(b, 2000);
    run_ms(s, 1000);
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 0);
    return b;
}

A_PLAY(by_default_a_restarted_master_gives_no_vote_for_a_lease)
{
    struct handle *b = restarted_under_a_holder(s, 0);
    HOLDS(s, hilock_lock_state(b->lock) == HILOCK_STATE_WAITING);
    TELLS_AFTER(s, 1500, "b:UNWRITABLE");
    HOLDS(s, strstr(b->detail, "127.0.0.1:6380 started "));
    run_ms(s, 5000);
    acquire(b, 5000);
    run_ms(s, 5000);
    HOLDS(s, is_held(b));
    fixture_hush(s);
}

A_PLAY(without_the_guard_two_hold_at_a_time)
{
    struct handle *b = restarted_under_a_holder(s, HILOCK_GUARD_OFF);
    TELLS(s, "b:OK");
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_HELD);
}
