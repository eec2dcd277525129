/* SPDX-License-Identifier: BSD-3-Clause */
/* A hold that several handles of a client have one after the other: each turn is as good as a grant of its own, and others are not forgotten. */
#include "safety.h"
#include "stage.h"

static const struct hilock_lock_options three_seconds = {.size = sizeof three_seconds, .lease_ms = 3000};
static const struct hilock_lock_options fixed = {.size = sizeof fixed, .lease_ms = 3000, .renew = HILOCK_RENEW_NEVER};

static void block(struct handle *handle) { world_jump_us(&handle->fixture->world, 2000000); }

ALSO(HANDOFF_BLIND, what_aged_between_the_turns_is_not_told, "b->result.remaining_ms >= 2900")
SAFETY_WITH_CLIENT(R8_NO_CHECK_AFTER_QUEUE, what_aged_between_the_turns_is_not_told, "b->result.remaining_ms >= 2900")
{
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds);
    run_ms(s, 1);
    when(a, "released", block);
    release(a);
    run_ms(s, 1);
    TELLS_IN(s, 10, "b:WAITING a:released b:OK");
    HOLDS(s, b->result.remaining_ms >= 2900);
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, b->result.attempts, 1);
    SAME(s, hilock_lock_token(b->lock), store_token(&s->store, "stock", store_holder(&s->store, "stock")));
}

SAFETY(HANDOFF_OLD_ALIVE, what_threads_see_ends_with_the_turn, "hilock_validity_remaining_ms(old) == 0")
{
    struct handle *a = held(the_client(s), "a", "stock", NULL), *b = asking(the_client(s), "b", "stock", NULL);
    hilock_validity *old = NULL, *next = NULL;
    SAME(s, hilock_lock_validity(a->lock, &old), HILOCK_OK);
    release_quietly(a);
    SAME(s, hilock_validity_remaining_ms(old), 0);
    run_ms(s, 1);
    SAME(s, hilock_lock_validity(b->lock, &next), HILOCK_OK);
    HOLDS(s, next != old && hilock_validity_remaining_ms(next) > 29000);
    SAME(s, hilock_validity_remaining_ms(old), 0);
    hilock_validity_unref(old);
    hilock_validity_unref(next);
}

/* Its data is lost; with so many holds it is asked for a moment after the link is back, and in that moment the turn ends. */
SAFETY_WITH_CLIENT(HANDOFF_UNVERIFIED, what_is_to_be_verified_is_so_in_the_next_turn,
       "hilock_lock_state(b->lock) == HILOCK_STATE_IDLE")
{
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
    s->is_untold = 1;
    for (int i = 0; i < 100; i++) {
        held(p, "o", formatted("other%d", i), &three_seconds);
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

ALSO(HANDOFF_AFTER_RELEASE, a_release_hands_on_with_no_command, OVERBELIEF)
SAFETY_WITH_CLIENT(HANDOFF_TOKEN_SAME, a_release_hands_on_with_no_command, "b->result.fencing_token == token + 1")
{
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds);
    uint64_t token = a->result.fencing_token, granted_us = sent_at_us(s, "mutex_acquire", 0);
    unheard_ms(s, 10);
    release(a);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
    SAME(s, hilock_lock_remaining_ms(a->lock), 0);
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_WAITING);
    run_us(s, 1);
    TELLS(s, "a:released b:OK");
    SAME(s, a->result.attempts, 0);
    TEXT(s, a->detail, "handed to the next handle of this client that waited for \"stock\", without a command");
    SAME(s, b->result.attempts, 0);
    SAME(s, b->result.fencing_token, token + 1);
    SAME(s, b->result.state, HILOCK_STATE_HELD);
    BELIEVES(s, b, granted_us + 3000000 - 37000);
    SAME(s, asked(s, "mutex_acquire"), 1);
    SAME(s, asked(s, "mutex_release"), 0);
    SAME(s, counts_of(p).granted, 2);
    SAME(s, counts_of(p).granted_local, 1);
    SAME(s, counts_of(p).released, 1);
    SAME(s, release(a), HILOCK_NOT_HELD);
    run_ms(s, 10);
    HOLDS(s, is_ours(s, "stock"));
}

SAFETY(HANDOFF_UNBOUNDED, others_are_let_in_after_sixteen_turns,
       "b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK c:OK")
{
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", NULL);
    for (int i = 0; i < 20; i++)
        when(asking(p, "b", "stock", NULL), "OK", release_quietly);
    asking(q, "c", "stock", NULL);
    unheard_ms(s, 10);
    release_quietly(a);
    TELLS_IN(s, 10, "b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK b:OK c:OK");
}

SAFETY_WITH_CLIENT(HANDOFF_UNBOUNDED, none_begins_when_a_third_of_the_lease_is_over, "asked(s, 'mutex_release') == 1")
{
    struct handle *a = held(p, "a", "stock", &three_seconds);
    struct handle *b = asking(p, "b", "stock", &three_seconds), *c = asking(p, "c", "stock", &three_seconds);
    uint64_t granted_us = a->at_us;
    run_to(s, granted_us + 999999);
    release_quietly(a);
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_release"), 0);
    SAME(s, b->result.status, HILOCK_OK);
    release_quietly(b);
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, c->result.attempts, 1);
}

SAFETY(HANDOFF_ANY_LEASE, a_crash_costs_no_more_than_ones_own_lease, "store_left_ms(&s->store, 'stock') <= 3000")
{
    struct handle *a = held(the_client(s), "a", "stock", NULL);
    struct handle *b = asking(the_client(s), "b", "stock", &three_seconds);
    release_quietly(a);
    run_ms(s, 10);
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 0);
    HOLDS(s, store_left_ms(&s->store, "stock") <= 3000);
}

SAFETY_HOLDING(HANDOFF_ANY_LEASE, a_renewal_under_way_proves_nothing_of_a_longer_lease, "what is believed",
               &three_seconds)
{
    struct handle *b = asking(the_client(s), "b", "stock",
                              HILOCK_LOCK_OPTIONS(.lease_ms = 60000, .min_validity_ms = 1000));
    run_ms(s, 10);
    extend(a, 0);
    run_us(s, 50);
    release_quietly(a);
    run_ms(s, 10);
    BELIEVES(s, b, sent_at_us(s, "mutex_release", 0) + 60000000 - 607000);
    SAME(s, asked(s, "mutex_release"), 1);
}

SAFETY(HANDOFF_FIXED, a_fixed_lease_is_whole, "asked(s, 'mutex_release') == 1")
{
    struct handle *a = held(the_client(s), "a", "stock", &fixed), *b = asking(the_client(s), "b", "stock", &fixed);
    run_ms(s, 800);
    release_quietly(a);
    run_ms(s, 1);
    SAME(s, asked(s, "mutex_release"), 1);
    BELIEVES(s, b, sent_at_us(s, "mutex_release", 0) + 3000000 - 37000);
    TELLS_IN(s, 2900, "b:WAITING b:OK");
    TELLS_IN(s, 100, "b:LOST EXPIRED");
    SAME(s, asked(s, "renew"), 0);
}

/* Nothing was verified yet: only that another took over is known. */
SAFETY_GIVEN(HANDOFF_AFTER_FAILOVER, nobody_begins_on_what_the_old_master_granted, "b:WAITING", sentinels_begin(s))
{
    struct handle *a = held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    store_take(replica_of(s), "stock", "another", 600000);
    sentinels_fail_over(s, 1, 1, 0);
    while (!strstr(p->log, "took over"))
        run_us(s, 10);
    release_quietly(a);
    TELLS_IN(s, 100, "b:WAITING");
}

/* One server that is away will know all that it knew, or grant nothing: there a_store_that_is_away_does_not_stop_it. */
SAFETY_GIVEN(HANDOFF_AFTER_FAILOVER, nobody_begins_while_another_may_take_over, "b:WAITING", sentinels_begin(s))
{
    struct handle *a = held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    cut_off(s);
    run_ms(s, 10);
    release_quietly(a);
    TELLS_IN(s, 100, "b:WAITING");
    s->place->mood = NET_LISTENS;
    TELLS_IN(s, 3000, "b:OK");
    SAME(s, asked(s, "mutex_acquire"), 1);
}

/* The release made the next one the holder, and its answer is lost. */
SAFETY(NEXT_FORGOTTEN, what_an_unanswered_release_asked_for_is_adopted, "b:OK")
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1, .command_timeout_ms = 1000));
    struct handle *a = held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    PLAN(s, .on = "mutex_release", .fate.answer_is_lost = 1);
    release_quietly(a);
    run_ms(s, 20);
    HOLDS(s, is_ours(s, "stock"));
    TELLS(s, "b:WAITING");
    TELLS_IN(s, 3000, "b:OK");
}

/* Both went over a link that is lost, and run by themselves later. The repeated release is refused, and then the next handle gives up: what went
 * along for it had not run by then. */
SAFETY(ORDER_OUTLIVES_LINK, what_went_along_with_a_release_is_released_on_another_link_again, "!is_ours(s, 'stock')")
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1, .command_timeout_ms = 1000));
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
    struct plan *again;
    PLAN(s, .on = "mutex_release", .fate.is_stray = 1, .fate.there_us = 400000);
    release_quietly(a);
    run_us(s, 10);
    net_reset(&s->net, NULL, NET_COMMANDS);
    again = PLAN(s, .on = "mutex_release", .error = "OOM command not allowed when used memory > 'maxmemory'.");
    while (!again->met)
        run_us(s, 10);
    cancel(b);
    while (fixture_us(s) < 1000405000)
        run_ms(s, 1);
    HOLDS(s, is_ours(s, "stock"));
    run_ms(s, 1500);
    HOLDS(s, !is_ours(s, "stock"));
}
