/* SPDX-License-Identifier: BSD-3-Clause */
/* poll_loop - see poll_loop.h. What is freed inside a turn stays in its list, dead, until the turn ends. */
#include "poll_loop.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

enum { FDS_MAX = 64 };

struct watch {
    LIST_ENTRY(watch) entry;
    struct poll_loop *loop;
    hilock_ready_fn *ready;
    void *arg;
    int fd, is_dead;
    unsigned interest;
};

struct timer {
    LIST_ENTRY(timer) entry;
    struct poll_loop *loop;
    hilock_fire_fn *fire;
    void *arg;
    uint64_t due_us;
    unsigned long started_in;
    int is_started, is_dead;
};

struct poll_loop {
    LIST_HEAD(, watch) watches;
    LIST_HEAD(, timer) timers;
    unsigned long turn;
    int is_turning, is_refusing;
};

static uint64_t now_us(const void *clock)
{
    struct timespec now;
    (void)clock;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void bury(struct poll_loop *loop)
{
    for (struct watch *watch = LIST_FIRST(&loop->watches), *next; watch; watch = next) {
        next = LIST_NEXT(watch, entry);
        if (watch->is_dead) {
            LIST_REMOVE(watch, entry);
            free(watch);
        }
    }
    for (struct timer *timer = LIST_FIRST(&loop->timers), *next; timer; timer = next) {
        next = LIST_NEXT(timer, entry);
        if (timer->is_dead) {
            LIST_REMOVE(timer, entry);
            free(timer);
        }
    }
}

static void *watch_new(void *ctx, int fd, hilock_ready_fn *ready, void *arg)
{
    struct poll_loop *loop = ctx;
    struct watch *watch = calloc(1, sizeof *watch);
    *watch = (struct watch){.loop = loop, .ready = ready, .arg = arg, .fd = fd};
    LIST_INSERT_HEAD(&loop->watches, watch, entry);
    return watch;
}

static int watch_set(void *handle, unsigned interest)
{
    struct watch *watch = handle;
    watch->interest = watch->loop->is_refusing ? 0 : interest;
    return watch->loop->is_refusing ? -1 : 0;
}

static void watch_free(void *handle)
{
    struct watch *watch = handle;
    watch->is_dead = 1;
    if (!watch->loop->is_turning)
        bury(watch->loop);
}

static void *timer_new(void *ctx, hilock_fire_fn *fire, void *arg)
{
    struct poll_loop *loop = ctx;
    struct timer *timer = calloc(1, sizeof *timer);
    *timer = (struct timer){.loop = loop, .fire = fire, .arg = arg};
    LIST_INSERT_HEAD(&loop->timers, timer, entry);
    return timer;
}

static void timer_start(void *handle, uint64_t delay_us)
{
    struct timer *timer = handle;
    timer->due_us = now_us(NULL) + delay_us;
    timer->started_in = timer->loop->turn;
    timer->is_started = 1;
}

static void timer_stop(void *handle) { ((struct timer *)handle)->is_started = 0; }

static void timer_free(void *handle)
{
    struct timer *timer = handle;
    timer->is_dead = 1, timer->is_started = 0;
    if (!timer->loop->is_turning)
        bury(timer->loop);
}

static void *resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg)
{
    (void)ctx, (void)host, (void)done, (void)arg;
    return NULL;
}

static void free_ctx(void *ctx)
{
    bury(ctx);
    free(ctx);
}

struct poll_loop *poll_loop_new(struct hilock_loop *ret_table)
{
    struct poll_loop *loop = calloc(1, sizeof *loop);
    *ret_table = (struct hilock_loop){sizeof *ret_table, now_us,      NULL,       loop,       watch_new, watch_set, watch_free, timer_new,
                                      timer_start,       timer_stop, timer_free, resolve, free, free_ctx, NULL};
    return loop;
}

static int wait_for(const struct poll_loop *loop, int wait_ms)
{
    const struct timer *timer;
    uint64_t now = now_us(NULL);
    LIST_FOREACH(timer, &loop->timers, entry) {
        uint64_t left_ms = timer->due_us > now ? (timer->due_us - now + 999) / 1000 : 0;
        if (timer->is_started && left_ms < (uint64_t)wait_ms)
            wait_ms = (int)left_ms;
    }
    return wait_ms;
}

static unsigned ready_of(const struct watch *watch, short events)
{
    unsigned ready = (events & POLLIN ? HILOCK_READABLE : 0u) | (events & POLLOUT ? HILOCK_WRITABLE : 0u);
    if (events & (POLLERR | POLLHUP | POLLNVAL))
        ready |= HILOCK_READABLE | HILOCK_WRITABLE;
    return watch->is_dead ? 0 : ready & watch->interest;
}

static void look(struct poll_loop *loop, int wait_ms)
{
    struct pollfd fds[FDS_MAX];
    struct watch *watches[FDS_MAX], *watch;
    nfds_t count = 0;
    LIST_FOREACH(watch, &loop->watches, entry) {
        if (!watch->interest || count == FDS_MAX)
            continue;
        watches[count] = watch;
        fds[count].fd = watch->fd;
        fds[count++].events = (short)((watch->interest & HILOCK_READABLE ? POLLIN : 0) | (watch->interest & HILOCK_WRITABLE ? POLLOUT : 0));
    }
    if (poll(fds, count, wait_ms) <= 0)
        return;
    for (nfds_t i = 0; i < count; i++)
        if (ready_of(watches[i], fds[i].revents))
            watches[i]->ready(ready_of(watches[i], fds[i].revents), watches[i]->arg);
}

void poll_loop_turn(struct poll_loop *loop, int wait_ms)
{
    struct timer *timer;
    uint64_t now;
    loop->turn++;
    loop->is_turning = 1;
    look(loop, wait_for(loop, wait_ms));
    now = now_us(NULL);
    LIST_FOREACH(timer, &loop->timers, entry) {
        if (timer->is_started && timer->due_us <= now && timer->started_in != loop->turn) {
            timer->is_started = 0;
            timer->fire(timer->arg);
        }
    }
    loop->is_turning = 0;
    bury(loop);
}

int poll_loop_watches(const struct poll_loop *loop)
{
    const struct watch *watch;
    int count = 0;
    LIST_FOREACH(watch, &loop->watches, entry)
        count++;
    return count;
}

int poll_loop_timers(const struct poll_loop *loop)
{
    const struct timer *timer;
    int count = 0;
    LIST_FOREACH(timer, &loop->timers, entry)
        count++;
    return count;
}

void poll_loop_refuse_watching(struct poll_loop *loop, int is_refusing) { loop->is_refusing = is_refusing; }
