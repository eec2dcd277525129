/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants that come too old, and losses that are not reported yet: given back, asked for again, reported once. */
#include "play.h"

static const struct hilock_lock_options picky = {.size = sizeof picky, .lease_ms = 3000, .min_validity_ms = 2500};

/* Its first grants arrive half a second late: 2463 ms are left. */
static struct handle *granted_late(struct fixture *s, struct client *p, int times, uint32_t wait_ms)
{
    struct handle *a = handle_new(p, "a", "stock", &picky);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 500000, .times = times);
    acquire(a, wait_ms);
    run_ms(s, 500 * (uint64_t)times);
    SAME(s, asked(s, "mutex_acquire"), times);
    return a;
}

/* The part of an acquire that names its client and hold. */
static int is_same_id(struct fixture *s, int one, int other)
{
    const char *a = strstr(store_line(&s->store, "mutex_acquire", one)->text, "-0123456789ab:"), *b = strstr(store_line(&s->store, "mutex_acquire", other)->text, "-0123456789ab:");
    return a && b && strcspn(a, " ") == strcspn(b, " ") && strncmp(a, b, strcspn(a, " ")) == 0;
}

WITH_CLIENT(a_grant_that_is_too_short_is_given_back_and_asked_for_anew)
{
    struct handle *a = granted_late(s, p, 3, HILOCK_FOREVER);
    TELLS_IN(s, 2, "a:OK");
    HOLDS(s, a->result.remaining_ms >= 2500);
    SAME(s, a->result.attempts, 4);
    SAME(s, asked(s, "mutex_release"), 3);
    for (int i = 0; i < 3; i++) {
        HOLDS(s, asked_at_us(s, "mutex_acquire", i + 1) > asked_at_us(s, "mutex_release", i));
        HOLDS(s, !is_same_id(s, i, i + 1)); /* R2 */
    }
    HOLDS(s, is_ours(s, "stock"));
}

WITH_CLIENT(giving_back_is_refused_and_repeated)
{
    PLAN(s, .on = "mutex_release", .error = "BUSY", .times = 3);
    granted_late(s, p, 1, HILOCK_FOREVER);
    TELLS_IN(s, 1500, "a:WAITING a:OK"); /* behind its former id */
    SAME(s, asked(s, "mutex_release"), 1);
}

HAVING(a_try_granted_too_late_asks_again_within_its_time, granted_late(s, fixture_connect(s, NULL), 1, HILOCK_TRY))
{
    TELLS_IN(s, 5, "a:OK");
    HOLDS(s, a->result.remaining_ms >= 2500);
}

/* ---- granted, and not told yet ---- */

static void block(struct handle *handle) { world_jump_us(&handle->fixture->world, 2000000); }
static void block_for_long(struct handle *handle) { world_jump_us(&handle->fixture->world, 20000000); }

static void grants_behind_a_long_callback(struct fixture *s, void (*step)(struct handle *handle))
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = asking(p, "a", "one", HILOCK_LOCK_OPTIONS(.lease_ms = 60000)), *b = asking(p, "b", "two", &picky);
    when(a, "OK", step);
    run_ms(s, 1);
    TELLS_IN(s, 5, "a:OK b:OK");
    HOLDS(s, b->result.remaining_ms >= 2500);
    SAME(s, b->result.attempts, 2);
}

A_PLAY(a_grant_that_aged_untold_is_asked_for_anew) { grants_behind_a_long_callback(s, block); }
A_PLAY(a_grant_that_expired_untold_is_no_loss) { grants_behind_a_long_callback(s, block_for_long); }

/* It counts on the share of a, and was not told so yet when that share ended. */
WITH_CLIENT(a_share_that_ended_untold_is_asked_for_anew)
{
    static const struct hilock_lock_options shares = {.size = sizeof shares, .lease_ms = 3000, .holders_max = HILOCK_ANY_NUMBER, .share_local_ms = 200};
    struct handle *a = held(p, "a", "stock", &shares), *x = handle_new(p, "x", "other", NULL), *b = handle_new(p, "b", "stock", &shares);
    acquire(x, HILOCK_FOREVER);
    cancel(x);
    acquire(b, HILOCK_FOREVER);
    when(x, "CANCELLED", block_for_long);
    run_ms(s, 1);
    TELLS_IN(s, 5, "x:CANCELLED a:LOST SUSPENDED b:OK");
    HOLDS(s, b->result.remaining_ms > 2900 && b->result.fencing_token > a->event.fencing_token);
}

/* ---- lost, and not told yet ---- */

static uint64_t jumps_to_us;

static void jump(struct handle *handle) { world_jump_us(&handle->fixture->world, jumps_to_us - fixture_us(handle->fixture)); }

static void cancelled_one_after_the_other(struct client *p)
{
    for (int i = 0; i < 2; i++) {
        struct handle *x = handle_new(p, i ? "y" : "x", i ? "two" : "three", NULL);
        acquire(x, HILOCK_FOREVER);
        cancel(x);
        if (!i)
            when(x, "CANCELLED", jump);
    }
}

/* It is over at its deadline, and no later: what is reported in that very microsecond comes behind the loss. */
HAVING(a_loss_is_told_before_what_is_told_at_the_deadline,
       held(fixture_connect(s, NULL), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER)))
{
    jumps_to_us = sent_at_us(s, "mutex_acquire", 0) + 3000000 - 37000;
    run_to(s, jumps_to_us - 1000);
    cancelled_one_after_the_other(p);
    run_ms(s, 1);
    TELLS_IN(s, 1, "x:CANCELLED a:LOST EXPIRED y:CANCELLED");
}

/* Also when another hold has ended before. */
WITH_CLIENT(the_next_loss_is_told_in_its_time_too)
{
    held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
    held(p, "b", "other", HILOCK_LOCK_OPTIONS(.lease_ms = 6000, .renew = HILOCK_RENEW_NEVER));
    TELLS_IN(s, 3500, "a:LOST EXPIRED");
    jumps_to_us = sent_at_us(s, "mutex_acquire", 1) + 6000000 - 67000;
    run_to(s, jumps_to_us - 1000);
    cancelled_one_after_the_other(p);
    run_ms(s, 1);
    TELLS_IN(s, 1, "x:CANCELLED b:LOST EXPIRED y:CANCELLED");
}

/* Its extends tell it, and so they come as early as the loss itself would. */
HOLDING(extends_that_tell_of_a_loss_come_before_other_news, &picky)
{
    extend(a, 0);
    extend(a, 0);
    jumps_to_us = fixture_us(s) + 9000000;
    cancelled_one_after_the_other(p);
    run_ms(s, 1);
    TELLS_IN(s, 5, "x:CANCELLED a:extend LOST a:extend LOST y:CANCELLED");
}

/* From the deadline on nothing was ours any more, so nothing of ours was there to be ended. */
HOLDING(a_release_at_the_deadline_that_finds_nothing_is_LOST, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER))
{
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    world_jump_us(&s->world, sent_at_us(s, "mutex_acquire", 0) + 3000000 - 37000 - fixture_us(s));
    release(a);
    TELLS_IN(s, 5, "a:release LOST");
}


static void release_other(struct handle *handle)
{
    SAME(handle->fixture, release(TAILQ_NEXT(handle, entry)), HILOCK_OK);
}

HAVING(released_before_its_loss_is_told_it_answers_LOST, held(fixture_connect(s, NULL), "a", "one", &picky))
{
    held(p, "b", "two", &picky);
    frozen_ms(p, 4000);
    when(a, "LOST SUSPENDED", release_other);
    TELLS_IN(s, 20, "a:LOST SUSPENDED b:release LOST");
    HOLDS(s, !is_ours(s, "one") && !is_ours(s, "two"));
}
