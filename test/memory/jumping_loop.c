/* SPDX-License-Identifier: BSD-3-Clause */
/* jumping_loop - see jumping_loop.h: the timers and the time of test/world, and watches on real descriptors. A watch
 * that is freed in a turn stays in its list, dead, until the turn has ended. */
#include "jumping_loop.h"

#include <poll.h>
#include <stdlib.h>

#include "world/loop.h"

enum { FDS_MAX = 64 };

struct watch {
    TAILQ_ENTRY(watch) entry;
    struct jumping_loop *loop;
    hilock_ready_fn *ready;
    void *arg;
    int fd, is_dead;
    unsigned interest;
};

struct jumping_loop {
    struct world_loop base; /* the first: it is the ctx of the table */
    struct world world;
    struct world_memory memory;
    TAILQ_HEAD(, watch) watches;
    unsigned tables;
};

static void *watch_new(void *ctx, int fd, hilock_ready_fn *ready, void *arg)
{
    struct jumping_loop *loop = ctx;
    struct watch *watch = world_memory_takes(&loop->memory) ? calloc(1, sizeof *watch) : NULL;
    if (!watch)
        return NULL;
    *watch = (struct watch){.loop = loop, .ready = ready, .arg = arg, .fd = fd};
    TAILQ_INSERT_TAIL(&loop->watches, watch, entry);
    return watch;
}

static int watch_set(void *handle, unsigned interest)
{
    struct watch *watch = handle;
    watch->interest = world_memory_takes(&watch->loop->memory) ? interest : 0;
    return watch->interest == interest ? 0 : -1;
}

static void watch_free(void *handle) { ((struct watch *)handle)->is_dead = 1; }

static void bury(struct jumping_loop *loop)
{
    for (struct watch *watch = TAILQ_FIRST(&loop->watches), *next; watch; watch = next) {
        next = TAILQ_NEXT(watch, entry);
        if (watch->is_dead) {
            TAILQ_REMOVE(&loop->watches, watch, entry);
            free(watch);
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
            int events = (watch->interest & HILOCK_READABLE ? POLLIN : 0) |
                         (watch->interest & HILOCK_WRITABLE ? POLLOUT : 0);
            watches[count] = watch;
            fds[count++] = (struct pollfd){.fd = watch->fd, .events = (short)events};
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

void jumping_loop_turn(struct jumping_loop *loop, uint64_t until_us)
{
    struct world *world = &loop->world;
    if (look(loop) <= 0 && !world_step(world, until_us) && world->count && until_us > world->now_us)
        world->now_us = until_us;
    bury(loop);
}

struct jumping_loop *jumping_loop_new(void)
{
    struct jumping_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        abort();
    world_init(&loop->world);
    world_loop_init(&loop->base, &loop->world, &loop->memory);
    TAILQ_INIT(&loop->watches);
    return loop;
}

void jumping_loop_free(struct jumping_loop *loop)
{
    bury(loop);
    world_done(&loop->world);
    free(loop);
}

struct hilock_loop jumping_loop_table(struct jumping_loop *loop)
{
    struct hilock_loop table = world_loop_table(&loop->base);
    table.watch_new = watch_new;
    table.watch_set = watch_set;
    table.watch_free = watch_free;
    loop->tables++;
    return table;
}

uint64_t jumping_loop_us(const struct jumping_loop *loop) { return loop->world.now_us; }

int jumping_loop_is_empty(const struct jumping_loop *loop)
{
    const struct watch *watch;
    TAILQ_FOREACH(watch, &loop->watches, entry)
        if (!watch->is_dead)
            return 0;
    return loop->base.timers == 0;
}

int jumping_loop_tables(const struct jumping_loop *loop) { return (int)(loop->tables - loop->base.ends); }

void jumping_loop_fail(struct jumping_loop *loop, int nth)
{
    loop->memory.fail_at = nth ? loop->memory.asked + (unsigned)nth : 0;
    loop->memory.fails = 1;
}
