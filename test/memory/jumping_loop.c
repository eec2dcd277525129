/* SPDX-License-Identifier: BSD-3-Clause */
/* jumping_loop - see jumping_loop.h. What is freed in a turn stays in its list, dead, until the turn has ended. */
#include "jumping_loop.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/queue.h>

enum { FDS_MAX = 64 };

struct watch {
    TAILQ_ENTRY(watch) entry;
    struct jumping_loop *loop;
    hilock_ready_fn *ready;
    void *arg;
    int fd, is_dead;
    unsigned interest;
};

struct timer {
    TAILQ_ENTRY(timer) entry;
    struct jumping_loop *loop;
    hilock_fire_fn *fire;
    void *arg;
    uint64_t due_us; /* UINT64_MAX: stopped */
    int is_dead;
};

struct jumping_loop {
    TAILQ_HEAD(, watch) watches;
    TAILQ_HEAD(, timer) timers;
    uint64_t now_us;
    int tables, fails_in;
};

static int fails(struct jumping_loop *loop) { return loop->fails_in > 0 && --loop->fails_in == 0; }

static uint64_t now_us(const void *clock) { return ((const struct jumping_loop *)clock)->now_us; }

static void *watch_new(void *ctx, int fd, hilock_ready_fn *ready, void *arg)
{
    struct jumping_loop *loop = ctx;
    struct watch *watch = fails(loop) ? NULL : calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    *watch = (struct watch){.loop = loop, .ready = ready, .arg = arg, .fd = fd};
    TAILQ_INSERT_TAIL(&loop->watches, watch, entry);
    return watch;
}

static int watch_set(void *handle, unsigned interest)
{
    struct watch *watch = handle;
    watch->interest = fails(watch->loop) ? 0 : interest;
    return watch->interest == interest ? 0 : -1;
}

static void watch_free(void *handle) { ((struct watch *)handle)->is_dead = 1; }

static void *timer_new(void *ctx, hilock_fire_fn *fire, void *arg)
{
    struct jumping_loop *loop = ctx;
    struct timer *timer = fails(loop) ? NULL : calloc(1, sizeof *timer);
    if (!timer)
        return NULL;
    *timer = (struct timer){.loop = loop, .fire = fire, .arg = arg, .due_us = UINT64_MAX};
    TAILQ_INSERT_TAIL(&loop->timers, timer, entry);
    return timer;
}

static void timer_start(void *handle, uint64_t delay_us)
{
    struct timer *timer = handle;
    timer->due_us = delay_us < UINT64_MAX - timer->loop->now_us ? timer->loop->now_us + delay_us : UINT64_MAX - 1;
}

static void timer_stop(void *handle) { ((struct timer *)handle)->due_us = UINT64_MAX; }

static void timer_free(void *handle) { ((struct timer *)handle)->is_dead = 1; }

static void *resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg)
{
    (void)ctx, (void)host, (void)done, (void)arg;
    return NULL;
}

static void resolve_cancel(void *query) { (void)query; }

static void free_ctx(void *ctx) { ((struct jumping_loop *)ctx)->tables--; }

static void bury(struct jumping_loop *loop)
{
    for (struct watch *watch = TAILQ_FIRST(&loop->watches), *next; watch; watch = next) {
        next = TAILQ_NEXT(watch, entry);
        if (watch->is_dead) {
            TAILQ_REMOVE(&loop->watches, watch, entry);
            free(watch);
        }
    }
    for (struct timer *timer = TAILQ_FIRST(&loop->timers), *next; timer; timer = next) {
        next = TAILQ_NEXT(timer, entry);
        if (timer->is_dead) {
            TAILQ_REMOVE(&loop->timers, timer, entry);
            free(timer);
        }
    }
}

/* Returns how many were ready. */
static int look(struct jumping_loop *loop)
{
    struct pollfd fds[FDS_MAX];
    struct watch *watches[FDS_MAX], *watch;
    nfds_t count = 0;
    int ready;
    TAILQ_FOREACH(watch, &loop->watches, entry)
        if (!watch->is_dead && watch->interest && count < FDS_MAX) {
            short events = (short)((watch->interest & HILOCK_READABLE ? POLLIN : 0) | (watch->interest & HILOCK_WRITABLE ? POLLOUT : 0));
            watches[count] = watch;
            fds[count++] = (struct pollfd){.fd = watch->fd, .events = events};
        }
    ready = poll(fds, count, 0);
    for (nfds_t i = 0; i < count; i++) {
        unsigned what = (fds[i].revents & POLLIN ? HILOCK_READABLE : 0u) | (fds[i].revents & POLLOUT ? HILOCK_WRITABLE : 0u);
        if (fds[i].revents & (POLLERR | POLLHUP))
            what = HILOCK_READABLE | HILOCK_WRITABLE;
        if ((what &= watches[i]->interest) && !watches[i]->is_dead)
            watches[i]->ready(what, watches[i]->arg);
    }
    return ready;
}

static struct timer *next_timer(const struct jumping_loop *loop)
{
    struct timer *timer, *first = NULL;
    TAILQ_FOREACH(timer, &loop->timers, entry)
        if (!timer->is_dead && timer->due_us != UINT64_MAX && (!first || timer->due_us < first->due_us))
            first = timer;
    return first;
}

void jumping_loop_turn(struct jumping_loop *loop, uint64_t until_us)
{
    struct timer *timer = look(loop) > 0 ? NULL : next_timer(loop);
    if (timer && timer->due_us <= until_us) {
        loop->now_us = timer->due_us > loop->now_us ? timer->due_us : loop->now_us;
        timer->due_us = UINT64_MAX;
        timer->fire(timer->arg);
    } else if (timer)
        loop->now_us = until_us;
    bury(loop);
}

struct jumping_loop *jumping_loop_new(void)
{
    struct jumping_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        abort();
    TAILQ_INIT(&loop->watches);
    TAILQ_INIT(&loop->timers);
    loop->now_us = 1000000;
    return loop;
}

void jumping_loop_free(struct jumping_loop *loop)
{
    bury(loop);
    free(loop);
}

struct hilock_loop jumping_loop_table(struct jumping_loop *loop)
{
    loop->tables++;
    return (struct hilock_loop){.size = sizeof(struct hilock_loop), .now_us = now_us, .clock = loop, .ctx = loop, .watch_new = watch_new,
                                .watch_set = watch_set, .watch_free = watch_free, .timer_new = timer_new, .timer_start = timer_start,
                                .timer_stop = timer_stop, .timer_free = timer_free, .resolve = resolve, .resolve_cancel = resolve_cancel,
                                .free_ctx = free_ctx};
}

uint64_t jumping_loop_us(const struct jumping_loop *loop) { return loop->now_us; }

int jumping_loop_is_empty(const struct jumping_loop *loop)
{
    const struct watch *watch;
    const struct timer *timer;
    TAILQ_FOREACH(watch, &loop->watches, entry)
        if (!watch->is_dead)
            return 0;
    TAILQ_FOREACH(timer, &loop->timers, entry)
        if (!timer->is_dead)
            return 0;
    return 1;
}

int jumping_loop_tables(const struct jumping_loop *loop) { return loop->tables; }

void jumping_loop_fail(struct jumping_loop *loop, int nth) { loop->fails_in = nth; }
