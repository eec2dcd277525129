/* SPDX-License-Identifier: BSD-3-Clause */
/* world - the simulated world of one seed: true time, what happens next, chance, and what must hold.
 *
 * Everything that happens is an event at a true time (world/world.h); events of one time run in an order chosen by the seed. Clocks of processes and
 * servers go at rates of their own. Chance comes from separate streams, so that changing one (say, no faults) does not shift the others.
 * Nothing here knows locks: processes, the network and servers plug in. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdint.h>
#include <stdio.h>

#include "base/random.h"
#include "sometimes.h"
#include "world/world.h"

enum { SIM_WHY_MAX = 300 };

struct sim_world {
    struct world time;
    struct hl_random workload, network, faults, clocks, order, extras, deployments, sets, strains, sharers;
    uint64_t hash;        /* of all that was traced */
    FILE *trace;          /* NULL: neither trace nor hash are kept, for both cost time */
    uint64_t sometimes[SIM_SOMETIMES_COUNT];
    int is_broken;        /* an invariant was violated: the run ends */
    char why[SIM_WHY_MAX];
};

void sim_world_init(struct sim_world *world, uint64_t seed, FILE *trace);
void sim_world_done(struct sim_world *world); /* events still to come are dropped */

/* What may have to be stopped is a world_event of its holder's instead. */
void sim_at(struct sim_world *world, uint64_t at_us, void (*fire)(void *arg), void *arg);
void sim_after(struct sim_world *world, uint64_t delay_us, void (*fire)(void *arg), void *arg);
int sim_step(struct sim_world *world, uint64_t until_us);          /* 0: nothing is left to happen before then */

struct world_clock sim_clock_new(struct sim_world *world, uint64_t reads_us); /* or up to 1000 s more; as fast as true time, but for 0.4 % */

uint64_t sim_between(struct hl_random *random, uint64_t least, uint64_t most); /* both included */
int sim_chance(struct hl_random *random, double probability);

/* The first broken invariant stays. number: as in README.md (I1..I12). */
__attribute__((format(printf, 3, 4))) void sim_violate(struct sim_world *world, const char *number, const char *format, ...);
__attribute__((format(printf, 2, 3))) void sim_trace(struct sim_world *world, const char *format, ...);

#endif
