/* SPDX-License-Identifier: BSD-3-Clause */
/* A hold that several handles of a client have one after the other: each turn is as good as a grant of its own, and others are not forgotten. */
#include <stdio.h>
#include <string.h>

#include "safety.h"
#include "sentinel_stage.h"

static const struct hilock_lock_options three_seconds = {.size = sizeof three_seconds, .lease_ms = 3000};

static void release_it(struct handle *handle) { release_quietly(handle); }

SAFETY(HANDOFF_BLIND, nobody_is_handed_less_than_he_asked_for, "b->result.remaining_ms >= 2500")
{
    struct handle *a = held(the_client(s), "a", "stock", &three_seconds);
    struct handle *b = asking(the_client(s), "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .min_validity_ms = 2500));
    run_ms(s, 900);
    release_quietly(a);
    run_ms(s, 1);
    TELLS(s, "b:WAITING b:OK");
    HOLDS(s, b->result.remaining_ms >= 2500);
}

static void block(struct handle *handle) { world_jump_us(&handle->fixture->world, 2000000); }

ALSO(HANDOFF_BLIND, what_aged_between_the_turns_is_not_told, "b->result.remaining_ms >= 1500")
SAFETY(R8_NO_CHECK_AFTER_QUEUE, what_aged_between_the_turns_is_not_told, "b->result.remaining_ms >= 1500")
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds);
    run_ms(s, 1);
    when(a, "released", block);
    release(a);
    run_ms(s, 1);
    run_ms(s, 10);
    TELLS(s, "b:WAITING a:released b:OK");
    HOLDS(s, b->result.remaining_ms >= 1500);
}

SAFETY(HANDOFF_OLD_ALIVE, what_threads_see_ends_with_the_turn, "hilock_validity_remaining_ms(validity) == 0")
{
    struct handle *a = held(the_client(s), "a", "stock", &three_seconds);
    hilock_validity *validity = NULL;
    asking(the_client(s), "b", "stock", &three_seconds);
    SAME(s, hilock_lock_validity(a->lock, &validity), HILOCK_OK);
    release_quietly(a);
    SAME(s, hilock_validity_remaining_ms(validity), 0);
    run_ms(s, 1);
    SAME(s, hilock_validity_remaining_ms(validity), 0);
    hilock_validity_unref(validity);
}

/* Its data is lost; with so many holds it is asked for a moment after the link is back, and in that moment the turn ends. */
SAFETY(HANDOFF_UNVERIFIED, what_is_to_be_verified_is_so_in_the_next_turn,
       "hilock_lock_state(b->lock) == HILOCK_STATE_IDLE")
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
    char name[16];
    s->is_untold = 1;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "other%d", i);
        held(p, "o", name, &three_seconds);
    }
    s->is_tampered = 1;
    store_restart(&s->store, 0);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 1);
    while (!hilock_client_is_connected(p->client))
        run_us(s, 20);
    release_quietly(a);
    run_us(s, 1);
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_HELD);
    SAME(s, asked(s, "mutex_release"), 0);
    run_ms(s, 1000);
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_IDLE);
}

SAFETY(HANDOFF_AFTER_RELEASE, what_is_handed_on_is_not_released, "a handle believes in no more than the server has")
{
    struct handle *a = held(the_client(s), "a", "stock", &three_seconds);
    asking(the_client(s), "b", "stock", &three_seconds);
    release_quietly(a);
    run_ms(s, 10);
    TELLS(s, "b:WAITING b:OK");
    HOLDS(s, is_ours(s, "stock"));
}

SAFETY(HANDOFF_TOKEN_SAME, tokens_rise_from_turn_to_turn, "b->result.fencing_token > a->result.fencing_token")
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds);
    release_quietly(a);
    run_ms(s, 1);
    HOLDS(s, b->result.fencing_token > a->result.fencing_token);
}

SAFETY(HANDOFF_UNBOUNDED, others_are_let_in_after_sixteen_turns,
       "b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK c:OK")
{
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", NULL);
    for (int i = 0; i < 20; i++)
        when(asking(p, "b", "stock", NULL), "OK", release_it);
    asking(q, "c", "stock", NULL);
    run_ms(s, 10);
    fixture_hush(s);
    release_quietly(a);
    run_ms(s, 10);
    TELLS(s, "b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK c:OK");
}

SAFETY(HANDOFF_UNBOUNDED, others_are_let_in_after_a_third_of_the_lease, "hilock_lock_remaining_ms(c->lock) > 0")
{
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *c;
    asking(p, "b", "stock", &three_seconds);
    c = asking(q, "c", "stock", &three_seconds);
    run_ms(s, 1050);
    release_quietly(a);
    run_ms(s, 2);
    HOLDS(s, hilock_lock_remaining_ms(c->lock) > 0);
}

SAFETY(HANDOFF_ANY_LEASE, a_crash_costs_no_more_than_ones_own_lease, "store_left_ms(&s->store, 'stock') <= 3000")
{
    struct handle *a = held(the_client(s), "a", "stock", NULL), *b = asking(the_client(s), "b", "stock", &three_seconds);
    release_quietly(a);
    run_ms(s, 10);
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 0);
    HOLDS(s, store_left_ms(&s->store, "stock") <= 3000);
}

SAFETY(HANDOFF_ANY_LEASE, an_extended_lease_is_not_handed_to_a_shorter_one, "store_left_ms(&s->store, 'stock') <= 3000")
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds);
    extend(a, 60000);
    run_ms(s, 10);
    release_quietly(a);
    run_ms(s, 10);
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 0);
    HOLDS(s, store_left_ms(&s->store, "stock") <= 3000);
}

SAFETY(HANDOFF_ANSWER_TAKEN, no_lease_is_believed_in_that_was_not_asked_for,
       "a handle believes in no more than the server has")
{
    struct handle *a = held(the_client(s), "a", "stock", &three_seconds);
    asking(the_client(s), "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 60000, .min_validity_ms = 1000));
    run_ms(s, 10);
    PLAN(s, .on = "renew", .after = 1, .times = PLAN_ALWAYS, .act = PLAN_LOSE_REQUEST);
    extend(a, 0);
    run_us(s, 50);
    release_quietly(a);
    run_ms(s, 10000); /* a fixture looks at belief by itself */
}

SAFETY(HANDOFF_LEASE_UNASKED, a_fixed_lease_is_had_whole, "hilock_lock_remaining_ms(b->lock) >= 2950")
{
    const struct hilock_lock_options *fixed = HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER);
    struct handle *a = held(the_client(s), "a", "stock", fixed), *b = asking(the_client(s), "b", "stock", fixed);
    run_ms(s, 900);
    release_quietly(a);
    run_ms(s, 10);
    HOLDS(s, hilock_lock_remaining_ms(b->lock) >= 2950);
}

SAFETY(HANDOFF_LEASE_UNASKED, a_longer_lease_is_had_in_time, "b:WAITING b:OK")
{
    struct handle *a = held(the_client(s), "a", "stock", &three_seconds);
    asking(the_client(s), "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 60000, .min_validity_ms = 1000));
    release_quietly(a);
    run_ms(s, 10000);
    TELLS(s, "b:WAITING b:OK");
}

/* Nothing was verified yet: only that another took over is known. */
SAFETY(HANDOFF_ADRIFT, nobody_begins_on_what_the_old_master_granted, "b:WAITING")
{
    struct stage stage;
    struct client *p = stage_begin(&stage, s);
    struct handle *a = held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    store_take(stage.other, "stock", "another", 600000);
    stage_fail_over(&stage, 1, 1, 0);
    while (!strstr(p->log, "took over"))
        run_us(s, 10);
    release_quietly(a);
    run_ms(s, 100);
    TELLS(s, "b:WAITING");
}

/* One server that is away will know all that it knew, or grant nothing: there a_store_that_is_away_does_not_stop_it. */
SAFETY(HANDOFF_ADRIFT, nobody_begins_while_another_may_take_over, "b:WAITING")
{
    struct stage stage;
    struct client *p = stage_begin(&stage, s);
    struct handle *a = held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    cut_off(s);
    run_ms(s, 10);
    release_quietly(a);
    run_ms(s, 100);
    TELLS(s, "b:WAITING");
    s->place->mood = NET_LISTENS;
    run_ms(s, 3000);
    TELLS(s, "b:OK");
    SAME(s, asked(s, "mutex_acquire"), 1);
}

/* The release made the next one the holder, and its answer is lost. */
SAFETY(NEXT_FORGOTTEN, what_an_unanswered_release_asked_for_is_adopted, "b:OK")
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1, .command_timeout_ms = 1000));
    struct handle *a = held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    PLAN(s, .on = "mutex_release", .act = PLAN_LOSE_ANSWER);
    release_quietly(a);
    run_ms(s, 20);
    HOLDS(s, is_ours(s, "stock"));
    TELLS(s, "b:WAITING");
    run_ms(s, 3000);
    TELLS(s, "b:OK");
}
