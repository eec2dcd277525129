/* SPDX-License-Identifier: BSD-3-Clause */
/* loop - see loop.h. */
#include "world/loop.h"

#include <arpa/inet.h>
#include <stdlib.h>

struct timer {
    struct world_event event;
    struct world_loop *loop;
    hilock_fire_fn *fire;
    void *arg;
};

struct query {
    struct world_event event;
    struct world_loop *loop;
    hilock_resolved_fn *done;
    void *arg;
};

static uint64_t now_us(const void *clock) { return world_clock_us(clock); }

static void on_timer(void *arg)
{
    struct timer *timer = arg;
    const struct world_loop *loop = timer->loop;
    timer->fire(timer->arg); /* may free it */
    if (loop->turned)
        loop->turned(loop->arg);
}

static void *timer_new(void *ctx, hilock_fire_fn *fire, void *arg)
{
    struct world_loop *loop = ctx;
    struct timer *timer = world_memory_takes(loop->memory) ? malloc(sizeof *timer) : NULL;
    if (!timer)
        return NULL;
    *timer = (struct timer){.loop = loop, .fire = fire, .arg = arg};
    world_event_init(&timer->event, &loop->lane, on_timer, timer);
    loop->timers++;
    return timer;
}

static void timer_start(void *arg, uint64_t delay_us)
{
    struct timer *timer = arg;
    struct world_loop *loop = timer->loop;
    uint64_t some_us = loop->some_late_us ? loop->some_late_us(loop->arg) : 0;
    uint64_t span_us = world_clock_span_us(&loop->clock, delay_us) + loop->late_us + some_us;
    world_start(loop->world, &timer->event, loop->world->now_us + span_us - (span_us > loop->early_us ? loop->early_us : 0));
}

static void timer_stop(void *arg)
{
    struct timer *timer = arg;
    world_stop(timer->loop->world, &timer->event);
}

static void timer_free(void *arg)
{
    struct timer *timer = arg;
    timer_stop(timer);
    timer->loop->timers--;
    free(timer);
}

static size_t fill(struct sockaddr_storage *to, const struct sockaddr **pointers, const char *const *addresses)
{
    size_t count = 0;
    for (; addresses[count] && count < WORLD_ADDRESSES_MAX; count++) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&to[count];
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&to[count];
        pointers[count] = (const struct sockaddr *)(const void *)&to[count];
        if (inet_pton(AF_INET, addresses[count], &v4->sin_addr) == 1)
            v4->sin_family = AF_INET;
        else if (inet_pton(AF_INET6, addresses[count], &v6->sin6_addr) == 1)
            v6->sin6_family = AF_INET6;
        else
            to[count].ss_family = AF_UNIX; /* something the library cannot use */
    }
    return count;
}

static void on_query(void *arg)
{
    struct query *query = arg, copy = *query;
    struct sockaddr_storage storage[WORLD_ADDRESSES_MAX] = {{0}};
    const struct sockaddr *pointers[WORLD_ADDRESSES_MAX];
    const struct world_name *name = &copy.loop->name;
    size_t count = fill(storage, pointers, name->addresses);
    copy.loop->queries--;
    free(query);
    copy.done(count ? pointers : NULL, count, count ? NULL : name->error, copy.arg);
}

static void *resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg)
{
    struct world_loop *loop = ctx;
    struct query *query = world_memory_takes(loop->memory) ? malloc(sizeof *query) : NULL;
    (void)host;
    if (!query)
        return NULL;
    *query = (struct query){.loop = loop, .done = done, .arg = arg};
    world_event_init(&query->event, &loop->lane, on_query, query);
    if (!loop->name.is_silent)
        world_start(loop->world, &query->event, loop->world->now_us + loop->name.takes_us);
    loop->queries++;
    loop->queries_begun++;
    return query;
}

static void resolve_cancel(void *arg)
{
    struct query *query = arg;
    world_stop(query->loop->world, &query->event);
    query->loop->queries--;
    query->loop->queries_cancelled++;
    free(query);
}

static void *watch_new(void *ctx, int fd, hilock_ready_fn *ready, void *arg) { return (void)ctx, (void)fd, (void)ready, (void)arg, NULL; }
static int watch_set(void *watch, unsigned interest) { return (void)watch, (void)interest, -1; }
static void watch_free(void *watch) { (void)watch; }
static void free_ctx(void *ctx) { ((struct world_loop *)ctx)->ends++; }

void world_loop_init(struct world_loop *loop, struct world *world, struct world_memory *memory)
{
    *loop = (struct world_loop){.world = world, .memory = memory, .name = {.takes_us = 1000, .error = "no such name"}};
    world_clock_init(&loop->clock, world, world->now_us);
}

struct hilock_loop world_loop_table(struct world_loop *loop)
{
    return (struct hilock_loop){.size = sizeof(struct hilock_loop), .now_us = now_us, .clock = &loop->clock, .ctx = loop,
                                .watch_new = watch_new, .watch_set = watch_set, .watch_free = watch_free, .timer_new = timer_new,
                                .timer_start = timer_start, .timer_stop = timer_stop, .timer_free = timer_free, .resolve = resolve,
                                .resolve_cancel = resolve_cancel, .free_ctx = free_ctx};
}
