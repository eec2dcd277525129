/* SPDX-License-Identifier: BSD-3-Clause */
/* world - see world.h. */
#include "world.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void sim_world_init(struct sim_world *world, uint64_t seed, FILE *trace)
{
    struct hl_random root = {seed * 0x9e3779b97f4a7c15u + 1};
    struct hl_random *streams[] = {&world->workload, &world->network,     &world->faults, &world->clocks, &world->order,
                                   &world->extras,   &world->deployments, &world->sets,   &world->strains, &world->sharers};
    memset(world, 0, sizeof *world);
    world_init(&world->time);
    world->time.now_us = 1000000;
    world->time.chance = &world->order;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        streams[i]->state = hl_random_next(&root);
    world->hash = 0xcbf29ce484222325u;
    world->trace = trace;
}

struct one_event { struct world_event event; void (*fire)(void *arg); void *arg; };

static void on_event(void *arg)
{
    const struct one_event now = *(struct one_event *)arg;
    free(arg);
    now.fire(now.arg);
}

void sim_world_done(struct sim_world *world)
{
    for (size_t i = 0; i < world->time.count; i++)
        if (world->time.heap[i]->fire == on_event)
            free(world->time.heap[i]->arg);
    world_done(&world->time);
}

void sim_at(struct sim_world *world, uint64_t at_us, void (*fire)(void *arg), void *arg)
{
    struct one_event *event = malloc(sizeof *event);
    if (!event)
        abort();
    *event = (struct one_event){.fire = fire, .arg = arg};
    world_event_init(&event->event, NULL, on_event, event);
    world_start(&world->time, &event->event, at_us);
}

void sim_after(struct sim_world *world, uint64_t delay_us, void (*fire)(void *arg), void *arg)
{
    sim_at(world, world->time.now_us + delay_us, fire, arg);
}

int sim_step(struct sim_world *world, uint64_t until_us) { return !world->is_broken && world_step(&world->time, until_us); }

struct world_clock sim_clock_new(struct sim_world *world, uint64_t reads_us)
{
    struct world_clock clock;
    world_clock_init(&clock, &world->time, reads_us + hl_random_below(&world->clocks, 1000000000u));
    world_clock_set_rate(&clock, (int64_t)hl_random_below(&world->clocks, 8001) - 4000);
    return clock;
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
    length = snprintf(line, sizeof line, "%10.6f ", (double)world->time.now_us / 1e6);
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
