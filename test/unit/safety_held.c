/* SPDX-License-Identifier: BSD-3-Clause */
/* R1 and R8 for what is asked of a hold: extends, re-entries, and what other threads see of it. */
#include "safety.h"

static const struct hilock_lock_options short_lease = {.size = sizeof short_lease, .lease_ms = 3000};
static const struct hilock_lock_options again = {.size = sizeof again, .lease_ms = 3000, .reentrant = 1};

SAFETY(EXTEND_FROM_REPLY, an_extend_counts_from_its_own_send, "a handle believes in no more than the server has")
{
    struct handle *a = held(the_client(s), "a", "stock", &short_lease);
    uint64_t asked_us = fixture_us(s);
    PLAN(s, .on = "renew", .act = PLAN_DELAY_ANSWER, .us = 700000);
    extend(a, 10000);
    run_ms(s, 800);
    TELLS(s, "a:extended");
    BELIEVES(s, a, asked_us + 10000000 - 107000);
}

SAFETY(EXTEND_SHORTENS, an_extend_to_less_takes_nothing_away, "what is believed")
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 30000, .renew = HILOCK_RENEW_NEVER));
    extend(a, 1000);
    run_ms(s, 1);
    TELLS(s, "a:extended");
    BELIEVES(s, a, sent_at_us(s, "mutex_acquire", 0) + 30000000 - 307000);
    run_ms(s, 10000);
    TELLS(s, "");
}

/* Taken after a renewal had run at the store, and before its answer was read: that answer proves nothing of later. */
SAFETY(EXTEND_UNASKED, an_extend_is_not_answered_by_what_was_asked_before_it, "a:extend LOST")
{
    struct handle *a = held(the_client(s), "a", "stock", &short_lease);
    PLAN(s, .on = "renew", .act = PLAN_DELAY_ANSWER, .us = 200000);
    run_to(s, sent_at_us(s, "mutex_acquire", 0) + 1050000);
    s->is_tampered = 1;
    store_take(&s->store, "stock", "another", 60000);
    extend(a, 0);
    run_ms(s, 300);
    TELLS(s, "a:extend LOST");
}

SAFETY(EXTEND_FORGOTTEN, an_extended_lease_is_released_however_long_it_takes, "!is_ours(s, 'stock')")
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
    extend(a, 60000);
    run_ms(s, 1);
    cut_off(s);
    handle_drop(a);
    run_ms(s, 20000);
    HOLDS(s, is_ours(s, "stock"));
    s->place->mood = NET_LISTENS;
    run_ms(s, 5000);
    HOLDS(s, !is_ours(s, "stock"));
}

SAFETY(VALIDITY_OUTLIVES, a_validity_ends_with_its_hold, "hilock_validity_remaining_ms(validity) == 0")
{
    struct handle *a = held(the_client(s), "a", "stock", &short_lease);
    hilock_validity *validity = NULL;
    SAME(s, hilock_lock_validity(a->lock, &validity), HILOCK_OK);
    HOLDS(s, hilock_validity_remaining_ms(validity) > 2900);
    release_quietly(a);
    SAME(s, hilock_validity_remaining_ms(validity), 0);
    hilock_validity_unref(validity);
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

SAFETY(REENTRY_ENDS_EARLY, a_hold_that_was_entered_twice_needs_two_releases, "is_ours(s, 'stock')")
{
    struct handle *a = held(the_client(s), "a", "stock", &again);
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

SAFETY(REENTRY_UNCHECKED, a_re_entry_of_a_hold_that_has_ended_is_not_OK, "b:OK a:LOST SUSPENDED a:LOST")
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *b;
    held(p, "a", "one", &again);
    b = handle_new(p, "b", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    acquire(b, HILOCK_FOREVER);
    when(b, "OK", enter_and_block);
    run_ms(s, 1);
    run_ms(s, 10);
    TELLS(s, "b:OK a:LOST SUSPENDED a:LOST");
}
