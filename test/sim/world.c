/* SPDX-License-Identifier: BSD-3-Clause */
/* world - see world.h. What is to come is a binary heap; an event knows its place in it, so that it can be cancelled. */
#include "world.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int is_before(const struct sim_event *a, const struct sim_event *b) { return a->at_us != b->at_us ? a->at_us < b->at_us : a->tie < b->tie; }

static void set(struct sim_world *world, size_t place, struct sim_event *event)
{
    world->heap[place] = event;
    event->place = place;
}

static void rise(struct sim_world *world, size_t place, struct sim_event *event)
{
    for (; place > 0 && is_before(event, world->heap[(place - 1) / 2]); place = (place - 1) / 2)
        set(world, place, world->heap[(place - 1) / 2]);
    set(world, place, event);
}

static void sink(struct sim_world *world, size_t place, struct sim_event *event)
{
    for (;;) {
        size_t child = 2 * place + 1;
        if (child + 1 < world->count && is_before(world->heap[child + 1], world->heap[child]))
            child++;
        if (child >= world->count || !is_before(world->heap[child], event))
            break;
        set(world, place, world->heap[child]);
        place = child;
    }
    set(world, place, event);
}

static void take_out(struct sim_world *world, struct sim_event *event)
{
    struct sim_event *last = world->heap[--world->count];
    size_t place = event->place;
    if (last == event)
        return;
    if (place > 0 && is_before(last, world->heap[(place - 1) / 2]))
        rise(world, place, last);
    else
        sink(world, place, last);
}

void sim_world_init(struct sim_world *world, uint64_t seed, FILE *trace)
{
    struct hl_random root = {seed * 0x9e3779b97f4a7c15u + 1};
    memset(world, 0, sizeof *world);
    world->now_us = 1000000;
    world->workload.state = hl_random_next(&root);
    world->network.state = hl_random_next(&root);
    world->faults.state = hl_random_next(&root);
    world->clocks.state = hl_random_next(&root);
    world->order.state = hl_random_next(&root);
    world->extras.state = hl_random_next(&root);
    world->deployments.state = hl_random_next(&root);
    world->sets.state = hl_random_next(&root);
    world->hash = 0xcbf29ce484222325u;
    world->trace = trace;
}

void sim_world_done(struct sim_world *world)
{
    for (size_t i = 0; i < world->count; i++)
        free(world->heap[i]);
    free(world->heap);
}

struct sim_event *sim_at(struct sim_world *world, uint64_t at_us, sim_fn *fn, void *arg)
{
    struct sim_event *event = malloc(sizeof *event);
    if (world->count == world->room) {
        world->room = world->room ? 2 * world->room : 256;
        world->heap = realloc(world->heap, world->room * sizeof *world->heap);
    }
    if (!event || !world->heap)
        abort();
    *event = (struct sim_event){at_us < world->now_us ? world->now_us : at_us, hl_random_next(&world->order), fn, arg, 0};
    rise(world, world->count++, event);
    return event;
}

struct sim_event *sim_after(struct sim_world *world, uint64_t delay_us, sim_fn *fn, void *arg) { return sim_at(world, world->now_us + delay_us, fn, arg); }

void sim_cancel(struct sim_world *world, struct sim_event *event)
{
    if (!event)
        return;
    take_out(world, event);
    free(event);
}

int sim_step(struct sim_world *world, uint64_t until_us)
{
    struct sim_event *event = world->count ? world->heap[0] : NULL;
    struct sim_event now;
    if (!event || event->at_us > until_us || world->is_broken)
        return 0;
    now = *event;
    take_out(world, event);
    free(event);
    world->now_us = now.at_us;
    world->steps++;
    now.fn(world, now.arg);
    return 1;
}

uint64_t sim_read(const struct sim_clock *clock, uint64_t true_us) { return clock->offset_us + (uint64_t)((double)true_us * clock->rate); }

uint64_t sim_true(const struct sim_clock *clock, uint64_t reading_us)
{
    return reading_us > clock->offset_us ? (uint64_t)((double)(reading_us - clock->offset_us) / clock->rate) : 0;
}

uint64_t sim_between(struct hl_random *random, uint64_t least, uint64_t most) { return least + hl_random_below(random, most - least + 1); }

int sim_chance(struct hl_random *random, double probability) { return (double)(hl_random_next(random) >> 11) * 0x1p-53 < probability; }

void sim_violate(struct sim_world *world, const char *number, const char *format, ...)
{
    char text[SIM_WHY_MAX - 16];
    va_list list;
    if (world->is_broken)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snprintf(world->why, sizeof world->why, "%s: %s", number, text);
    world->is_broken = 1;
    sim_trace(world, "VIOLATED %s", world->why);
}

/* FNV-1a over the text: two runs of one seed must agree in every line. Formatting only reads, so a run that is not traced is the same run. */
void sim_trace(struct sim_world *world, const char *format, ...)
{
    char line[400];
    va_list list;
    int length;
    if (!world->trace)
        return;
    length = snprintf(line, sizeof line, "%10.6f ", (double)world->now_us / 1e6);
    va_start(list, format);
    vsnprintf(line + length, sizeof line - (size_t)length, format, list);
    va_end(list);
    for (const char *c = line; *c; c++)
        world->hash = (world->hash ^ (unsigned char)*c) * 0x100000001b3u;
    fprintf(world->trace, "%s\n", line);
}

const char *sim_sometimes_text(enum sim_sometimes which)
{
    static const char *const texts[] = {
#define X(name, text) text,
        SIM_SOMETIMES(X)
#undef X
    };
    return texts[which];
}

int sim_sometimes_is_fault(enum sim_sometimes which) { return which >= SIM_FAULT_REQUEST_LOST; }
