/* SPDX-License-Identifier: BSD-3-Clause */
/* world - virtual time, and everything that is going to happen in it, in order.
 *
 * Time moves only when the world is run, and then from event to event: what happens is repeatable, and an hour costs nothing. Events of
 * the same microsecond happen in the order in which they were started, or in one that a seed decides.
 * A lane is one party that can be frozen (a process, a server): what falls due for it meanwhile happens when it thaws, in the same order.
 * A clock is how one party reads the time: its own offset and rate. */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

struct world_lane { uint64_t until_us; }; /* frozen until then: what falls due for it meanwhile is started again */

struct world_event { /* lives inside what it happens to */
    uint64_t at_us, order;
    size_t place; /* 1 + index in the heap; 0: not there */
    const struct world_lane *lane; /* NULL: nobody's */
    void (*fire)(void *arg);
    void *arg;
};

struct world {
    uint64_t now_us, order, steps;
    unsigned servers; /* begun in it, ever */
    struct hl_random *chance; /* of the order in which events of one microsecond happen; NULL: that in which they were started */
    struct world_event **heap;
    size_t count, room;
};

void world_init(struct world *world);
void world_done(struct world *world);

void world_event_init(struct world_event *event, struct world_lane *lane, void (*fire)(void *arg), void *arg);
void world_start(struct world *world, struct world_event *event, uint64_t at_us); /* replaces an earlier start; one in the past is next */
void world_stop(struct world *world, struct world_event *event);

int world_step(struct world *world, uint64_t until_us);    /* the next event, if it is due by then; 0: none was */
void world_run_to(struct world *world, uint64_t until_us); /* all that is due by then, and the clock stands there */
void world_run_us(struct world *world, uint64_t span_us);
void world_jump_us(struct world *world, uint64_t span_us); /* time passes and nothing happens: a suspended host */

void world_freeze(struct world_lane *lane); /* until it thaws */
void world_thaw(struct world *world, struct world_lane *lane);

struct world_clock {
    const struct world *world;
    uint64_t world_base_us, base_us;
    int64_t ppm; /* how much faster than the world's */
};

void world_clock_init(struct world_clock *clock, const struct world *world, uint64_t reads_us);
uint64_t world_clock_us(const struct world_clock *clock); /* now, rounded down */
uint64_t world_clock_at_us(const struct world_clock *clock, uint64_t world_us); /* then: not before it was stepped, or its rate set, last */
uint64_t world_clock_when_us(const struct world_clock *clock, uint64_t reading_us); /* the first of the world's microseconds at which it reads that */
uint64_t world_clock_span_us(const struct world_clock *clock, uint64_t span_us); /* of this clock, in the world's; rounded up */
void world_clock_step(struct world_clock *clock, int64_t by_us);
void world_clock_set_rate(struct world_clock *clock, int64_t ppm);

#endif
