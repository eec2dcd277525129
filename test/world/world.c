/* SPDX-License-Identifier: BSD-3-Clause */
/* world - see world.h. A binary heap of events that know their place in it, so that stopping one is cheap: locks start and stop
 * timers all the time. */
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

static int is_before(const struct world_event *a, const struct world_event *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void put(struct world *world, size_t i, struct world_event *event)
{
    world->heap[i] = event;
    event->place = i + 1;
}

static void sift_up(struct world *world, size_t i)
{
    struct world_event *event = world->heap[i];
    while (i && is_before(event, world->heap[(i - 1) / 2])) {
        put(world, i, world->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put(world, i, event);
}

static void sift_down(struct world *world, size_t i)
{
    struct world_event *event = world->heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= world->count)
            break;
        child += child + 1 < world->count && is_before(world->heap[child + 1], world->heap[child]);
        if (!is_before(world->heap[child], event))
            break;
        put(world, i, world->heap[child]);
        i = child;
    }
    put(world, i, event);
}

static void take_out(struct world *world, struct world_event *event)
{
    size_t i = event->place - 1;
    struct world_event *last = world->heap[--world->count];
    event->place = 0;
    if (last == event)
        return;
    put(world, i, last);
    sift_up(world, i);
    sift_down(world, last->place - 1);
}

void world_init(struct world *world)
{
    memset(world, 0, sizeof *world);
    world->now_us = 1000 * 1000000u; /* the machine has been up for a while */
}

void world_done(struct world *world)
{
    free(world->heap);
    world->heap = NULL;
}

void world_event_init(struct world_event *event, struct world_lane *lane, void (*fire)(void *arg), void *arg)
{
    *event = (struct world_event){.lane = lane, .fire = fire, .arg = arg};
}

void world_start(struct world *world, struct world_event *event, uint64_t at_us)
{
    world_stop(world, event);
    if (world->count == world->room) {
        size_t room = world->room ? 2 * world->room : 64;
        struct world_event **heap = realloc(world->heap, room * sizeof(struct world_event *));
        if (!heap)
            abort();
        world->heap = heap;
        world->room = room;
    }
    event->at_us = at_us > world->now_us ? at_us : world->now_us;
    event->order = world->chance ? hl_random_next(world->chance) : ++world->order;
    world->heap[world->count] = event;
    sift_up(world, world->count++);
}

void world_stop(struct world *world, struct world_event *event)
{
    if (event->place)
        take_out(world, event);
}

int world_step(struct world *world, uint64_t until_us)
{
    struct world_event *event;
    while (world->count && world->heap[0]->at_us <= until_us) {
        event = world->heap[0];
        take_out(world, event);
        if (event->at_us > world->now_us)
            world->now_us = event->at_us;
        if (event->lane && event->lane->until_us > world->now_us) {
            world_start(world, event, event->lane->until_us);
            continue;
        }
        world->steps++;
        event->fire(event->arg);
        return 1;
    }
    return 0;
}

void world_run_to(struct world *world, uint64_t until_us)
{
    while (world_step(world, until_us)) {
    }
    if (until_us > world->now_us)
        world->now_us = until_us;
}

void world_run_us(struct world *world, uint64_t span_us) { world_run_to(world, world->now_us + span_us); }

void world_jump_us(struct world *world, uint64_t span_us) { world->now_us += span_us; }

void world_freeze(struct world_lane *lane) { lane->until_us = UINT64_MAX; }

/* Of those that the lane keeps from happening, the one that was due first. */
static struct world_event *first_late(const struct world *world, const struct world_lane *lane)
{
    struct world_event *first = NULL;
    for (size_t i = 0; i < world->count; i++) {
        struct world_event *event = world->heap[i];
        if (event->lane == lane && event->at_us == UINT64_MAX && (!first || event->order < first->order))
            first = event;
    }
    return first;
}

void world_thaw(struct world *world, struct world_lane *lane)
{
    struct world_event *event;
    lane->until_us = 0;
    while ((event = first_late(world, lane)) != NULL)
        world_start(world, event, world->now_us);
}

void world_clock_init(struct world_clock *clock, const struct world *world, uint64_t reads_us)
{
    *clock = (struct world_clock){.world = world, .world_base_us = world->now_us, .base_us = reads_us};
}

/* In two parts, so that a long span times a rate stays within 64 bits. */
uint64_t world_clock_at_us(const struct world_clock *clock, uint64_t world_us)
{
    int64_t span = (int64_t)(world_us - clock->world_base_us), rest = span % 1000000 * clock->ppm;
    return clock->base_us + (uint64_t)(span + span / 1000000 * clock->ppm + (rest - (rest < 0 ? 999999 : 0)) / 1000000);
}

uint64_t world_clock_us(const struct world_clock *clock) { return world_clock_at_us(clock, clock->world->now_us); }

uint64_t world_clock_when_us(const struct world_clock *clock, uint64_t reading_us)
{
    return reading_us > clock->base_us ? clock->world_base_us + world_clock_span_us(clock, reading_us - clock->base_us) : clock->world_base_us;
}

uint64_t world_clock_span_us(const struct world_clock *clock, uint64_t span_us)
{
    uint64_t rate = (uint64_t)(1000000 + clock->ppm);
    return clock->ppm ? span_us / rate * 1000000 + (span_us % rate * 1000000 + rate - 1) / rate : span_us;
}

static void rebase(struct world_clock *clock)
{
    clock->base_us = world_clock_us(clock);
    clock->world_base_us = clock->world->now_us;
}

void world_clock_step(struct world_clock *clock, int64_t by_us)
{
    rebase(clock);
    clock->base_us += (uint64_t)by_us;
}

void world_clock_set_rate(struct world_clock *clock, int64_t ppm)
{
    rebase(clock);
    clock->ppm = ppm;
}
