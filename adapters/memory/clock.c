/* SPDX-License-Identifier: BSD-3-Clause */
/* clock - see <hilock/memory.h>: loops whose clock jumps when the test asks for it.
 *
 * A wrapped loop passes everything on to the loop itself, except for two things. Its clock is ahead by the sum of
 * all jumps. Its timers are listed, so that after a jump those that are now due sooner can be started again. A timer
 * may fire early or late (hilock/loop.h), because hilock reads the clock itself. Invariant: a timer is in `timers`
 * from timer_new to timer_free; due_us is on the clock that jumps. */
#include <hilock/memory.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "contract.h"

struct hilock_memory_clock {
    uint64_t (*now_us)(const void *clock); /* the clock of the first loop; NULL: no loop is wrapped yet */
    const void *clock;
    uint64_t ahead_us;
    struct timer *timers;
};

struct wrapped {
    struct hilock_loop inner;
    hilock_memory_clock *clock;
};

struct timer {
    struct timer *prev, *next;
    const struct hilock_loop *inner;
    hilock_memory_clock *clock;
    void *made; /* the timer that the inner loop has made */
    hilock_fire_fn *fire;
    void *arg;
    uint64_t due_us; /* UINT64_MAX: the timer is not started */
};

static uint64_t now_us(const void *clock)
{
    const hilock_memory_clock *ours = clock;
    return ours->now_us(ours->clock) + ours->ahead_us;
}

/* ---- timers ---- */

static void on_fire(void *arg)
{
    struct timer *timer = arg;
    timer->due_us = UINT64_MAX;
    timer->fire(timer->arg); /* the callback may free the timer */
}

static void *timer_new(void *ctx, hilock_fire_fn *fire, void *arg)
{
    struct wrapped *wrapped = ctx;
    struct timer *timer = malloc(sizeof *timer);
    SIM_REQUIRE(timer);
    *timer = (struct timer){.inner = &wrapped->inner, .clock = wrapped->clock, .fire = fire, .arg = arg,
                            .due_us = UINT64_MAX};
    timer->made = wrapped->inner.timer_new(wrapped->inner.ctx, on_fire, timer);
    if (!timer->made) {
        free(timer);
        return NULL;
    }
    DL_PREPEND(wrapped->clock->timers, timer);
    return timer;
}

static void timer_start(void *made, uint64_t delay_us)
{
    struct timer *timer = made;
    uint64_t us = now_us(timer->clock);
    timer->due_us = delay_us < UINT64_MAX - 1 - us ? us + delay_us : UINT64_MAX - 1;
    timer->inner->timer_start(timer->made, delay_us);
}

static void timer_hurry(void *made)
{
    struct timer *timer = made;
    timer->due_us = now_us(timer->clock);
    timer->inner->timer_hurry(timer->made);
}

static void timer_stop(void *made)
{
    struct timer *timer = made;
    timer->due_us = UINT64_MAX;
    timer->inner->timer_stop(timer->made);
}

static void timer_free(void *made)
{
    struct timer *timer = made;
    DL_DELETE(timer->clock->timers, timer);
    timer->inner->timer_free(timer->made);
    free(timer);
}

/* ---- calls that are passed on to the inner loop ---- */

static void *watch_new(void *ctx, int fd, hilock_ready_fn *ready, void *arg)
{
    const struct hilock_loop *inner = &((struct wrapped *)ctx)->inner;
    return inner->watch_new(inner->ctx, fd, ready, arg);
}

static void *resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg)
{
    const struct hilock_loop *inner = &((struct wrapped *)ctx)->inner;
    return inner->resolve(inner->ctx, host, done, arg);
}

static void free_ctx(void *ctx)
{
    struct wrapped *wrapped = ctx;
    const struct hilock_loop inner = wrapped->inner;
    free(wrapped);
    if (inner.free_ctx)
        inner.free_ctx(inner.ctx);
}

/* ---- the clock ---- */

hilock_memory_clock *hilock_memory_clock_new(void)
{
    hilock_memory_clock *clock = calloc(1, sizeof *clock);
    SIM_REQUIRE(clock);
    return clock;
}

hilock_status hilock_memory_clock_wrap(hilock_memory_clock *clock, struct hilock_loop *loop)
{
    if (!clock || !loop || loop->size < sizeof *loop || !loop->now_us)
        return HILOCK_INVALID;
    if (clock->now_us && (clock->now_us != loop->now_us || clock->clock != loop->clock))
        return HILOCK_INVALID;
    struct wrapped *wrapped = malloc(sizeof *wrapped);
    SIM_REQUIRE(wrapped);
    *wrapped = (struct wrapped){.inner = *loop, .clock = clock};
    clock->now_us = loop->now_us;
    clock->clock = loop->clock;
    *loop = (struct hilock_loop){.size = sizeof *loop,
                                 .now_us = now_us,
                                 .clock = clock,
                                 .ctx = wrapped,
                                 .watch_new = watch_new,
                                 .watch_set = wrapped->inner.watch_set,
                                 .watch_free = wrapped->inner.watch_free,
                                 .timer_new = timer_new,
                                 .timer_start = timer_start,
                                 .timer_stop = timer_stop,
                                 .timer_free = timer_free,
                                 .resolve = wrapped->inner.resolve ? resolve : NULL,
                                 .resolve_cancel = wrapped->inner.resolve_cancel,
                                 .free_ctx = free_ctx,
                                 .timer_hurry = wrapped->inner.timer_hurry ? timer_hurry : NULL};
    return HILOCK_OK;
}

void hilock_memory_clock_jump(hilock_memory_clock *clock, uint32_t ms)
{
    struct timer *timer;
    if (!clock || !clock->now_us)
        return;
    clock->ahead_us += (uint64_t)ms * 1000;
    uint64_t us = now_us(clock);
    DL_FOREACH(clock->timers, timer)
        if (timer->due_us < UINT64_MAX - 1)
            timer->inner->timer_start(timer->made, timer->due_us > us ? timer->due_us - us : 0);
}

void hilock_memory_clock_free(hilock_memory_clock *clock)
{
    SIM_REQUIRE(!clock || !clock->timers);
    free(clock);
}
