/* SPDX-License-Identifier: BSD-3-Clause */
/* An extend asks the store, counts from its own send, never shortens, and is answered once, even if its hold ends
 * meanwhile. What is legal inside its callback is in test_deliver.c. */
#include "play.h"

static const struct hilock_lock_options short_lease = {.size = sizeof short_lease, .lease_ms = 3000};
static const struct hilock_lock_options never = {.size = sizeof never, .lease_ms = 3000, .renew = HILOCK_RENEW_NEVER};
static const struct hilock_client_options hasty = {.size = sizeof hasty, .command_timeout_ms = 500};

static uint64_t deadline_us(uint64_t sent_us, uint64_t lease_us) { return sent_us + lease_us - lease_us / 100 - 7000; }

HOLDING(the_watchdog_goes_on_with_the_locks_own_lease, &short_lease)
{
    the_client(s)->tells = 1;
    extend(a, 60000);
    run_ms(s, 1);
    uint64_t sent_us = sent_at_us(s, "renew", 0);
    for (int i = 0; i < 55; i++) {
        run_ms(s, 1000);
        BELIEVES(s, a, deadline_us(sent_us, 60000000));
    }
    SAME(s, asked(s, "renew"), 56);
    HOLDS(s, strstr(store_line(&s->store, "renew", -1)->text, "renew 1 stock 3000 "));
    SAME(s, sent_at_us(s, "renew", 1), sent_us + 1000000);
    TELLS_IN(s, 30000, "a:extended");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 1900);
}

HOLDING(those_that_wait_ask_together_for_the_longest, &short_lease)
{
    SAME(s, extend(a, 5000), HILOCK_OK);
    SAME(s, extend(a, 30000), HILOCK_OK);
    SAME(s, extend(a, 100), HILOCK_OK);
    run_us(s, 250);
    TELLS(s, "a:extended");
    TELLS_IN(s, 1, "a:extended a:extended");
    SAME(s, asked(s, "renew"), 2);
    HOLDS(s, strstr(store_line(&s->store, "renew", 0)->text, "stock 5000 "));
    HOLDS(s, strstr(store_line(&s->store, "renew", 1)->text, "stock 30000 "));
    BELIEVES(s, a, deadline_us(sent_at_us(s, "renew", 1), 30000000));
}

HOLDING(hold_max_stays_the_end, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .hold_max_ms = 4000))
{
    uint64_t ends_us = sent_at_us(s, "mutex_acquire", 0) + 200 + 4000000;
    extend(a, 60000);
    TELLS_IN(s, 1, "a:extended");
    BELIEVES(s, a, ends_us);
    SAME(s, a->result.remaining_ms, (ends_us - a->at_us) / 1000);
    TELLS_IN(s, 9000, "a:LOST HOLD_MAX");
    SAME(s, a->at_us, ends_us);
    HOLDS(s, !is_ours(s, "stock"));
}

/* ---- no yes ---- */

HOLDING(not_ours_is_LOST_and_on_lost_does_not_run, &short_lease)
{
    s->is_tampered = 1;
    store_take(&s->store, "stock", "another", 60000);
    extend(a, 0);
    TELLS_IN(s, 1, "a:extend LOST");
    SAME(s, a->result.state, HILOCK_STATE_IDLE);
    SAME(s, a->result.remaining_ms, 0);
    SAME(s, a->result.hold_count, 0);
    TEXT(s, a->detail, "TAKEN: the store no longer has our hold of \"stock\"");
    SAME(s, extend(a, 0), HILOCK_NOT_HELD);
    SAME(s, counts_of(the_client(s)).lost_taken, 1);
    TELLS_IN(s, 10000, "");
}

GIVEN(no_answer_in_its_time_is_UNKNOWN_and_the_hold_goes_on, fixture_connect(s, &hasty))
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 30000));
    uint64_t granted_us = sent_at_us(s, "mutex_acquire", 0), begun_us = fixture_us(s);
    PLAN(s, .on = "renew", .fate.answer_is_lost = 1, .times = PLAN_ALWAYS);
    extend(a, 60000);
    TELLS_IN(s, 600, "a:extend UNKNOWN");
    SAME(s, a->at_us, begun_us + 500000);
    SAME(s, a->result.state, HILOCK_STATE_HELD);
    BELIEVES(s, a, deadline_us(granted_us, 30000000));
    HOLDS(s, strstr(a->detail, "no answer from 127.0.0.1:6379 within 500 ms: \"stock\" may or may not be extended"));
}

GIVEN(what_never_left_is_UNREACHABLE, fixture_connect(s, &hasty))
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 30000, .renew = HILOCK_RENEW_NEVER));
    cut_off(s);
    run_ms(s, 10);
    extend(a, 60000);
    TELLS_IN(s, 600, "a:extend UNREACHABLE");
    SAME(s, a->result.attempts, 0);
    HOLDS(s, strstr(a->detail, "127.0.0.1:6379 could not be asked within 500 ms: "));
    s->place->mood = NET_LISTENS;
    run_ms(s, 5000);
    SAME(s, asked(s, "renew"), 1); /* whether it stands, and no more */
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 20000 && hilock_lock_remaining_ms(a->lock) < 25000);
}

HOLDING(an_answer_that_was_lost_is_asked_for_again, &never)
{
    PLAN(s, .on = "renew", .fate.resets_after = 1);
    extend(a, 60000);
    TELLS_IN(s, 1000, "a:extended");
    SAME(s, a->result.attempts, 2);
    SAME(s, asked(s, "renew"), 2);
    BELIEVES(s, a, deadline_us(sent_at_us(s, "renew", 1), 60000000));
}

/* Which error means what, test_fault.c says. */
HOLDING(an_error_is_told_and_counts_as_a_failed_renewal, HILOCK_LOCK_OPTIONS(.lease_ms = 30000))
{
    uint64_t granted_us = sent_at_us(s, "mutex_acquire", 0);
    PLAN(s, .on = "renew", .error = "BUSY Redis is busy running a script.", .times = 2);
    PLAN(s, .on = "renew", .error = "NOPERM this user has no permissions");
    PLAN(s, .on = "renew", .fate.refusal = say_nil());
    for (int i = 0; i < 4; i++) {
        extend(a, 60000);
        run_ms(s, 1);
        BELIEVES(s, a, deadline_us(granted_us, 30000000));
    }
    TELLS(s, "a:extend UNWRITABLE a:extend UNWRITABLE a:RENEWAL_FAILED a:extend DENIED a:extend PROTOCOL");
    SAME(s, counts_of(p).renewals_failed, 4);
    extend(a, 60000);
    TELLS_IN(s, 1, "a:RENEWED a:extended");
}

/* ---- its hold ends before its answer; what is refused; what it leaves behind ---- */

static void extend_b(struct handle *handle)
{
    struct handle *b = TAILQ_NEXT(handle, entry);
    SAME(handle->fixture, hilock_lock_state(b->lock), HILOCK_STATE_HELD);
    SAME(handle->fixture, hilock_lock_remaining_ms(b->lock), 0);
    SAME(handle->fixture, extend(b, 0), HILOCK_OK);
}

WITH_CLIENT(asked_when_the_loss_is_about_to_be_told_it_is_told_instead)
{
    struct handle *a = held(p, "a", "one", &short_lease), *b = held(p, "b", "two", &short_lease);
    when(a, "LOST SUSPENDED", extend_b);
    world_jump_us(&s->world, 9000000);
    TELLS_IN(s, 10, "a:LOST SUSPENDED b:extend LOST");
    HOLDS(s, strncmp(b->detail, "SUSPENDED: ", 11) == 0);
    SAME(s, asked(s, "renew"), 0);
    SAME(s, asked(s, "mutex_release"), 2);
}

static void abandon(struct handle *handle) { client_abandon(handle->client); }

/* Three are asked for; the last two are answered together, with or without words of the server. */
A_PLAY(an_answer_that_was_not_told_yet_is_forgotten_with_its_client)
{
    for (int i = 0; i < 2; i++) {
        struct handle *a = held(fixture_connect(s, NULL), "a", formatted("stock %d", i), &short_lease);
        if (i)
            PLAN(s, .on = "renew", .after = 1, .error = "BUSY Redis is busy running a script.");
        for (int j = 0; j < 3; j++)
            extend(a, 0);
        run_us(s, 250);
        TELLS(s, "a:extended");
        s->is_tampered = 1;
        when(a, i ? "extend UNWRITABLE" : "extended", abandon);
        TELLS_IN(s, 5, i ? "a:extend UNWRITABLE" : "a:extended");
    }
}

HOLDING(an_abandoned_client_answers_nothing, &short_lease)
{
    s->is_tampered = 1;
    extend(a, 60000);
    extend(a, 60000);
    client_abandon(the_client(s));
    TELLS_IN(s, 100, "");
    SAME(s, extend(a, 0), HILOCK_CLOSED);
}

HOLDING(without_memory_it_is_refused_and_any_lease_may_be_asked_for, NULL)
{
    s->memory.is_out = s->memory.spares_links = 1;
    SAME(s, extend(a, 100), HILOCK_NO_MEMORY);
    TEXT(s, hilock_client_refusal(a->client->client), "out of memory for an extend");
    s->memory.is_out = 0;
    TELLS_IN(s, 10, "");
    SAME(s, asked(s, "renew"), 0);
    SAME(s, extend(a, 100), HILOCK_OK);
    SAME(s, extend(a, 86400000), HILOCK_OK);
    TELLS_IN(s, 10, "a:extended a:extended");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 85000000);
}
