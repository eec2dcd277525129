/* SPDX-License-Identifier: BSD-3-Clause */
/* R1: until when we believe; R11: what comes after the deadline extends nothing. Both, and R8, for what is asked of
 * a hold: extends, re-entries, and what other threads see of it. */
#include "safety.h"

static const struct hilock_lock_options short_lease = {.size = sizeof short_lease, .lease_ms = 3000};

enum { LEASE_US = 3000000, DRIFT_US = 30000 + 2000 + 5000 };

SAFETY(R1_DEADLINE_FROM_REPLY, a_grant_counts_from_its_send, OVERBELIEF)
{
    struct handle *a = asking(the_client(s), "a", "stock", &short_lease);
    uint64_t sent_us = fixture_us(s);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 400000);
    TELLS_IN(s, 500, "a:OK");
    BELIEVES(s, a, sent_us + LEASE_US - DRIFT_US);
}

SAFETY_HOLDING(R1_DEADLINE_FROM_REPLY, a_renewal_counts_from_its_own_send, OVERBELIEF, &short_lease)
{
    PLAN(s, .on = "renew", .fate.back_us = 700000);
    run_ms(s, 1990);
    SAME(s, asked(s, "renew"), 1);
    SAME(s, sent_at_us(s, "renew", 0), sent_at_us(s, "mutex_acquire", 0) + LEASE_US / 3);
    BELIEVES(s, a, sent_at_us(s, "renew", 0) + LEASE_US - DRIFT_US);
}

SAFETY_WITH_CLIENT(R1_NO_DRIFT, belief_ends_before_a_server_whose_clock_is_fast, OVERBELIEF)
{
    world_clock_set_rate(&s->store.clock, 9000);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
    while (store_left_ms(&s->store, "stock") >= 0) {
        run_us(s, 500);
        HOLDS(s, store_left_ms(&s->store, "stock") >= 0 || !hilock_lock_remaining_ms(a->lock));
    }
    TELLS(s, "a:LOST EXPIRED");
}

/* Frozen before the answer can be read, thawed behind the deadline: the server has renewed, but we did not know it in time. */
ALSO(R5_SILENT_END, an_answer_behind_the_deadline_revives_nothing, "!is_ours(s, 'stock')")
SAFETY_HOLDING(R11_RESURRECT, an_answer_behind_the_deadline_revives_nothing, "a:LOST SUSPENDED", &short_lease)
{
    uint64_t sent_us = sent_at_us(s, "mutex_acquire", 0);
    run_to(s, sent_us + LEASE_US / 3 + 150);
    SAME(s, asked(s, "renew"), 1);
    world_freeze(&the_client(s)->loop.lane);
    run_to(s, sent_us + 3500000);
    SAME(s, hilock_lock_remaining_ms(a->lock), 0);
    HOLDS(s, store_left_ms(&s->store, "stock") > 0);
    world_thaw(&s->world, &the_client(s)->loop.lane);
    TELLS_IN(s, 5, "a:LOST SUSPENDED");
    SAME(s, hilock_lock_remaining_ms(a->lock), 0);
    HOLDS(s, !is_ours(s, "stock"));
}

static const struct hilock_lock_options never = {.size = sizeof never, .lease_ms = 3000, .renew = HILOCK_RENEW_NEVER};
static const struct hilock_lock_options again = {.size = sizeof again, .lease_ms = 3000, .reentrant = 1};

static uint64_t deadline_us(uint64_t sent_us, uint64_t lease_us) { return sent_us + lease_us - lease_us / 100 - 7000; }

SAFETY_HOLDING(EXTEND_FROM_REPLY, it_is_one_command_and_lasts_from_its_send, OVERBELIEF, &short_lease)
{
    run_ms(s, 500);
    uint64_t asked_us = fixture_us(s);
    PLAN(s, .on = "renew", .fate.back_us = 700000);
    SAME(s, extend(a, 10000), HILOCK_OK);
    TELLS(s, "");
    TELLS_IN(s, 800, "a:extended");
    SAME(s, a->at_us, asked_us + 200 + 700000);
    SAME(s, asked(s, "renew"), 1);
    HOLDS(s, strstr(store_line(&s->store, "renew", 0)->text, "renew 1 stock 10000 "));
    BELIEVES(s, a, deadline_us(asked_us, 10000000));
    SAME(s, a->result.operation, HILOCK_OP_EXTEND);
    SAME(s, a->result.state, HILOCK_STATE_HELD);
    SAME(s, a->result.hold_count, 1);
    SAME(s, a->result.attempts, 1);
    SAME(s, a->result.fencing_token, hilock_lock_token(a->lock));
    SAME(s, a->result.remaining_ms, (deadline_us(asked_us, 10000000) - a->at_us) / 1000);
    HOLDS(s, a->result.lock == a->lock);
}

SAFETY_HOLDING(EXTEND_SHORTENS, it_never_shortens, "what is believed", &never)
{
    extend(a, 60000);
    run_ms(s, 1);
    uint64_t long_us = sent_at_us(s, "renew", 0);
    extend(a, 100);
    extend(a, 1000);
    TELLS_IN(s, 2, "a:extended a:extended a:extended");
    BELIEVES(s, a, deadline_us(long_us, 60000000));
    HOLDS(s, store_left_ms(&s->store, "stock") > 59900);
}

SAFETY_HOLDING(EXTEND_UNASKED, it_waits_for_a_renewal_under_way_and_then_asks, "asked(s, 'renew') == 2", &short_lease)
{
    PLAN(s, .on = "renew", .fate.back_us = 300000);
    run_to(s, sent_at_us(s, "mutex_acquire", 0) + 1100000);
    extend(a, 20000);
    run_to(s, sent_at_us(s, "mutex_acquire", 0) + 1300150);
    TELLS(s, "");
    SAME(s, asked(s, "renew"), 1);
    TELLS_IN(s, 1, "a:extended");
    SAME(s, asked(s, "renew"), 2);
    SAME(s, sent_at_us(s, "renew", 1), sent_at_us(s, "mutex_acquire", 0) + 1300200);
    BELIEVES(s, a, deadline_us(sent_at_us(s, "renew", 1), 20000000));
}

SAFETY(EXTEND_FORGOTTEN, after_an_extend_a_release_is_repeated_for_that_lease, "a:extended a:release UNKNOWN")
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
    extend(a, 60000);
    run_ms(s, 1);
    cut_off(s);
    release(a);
    TELLS_IN(s, 50000, "a:extended a:release UNKNOWN");
    HOLDS(s, is_ours(s, "stock"));
    s->place->mood = NET_LISTENS;
    TELLS_IN(s, 5000, "a:SETTLED");
    HOLDS(s, !is_ours(s, "stock"));
}

SAFETY(VALIDITY_OUTLIVES, a_validity_never_shows_a_later_hold, "hilock_validity_remaining_ms(validity) == 0")
{
    struct handle *a = held(the_client(s), "a", "stock", &short_lease);
    hilock_validity *validity = NULL;
    SAME(s, hilock_lock_validity(a->lock, &validity), HILOCK_OK);
    handle_drop(a);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 1);
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 2900);
    SAME(s, hilock_validity_remaining_ms(validity), 0);
    hilock_validity_unref(validity);
}

SAFETY_HOLDING(REENTRY_ENDS_EARLY, a_hold_that_was_entered_twice_needs_two_releases, "is_ours(s, 'stock')", &again)
{
    acquire(a, HILOCK_TRY);
    run_ms(s, 1);
    release_quietly(a);
    run_ms(s, 5);
    HOLDS(s, is_ours(s, "stock"));
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 2000);
    release_quietly(a);
    run_ms(s, 5);
    HOLDS(s, !is_ours(s, "stock"));
    TELLS(s, "a:OK");
}

static void enter_and_block(struct handle *handle)
{
    struct handle *a = TAILQ_FIRST(&handle->fixture->handles);
    SAME(handle->fixture, acquire(a, HILOCK_FOREVER), HILOCK_OK);
    world_jump_us(&handle->fixture->world, 5000000);
}

SAFETY_WITH_CLIENT(REENTRY_UNCHECKED, a_re_entry_of_a_hold_that_has_ended_is_not_OK, "b:OK a:LOST SUSPENDED a:LOST")
{
    held(p, "a", "one", &again);
    struct handle *b = asking(p, "b", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    when(b, "OK", enter_and_block);
    run_ms(s, 1);
    TELLS_IN(s, 10, "b:OK a:LOST SUSPENDED a:LOST");
}

/* The server's clock is set back: the lease at the store is too long. It is shortened, but not below what an extend that
 * had no answer may have got. */
SAFETY_GIVEN(SHORTENED_BELOW_EXTEND, an_extend_without_an_answer_is_not_shortened,
             "store_left_ms(&s->store, 'stock') > 15000", fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)))
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    struct plan *lost = PLAN(s, .on = "renew", .times = PLAN_ALWAYS, .fate.resets_after = 1);
    extend(a, 20000);
    TELLS_IN(s, 600, "a:RENEWAL_FAILED a:extend UNKNOWN");
    plan_end(lost);
    run_ms(s, 500);
    s->is_tampered = 1;
    store_expire_ms(&s->store, "stock", 3600000);
    run_ms(s, 2500);
    HOLDS(s, store_left_ms(&s->store, "stock") < 30000);
    HOLDS(s, store_left_ms(&s->store, "stock") > 15000);
}

SAFETY_HOLDING(EXTENDED_WHILE_SHORTENED, a_late_copy_of_a_shortening_meets_no_extend, OVERBELIEF,
               HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    run_ms(s, 500);
    world_clock_step(&s->store.clock, -300000000);
    struct plan *stray = PLAN(s, .on = "renew", .after = 1, .fate.is_stray = 1, .fate.there_us = 1500000);
    for (int i = 0; i < 3000 && !stray->met; i++)
        run_ms(s, 1);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 200);
    extend(a, 20000);
    run_ms(s, 4000);
    fixture_hush(s);
}
