/* SPDX-License-Identifier: BSD-3-Clause */
/* A reentrant handle that holds counts up with no command, needs as many releases, and is never told OK when the hold has ended. */
#include "hold/hold.h"
#include "play.h"
#include "stage.h"

static const struct hilock_lock_options again = {.size = sizeof again, .lease_ms = 3000, .reentrant = 1};

static void count_up_twice(struct handle *a)
{
    acquire(a, HILOCK_TRY);
    acquire(a, HILOCK_TRY);
    TELLS_IN(a->fixture, 1, "a:OK a:OK");
    SAME(a->fixture, a->result.hold_count, 3);
}

HOLDING(a_drop_gives_back_the_lock_whatever_the_count_is, &again)
{
    count_up_twice(a);
    handle_drop(a);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
    run_ms(s, 1);
    HOLDS(s, !is_ours(s, "stock"));
}

HOLDING(a_loss_takes_the_whole_count, &again)
{
    count_up_twice(a);
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    TELLS_IN(s, 1100, "a:LOST TAKEN");
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 1, "a:OK");
    SAME(s, a->result.hold_count, 1);
}

HOLDING(it_counts_up_and_down_with_no_command, &again)
{
    struct hilock_lock_info info = {.size = sizeof info};
    size_t asked_before = asked(s, NULL);
    uint64_t token = hilock_lock_token(a->lock), asked_us = fixture_us(s);
    SAME(s, acquire(a, HILOCK_TRY), HILOCK_OK);
    TELLS(s, "");
    TELLS_IN(s, 1, "a:OK");
    SAME(s, a->at_us, asked_us); /* the very next turn */
    SAME(s, a->result.operation, HILOCK_OP_ACQUIRE);
    SAME(s, a->result.hold_count, 2);
    SAME(s, a->result.attempts, 0);
    SAME(s, a->result.fencing_token, token);
    HOLDS(s, a->result.remaining_ms - hilock_lock_remaining_ms(a->lock) <= 1); /* a millisecond ago */
    hilock_lock_describe(a->lock, &info);
    SAME(s, info.hold_count, 2);
    release(a);
    TELLS_IN(s, 1, "a:released");
    SAME(s, a->result.operation, HILOCK_OP_RELEASE);
    SAME(s, a->result.state, HILOCK_STATE_HELD);
    SAME(s, a->result.hold_count, 1);
    SAME(s, counts_of(p).reentered, 1);
    SAME(s, asked(s, NULL), asked_before);
    asked_us = fixture_us(s);
    release(a);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
    SAME(s, hilock_lock_remaining_ms(a->lock), 0);
    SAME(s, hilock_lock_token(a->lock), 0);
    TELLS(s, "");
    TELLS_IN(s, 1, "a:released");
    SAME(s, a->at_us, asked_us + 200);
    SAME(s, a->result.state, HILOCK_STATE_IDLE);
    SAME(s, a->result.hold_count, 0);
    SAME(s, a->result.attempts, 1);
    HOLDS(s, a->result.lock == a->lock);
    HOLDS(s, !is_ours(s, "stock"));
    SAME(s, release(a), HILOCK_NOT_HELD);
    run_ms(s, 60000);
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, asked(s, "renew"), 0);
}

HAVING(a_handle_that_waits_is_IN_USE_all_the_same, asking(fixture_connect(s, NULL), "a", "stock", &again))
{
    SAME(s, acquire(a, HILOCK_FOREVER), HILOCK_IN_USE);
    TEXT(s, hilock_client_refusal(p->client), "handle of \"stock\" already waits: it can be entered again once it holds");
    TELLS_IN(s, 1, "a:OK");
    SAME(s, hilock_acquire(a->lock, 0, NULL, NULL), HILOCK_INVALID);
    SAME(s, acquire(a, 0x80000000u), HILOCK_INVALID);
}

HOLDING(no_count_overflows, &again)
{
    acquire(a, HILOCK_TRY);
    run_ms(s, 1);
    a->lock->extras->count += UINT32_MAX - 2;
    SAME(s, acquire(a, HILOCK_TRY), HILOCK_IN_USE);
    TEXT(s, hilock_client_refusal(p->client), "handle of \"stock\" was entered 4294967295 times: is a release missing?");
    a->lock->extras->count -= UINT32_MAX - 2;
    TELLS(s, "a:OK");
}

static void block_for_five_seconds(struct handle *handle) { world_jump_us(&handle->fixture->world, 5000000); }

static void block_and_enter(struct handle *handle)
{
    struct handle *a = TAILQ_FIRST(&handle->fixture->handles);
    block_for_five_seconds(handle);
    SAME(handle->fixture, acquire(a, HILOCK_FOREVER), HILOCK_OK);
}

static void pending(struct fixture *s, struct client *p, void (*meanwhile)(struct handle *handle))
{
    struct handle *b = asking(p, "b", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    when(b, "OK", meanwhile);
    run_ms(s, 1);
    run_ms(s, 10);
}

HOLDING(entered_behind_the_deadline_it_is_LOST_behind_on_lost, &again)
{
    pending(s, p, block_and_enter);
    TELLS(s, "b:OK a:LOST SUSPENDED a:LOST");
    SAME(s, a->result.operation, HILOCK_OP_ACQUIRE);
    SAME(s, a->result.state, HILOCK_STATE_IDLE);
    SAME(s, a->result.hold_count, 0);
    SAME(s, a->result.fencing_token, 0);
    TEXT(s, a->detail, "the hold had ended before this re-entry was answered");
    SAME(s, counts_of(p).reentered, 0);
    SAME(s, counts_of(p).failed, 1);
    HOLDS(s, !is_ours(s, "stock"));
}

static void enter_and_block(struct handle *handle)
{
    SAME(handle->fixture, acquire(TAILQ_FIRST(&handle->fixture->handles), HILOCK_FOREVER), HILOCK_OK);
    block_for_five_seconds(handle);
}

static void enter_the_next(struct handle *handle) { SAME(handle->fixture, acquire(handle, HILOCK_FOREVER), HILOCK_OK); }

/* Lost, and granted again by the time the old entry is answered: that was of another hold. */
HOLDING(a_later_hold_of_the_handle_is_not_the_one_that_was_entered, &again)
{
    when(a, "LOST SUSPENDED", enter_the_next);
    pending(s, p, enter_and_block);
    TELLS(s, "b:OK a:LOST SUSPENDED a:LOST a:OK");
    SAME(s, a->result.hold_count, 1);
}

/* ---- cancel ---- */

HOLDING(cancel_takes_back_the_newest, &again)
{
    struct hilock_lock_info info = {.size = sizeof info};
    SAME(s, cancel(a), HILOCK_NOT_PENDING);
    acquire(a, HILOCK_TRY);
    acquire(a, HILOCK_TRY);
    SAME(s, cancel(a), HILOCK_OK);
    TELLS_IN(s, 5, "a:OK a:CANCELLED");
    SAME(s, a->result.state, HILOCK_STATE_HELD);
    SAME(s, a->result.hold_count, 2);
    SAME(s, cancel(a), HILOCK_NOT_PENDING);
    hilock_lock_describe(a->lock, &info);
    SAME(s, info.hold_count, 2);
    acquire(a, HILOCK_TRY);
    SAME(s, cancel(a), HILOCK_OK);
    SAME(s, cancel(a), HILOCK_NOT_PENDING);
    TELLS_IN(s, 5, "a:CANCELLED");
    release_quietly(a);
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 0);
    release_quietly(a);
    run_ms(s, 5);
    HOLDS(s, !is_ours(s, "stock"));
}

HOLDING(cancel_of_one_whose_count_was_released_gives_back_another, &again)
{
    acquire(a, HILOCK_TRY);
    acquire(a, HILOCK_TRY);
    release(a); /* of 3, none of the two answered */
    release(a);
    SAME(s, cancel(a), HILOCK_OK);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
    TELLS_IN(s, 5, "a:LOST a:CANCELLED a:released a:released");
    HOLDS(s, !is_ours(s, "stock"));
}

HOLDING(closing_answers_CLOSED_and_the_hold_lives_on, &again)
{
    acquire(a, HILOCK_TRY);
    run_ms(s, 1);
    acquire(a, HILOCK_TRY);
    client_close(p, HILOCK_FOREVER);
    SAME(s, acquire(a, HILOCK_TRY), HILOCK_CLOSED);
    TELLS_IN(s, 5, "a:OK a:CLOSED");
    SAME(s, a->result.state, HILOCK_STATE_HELD);
    SAME(s, a->result.hold_count, 2);
    SAME(s, release(a), HILOCK_OK);
    TELLS_IN(s, 5, "a:released");
    release_quietly(a);
    TELLS_IN(s, 5, "closed");
}

HOLDING(releases_need_no_memory, &again)
{
    for (uint64_t fail = 1; fail <= 2; fail++) {
        s->memory.fail_at = s->memory.asked + fail;
        s->memory.fails = 1;
        SAME(s, acquire(a, HILOCK_TRY), HILOCK_NO_MEMORY);
        TEXT(s, hilock_client_refusal(p->client), "out of memory for an acquire");
    }
    s->memory.fail_at = 0;
    acquire(a, HILOCK_TRY);
    acquire(a, HILOCK_TRY);
    run_ms(s, 1);
    s->memory.is_out = s->memory.spares_links = 1;
    release(a);
    release(a);
    release(a);
    TELLS_IN(s, 5, "a:OK a:OK a:released a:released a:released");
    HOLDS(s, !is_ours(s, "stock"));
}

/* ---- inside its callback ---- */

static void release_it(struct handle *handle) { (void)release(handle); }
static void acquire_it(struct handle *handle) { (void)!acquire(handle, HILOCK_TRY); }

/* The release of a hold that is over says so, all counts at once; on_lost does not run as well. */
HOLDING(release_of_a_count_behind_the_deadline_is_LOST_for_all, &again)
{
    acquire(a, HILOCK_TRY);
    run_ms(s, 1);
    acquire(a, HILOCK_TRY);
    world_jump_us(&s->world, 5000000);
    SAME(s, release(a), HILOCK_OK);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
    SAME(s, release(a), HILOCK_NOT_HELD);
    TELLS_IN(s, 5, "a:OK a:LOST a:release LOST");
}

HOLDING(released_before_it_was_told_it_holds_on_or_is_LOST, &again)
{
    acquire(a, HILOCK_TRY);
    SAME(s, release(a), HILOCK_OK);
    TELLS_IN(s, 5, "a:OK a:released");
    HOLDS(s, is_ours(s, "stock") && is_held(a));
    SAME(s, a->result.hold_count, 1);
    acquire(a, HILOCK_TRY);
    SAME(s, release(a), HILOCK_OK);
    SAME(s, release(a), HILOCK_OK); /* for good */
    SAME(s, release(a), HILOCK_NOT_HELD);
    TELLS_IN(s, 5, "a:LOST a:released a:released");
    HOLDS(s, !is_ours(s, "stock"));
}
static void cancel_it(struct handle *handle) { (void)cancel(handle); }
static void abandon(struct handle *handle) { client_abandon(handle->client); }
static void close_now(struct handle *handle) { client_close(handle->client, 0); }
static void abandon_and_free(struct handle *handle)
{
    client_abandon(handle->client);
    handle_free(handle);
}

A_PLAY(everything_is_legal_inside)
{
    static void (*const steps[])(struct handle *handle) = {handle_free, handle_drop, release_it, acquire_it,
                                                           cancel_it, abandon, close_now, abandon_and_free};
    s->is_tampered = 1;
    for (size_t i = 0; i < 2 * sizeof steps / sizeof *steps; i++) {
        struct client *p = fixture_connect(s, NULL);
        struct handle *a = held(p, "a", formatted("stock%zu", i), &again);
        acquire(a, HILOCK_TRY);
        acquire(a, HILOCK_TRY);
        release(a);
        acquire(a, HILOCK_TRY);
        when(a, i % 2 ? "released" : "OK", steps[i / 2]);
        run_ms(s, 100);
        HOLDS(s, !a->then);
        if (a->lock)
            handle_drop(a);
        run_ms(s, 10);
        fixture_hush(s);
    }
}

HOLDING(a_peek_tells_the_count_of_its_handle, HILOCK_LOCK_OPTIONS(.reentrant = 1))
{
    acquire(a, HILOCK_TRY);
    unheard_ms(s, 1);
    peek(a);
    run_ms(s, 1);
    SAME(s, a->result.operation, HILOCK_OP_PEEK);
    SAME(s, a->result.hold_count, 2);
    SAME(s, a->result.votes, 0);
    SAME(s, a->result.state, HILOCK_STATE_HELD);
    SAME(s, a->result.fencing_token, hilock_lock_token(a->lock));
    SAME(s, a->result.remaining_ms, hilock_lock_remaining_ms(a->lock));
    SAME(s, a->result.holder_remaining_ms, store_left_ms(&s->store, "stock") + 1);
}

/* Its deadline has passed, and at the store it has its lease for a little longer: the release ends it there. */
HOLDING(released_behind_the_deadline_it_is_released_at_the_store, HILOCK_LOCK_OPTIONS(.lease_ms = 30000, .reentrant = 1))
{
    world_jump_us(&s->world, 29800000);
    release(a);
    TELLS_IN(s, 5, "a:released");
    HOLDS(s, !is_ours(s, "stock"));
    SAME(s, counts_of(p).released, 1);
}

static void has_no_count(struct handle *handle) { SAME(handle->fixture, handle->result.hold_count, 0); }

/* The last release was called before the first one was told. */
A_PLAY(a_release_that_is_told_behind_the_last_one_tells_no_count)
{
    for (int is_quorum = 0; is_quorum < 2; is_quorum++) {
        struct client *p = is_quorum ? quorum(s, 3) : fixture_connect(s, NULL);
        struct handle *a = held(p, "a", formatted("stock:%d", is_quorum), &again);
        acquire(a, HILOCK_TRY);
        TELLS_IN(s, 1, "a:OK");
        when(a, "released", has_no_count);
        release(a);
        release(a);
        TELLS_IN(s, 5, "a:released a:released");
    }
}
