/* SPDX-License-Identifier: BSD-3-Clause */
/* poll_loop - see poll_loop.h. Watches and timers stand in one list. What is freed inside a turn stays there, dead,
 * until the turn ends. */
#include "poll_loop.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "../../lib/base/list.h" /* for programs too that know the public headers alone */

enum { FDS_MAX = 64, JUMPS_FROM_US = 1000000 };

struct item {
    LIST_ENTRY(item) entry;
    struct poll_loop *loop;
    hilock_ready_fn *ready; /* NULL: a timer */
    hilock_fire_fn *fire;
    void *arg;
    int fd, is_started, is_dead;
    unsigned interest;
    uint64_t due_us;
    unsigned long started_in;
};

struct poll_loop {
    LIST_HEAD(, item) items;
    unsigned long turn;
    int is_turning, is_refusing;
    uint64_t jumped_us; /* of a clock that jumps; 0: the clock is the machine's */
    int tables, fails_in; /* the calls until one fails; 0: none does */
};

static uint64_t now_us(const void *clock)
{
    const struct poll_loop *loop = clock;
    struct timespec now;
    if (loop->jumped_us)
        return loop->jumped_us;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int fails(struct poll_loop *loop) { return loop->fails_in > 0 && --loop->fails_in == 0; }

static struct item *add(struct poll_loop *loop, struct item given)
{
    struct item *item = fails(loop) ? NULL : malloc(sizeof *item);
    if (!item)
        return NULL;
    *item = given;
    item->loop = loop;
    LIST_INSERT_HEAD(&loop->items, item, entry);
    return item;
}

static void bury(struct poll_loop *loop)
{
    for (struct item *item = LIST_FIRST(&loop->items), *next; item; item = next) {
        next = LIST_NEXT(item, entry);
        if (item->is_dead) {
            LIST_REMOVE(item, entry);
            free(item);
        }
    }
}

static void free_item(void *handle)
{
    struct item *item = handle;
    item->is_dead = 1, item->is_started = 0;
    if (!item->loop->is_turning)
        bury(item->loop);
}

static void *watch_new(void *loop, int fd, hilock_ready_fn *ready, void *arg)
{
    return add(loop, (struct item){.ready = ready, .arg = arg, .fd = fd});
}

static int watch_set(void *handle, unsigned interest)
{
    struct item *watch = handle;
    int is_refused = watch->loop->is_refusing || fails(watch->loop);
    watch->interest = is_refused ? 0 : interest;
    return is_refused ? -1 : 0;
}

static void *timer_new(void *loop, hilock_fire_fn *fire, void *arg)
{
    return add(loop, (struct item){.fire = fire, .arg = arg});
}

static void timer_start(void *handle, uint64_t delay_us)
{
    struct item *timer = handle;
    timer->due_us = now_us(timer->loop) + delay_us;
    timer->started_in = timer->loop->turn;
    timer->is_started = 1;
}

static void timer_stop(void *handle) { ((struct item *)handle)->is_started = 0; }

static void *resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg)
{
    (void)ctx, (void)host, (void)done, (void)arg;
    return NULL;
}

struct poll_loop *poll_loop_new(void)
{
    struct poll_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        abort();
    return loop;
}

struct poll_loop *poll_loop_new_jumping(void)
{
    struct poll_loop *loop = poll_loop_new();
    loop->jumped_us = JUMPS_FROM_US;
    return loop;
}

static void end_table(void *loop) { ((struct poll_loop *)loop)->tables--; }

struct hilock_loop poll_loop_table(struct poll_loop *loop)
{
    loop->tables++;
    return (struct hilock_loop){sizeof(struct hilock_loop), now_us,    loop,      loop,        watch_new,
                                watch_set,                  free_item, timer_new, timer_start, timer_stop,
                                free_item,                  resolve,   free,      end_table,   NULL,
                                NULL};
}

static int wait_for(const struct poll_loop *loop, int wait_ms)
{
    const struct item *timer;
    uint64_t now = now_us(loop);
    LIST_FOREACH(timer, &loop->items, entry) {
        uint64_t left_ms = timer->due_us > now ? (timer->due_us - now + 999) / 1000 : 0;
        if (timer->is_started && left_ms < (uint64_t)wait_ms)
            wait_ms = (int)left_ms;
    }
    return wait_ms;
}

static unsigned ready_of(const struct item *watch, short events)
{
    unsigned ready = (events & POLLIN ? HILOCK_READABLE : 0u) | (events & POLLOUT ? HILOCK_WRITABLE : 0u);
    if (events & (POLLERR | POLLHUP | POLLNVAL))
        ready |= HILOCK_READABLE | HILOCK_WRITABLE;
    return watch->is_dead ? 0 : ready & watch->interest;
}

/* Returns how many were ready. */
static int look(struct poll_loop *loop, int wait_ms)
{
    struct pollfd fds[FDS_MAX];
    struct item *watches[FDS_MAX], *watch;
    nfds_t count = 0;
    int ready;
    LIST_FOREACH(watch, &loop->items, entry) {
        if (!watch->interest || count == FDS_MAX)
            continue;
        watches[count] = watch;
        fds[count].fd = watch->fd;
        fds[count++].events = (short)((watch->interest & HILOCK_READABLE ? POLLIN : 0) |
                                      (watch->interest & HILOCK_WRITABLE ? POLLOUT : 0));
    }
    ready = poll(fds, count, wait_ms);
    for (nfds_t i = 0; ready > 0 && i < count; i++)
        if (ready_of(watches[i], fds[i].revents))
            watches[i]->ready(ready_of(watches[i], fds[i].revents), watches[i]->arg);
    return ready;
}

static void begin_turn(struct poll_loop *loop)
{
    loop->turn++;
    loop->is_turning = 1;
}

static void end_turn(struct poll_loop *loop)
{
    const uint64_t now = now_us(loop);
    struct item *timer;
    LIST_FOREACH(timer, &loop->items, entry) {
        if (timer->is_started && timer->due_us <= now && timer->started_in != loop->turn) {
            timer->is_started = 0;
            timer->fire(timer->arg);
        }
    }
    loop->is_turning = 0;
    bury(loop);
}

void poll_loop_turn(struct poll_loop *loop, int wait_ms)
{
    begin_turn(loop);
    (void)look(loop, wait_for(loop, wait_ms));
    end_turn(loop);
}

void poll_loop_jump(struct poll_loop *loop, uint64_t until_us)
{
    const struct item *timer;
    begin_turn(loop);
    if (look(loop, 0) <= 0) {
        LIST_FOREACH(timer, &loop->items, entry)
            if (timer->is_started && timer->due_us < until_us)
                until_us = timer->due_us;
        if (until_us > loop->jumped_us && until_us != UINT64_MAX)
            loop->jumped_us = until_us;
    }
    end_turn(loop);
}

void poll_loop_refuse_watching(struct poll_loop *loop, int is_refusing) { loop->is_refusing = is_refusing; }

void poll_loop_fail(struct poll_loop *loop, int nth) { loop->fails_in = nth; }

uint64_t poll_loop_us(const struct poll_loop *loop) { return now_us(loop); }

int poll_loop_end(struct poll_loop *loop)
{
    const struct item *item;
    int left = loop->tables;
    LIST_FOREACH(item, &loop->items, entry)
        left++;
    free(loop);
    return left;
}
