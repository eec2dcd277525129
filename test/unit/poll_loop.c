/* SPDX-License-Identifier: BSD-3-Clause */
/* poll_loop - see poll_loop.h. Watches and timers stand in one list. What is freed inside a turn stays there, dead,
 * until the turn ends. */
#include "poll_loop.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

enum { FDS_MAX = 64 };

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
};

static uint64_t now_us(const void *clock)
{
    struct timespec now;
    (void)clock;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static struct item *add(struct poll_loop *loop, struct item given)
{
    struct item *item = malloc(sizeof *item);
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
    watch->interest = watch->loop->is_refusing ? 0 : interest;
    return watch->loop->is_refusing ? -1 : 0;
}

static void *timer_new(void *loop, hilock_fire_fn *fire, void *arg)
{
    return add(loop, (struct item){.fire = fire, .arg = arg});
}

static void timer_start(void *handle, uint64_t delay_us)
{
    struct item *timer = handle;
    timer->due_us = now_us(NULL) + delay_us;
    timer->started_in = timer->loop->turn;
    timer->is_started = 1;
}

static void timer_stop(void *handle) { ((struct item *)handle)->is_started = 0; }

static void *resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg)
{
    (void)ctx, (void)host, (void)done, (void)arg;
    return NULL;
}

struct poll_loop *poll_loop_new(struct hilock_loop *ret_table)
{
    struct poll_loop *loop = calloc(1, sizeof *loop);
    *ret_table = (struct hilock_loop){sizeof *ret_table, now_us,      NULL,       loop,      watch_new,
                                      watch_set,         free_item,   timer_new,  timer_start, timer_stop,
                                      free_item,         resolve,     free,       free,      NULL};
    return loop;
}

static int wait_for(const struct poll_loop *loop, int wait_ms)
{
    const struct item *timer;
    uint64_t now = now_us(NULL);
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

static void look(struct poll_loop *loop, int wait_ms)
{
    struct pollfd fds[FDS_MAX];
    struct item *watches[FDS_MAX], *watch;
    nfds_t count = 0;
    LIST_FOREACH(watch, &loop->items, entry) {
        if (!watch->interest || count == FDS_MAX)
            continue;
        watches[count] = watch;
        fds[count].fd = watch->fd;
        fds[count++].events = (short)((watch->interest & HILOCK_READABLE ? POLLIN : 0) |
                                      (watch->interest & HILOCK_WRITABLE ? POLLOUT : 0));
    }
    if (poll(fds, count, wait_ms) <= 0)
        return;
    for (nfds_t i = 0; i < count; i++)
        if (ready_of(watches[i], fds[i].revents))
            watches[i]->ready(ready_of(watches[i], fds[i].revents), watches[i]->arg);
}

void poll_loop_turn(struct poll_loop *loop, int wait_ms)
{
    struct item *timer;
    uint64_t now;
    loop->turn++;
    loop->is_turning = 1;
    look(loop, wait_for(loop, wait_ms));
    now = now_us(NULL);
    LIST_FOREACH(timer, &loop->items, entry) {
        if (timer->is_started && timer->due_us <= now && timer->started_in != loop->turn) {
            timer->is_started = 0;
            timer->fire(timer->arg);
        }
    }
    loop->is_turning = 0;
    bury(loop);
}

static int count_of(const struct poll_loop *loop, int is_timer)
{
    const struct item *item;
    int count = 0;
    LIST_FOREACH(item, &loop->items, entry)
        count += (item->ready == NULL) == is_timer;
    return count;
}

int poll_loop_watches(const struct poll_loop *loop) { return count_of(loop, 0); }
int poll_loop_timers(const struct poll_loop *loop) { return count_of(loop, 1); }

void poll_loop_refuse_watching(struct poll_loop *loop, int is_refusing) { loop->is_refusing = is_refusing; }
