/* SPDX-License-Identifier: BSD-3-Clause */
/* poll_loop - see poll_loop.h. */
#include "world/poll_loop.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>

enum { FDS_MAX = 64 };

struct poll_watch {
    TAILQ_ENTRY(poll_watch) entry;
    struct poll_loop *loop;
    hilock_ready_fn *ready;
    void *arg;
    int fd, is_dead;
    unsigned interest;
};

static uint64_t machine_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void *watch_new(void *ctx, int fd, hilock_ready_fn *ready, void *arg)
{
    struct poll_loop *loop = ctx;
    struct poll_watch *watch = world_memory_takes(&loop->memory) ? malloc(sizeof *watch) : NULL;
    if (!watch)
        return NULL;
    *watch = (struct poll_watch){.loop = loop, .ready = ready, .arg = arg, .fd = fd};
    TAILQ_INSERT_TAIL(&loop->watches, watch, entry);
    loop->watches_count++;
    return watch;
}

static int watch_set(void *handle, unsigned interest)
{
    struct poll_watch *watch = handle;
    int is_set = !watch->loop->is_refusing && world_memory_takes(&watch->loop->memory);
    watch->interest = is_set ? interest : 0;
    return is_set ? 0 : -1;
}

static void bury(struct poll_loop *loop)
{
    for (struct poll_watch *watch = TAILQ_FIRST(&loop->watches), *next; watch; watch = next) {
        next = TAILQ_NEXT(watch, entry);
        if (watch->is_dead) {
            TAILQ_REMOVE(&loop->watches, watch, entry);
            free(watch);
        }
    }
}

static void watch_free(void *handle)
{
    struct poll_watch *watch = handle;
    watch->is_dead = 1;
    watch->loop->watches_count--;
    if (!watch->loop->is_looking)
        bury(watch->loop);
}

static unsigned ready_of(const struct poll_watch *watch, short events)
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
    struct poll_watch *watches[FDS_MAX], *watch;
    nfds_t count = 0;
    int ready;
    TAILQ_FOREACH(watch, &loop->watches, entry)
    {
        int events = (watch->interest & HILOCK_READABLE ? POLLIN : 0) | (watch->interest & HILOCK_WRITABLE ? POLLOUT
                                                                         : 0);
        if (!events || count == FDS_MAX)
            continue;
        watches[count] = watch;
        fds[count++] = (struct pollfd){.fd = watch->fd, .events = (short)events};
    }
    ready = poll(fds, count, wait_ms);
    loop->is_looking = 1;
    for (nfds_t i = 0; i < count && ready > 0; i++)
        if (ready_of(watches[i], fds[i].revents))
            watches[i]->ready(ready_of(watches[i], fds[i].revents), watches[i]->arg);
    loop->is_looking = 0;
    bury(loop);
    return ready;
}

void poll_loop_turn(struct poll_loop *loop, int wait_ms)
{
    struct world *world = &loop->world;
    uint64_t latest = world->order, next_us = world->count ? world->heap[0]->at_us : UINT64_MAX, now_us = machine_us();
    uint64_t left_ms = next_us > now_us ? (next_us - now_us + 999) / 1000 : 0;
    look(loop, left_ms < (uint64_t)wait_ms ? (int)left_ms : wait_ms);
    world->now_us = machine_us();
    while (world->count && world->heap[0]->order <= latest && world_step(world, world->now_us)) {
    }
}

void poll_loop_jump(struct poll_loop *loop, uint64_t until_us)
{
    struct world *world = &loop->world;
    if (look(loop, 0) <= 0 && !world_step(world, until_us) && world->count && until_us > world->now_us)
        world->now_us = until_us;
}

struct poll_loop *poll_loop_new(void)
{
    struct poll_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        abort();
    world_init(&loop->world);
    loop->world.now_us = machine_us();
    world_loop_init(&loop->base, &loop->world, &loop->memory);
    TAILQ_INIT(&loop->watches);
    return loop;
}

void poll_loop_free(struct poll_loop *loop)
{
    world_done(&loop->world);
    free(loop);
}

struct hilock_loop poll_loop_table(struct poll_loop *loop)
{
    struct hilock_loop table = world_loop_table(&loop->base);
    table.watch_new = watch_new;
    table.watch_set = watch_set;
    table.watch_free = watch_free;
    loop->tables++;
    return table;
}

int poll_loop_is_empty(const struct poll_loop *loop) { return loop->watches_count == 0 && loop->base.timers == 0; }
