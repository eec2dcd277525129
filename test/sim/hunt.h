/* SPDX-License-Identifier: BSD-3-Clause */
/* hunt - seeds with a bug planted, until one shows it: until an invariant breaks that this bug is known to break first. What else it may break
 * counts for nothing. found.def has for each bug the seed that showed it last, and these invariants; one that is not there yet may break any. */
#ifndef SIM_HUNT_H
#define SIM_HUNT_H

#include <stdint.h>

#include "base/plant.h"

struct sim_choice;

struct find {
    uint64_t seed;
    unsigned count;  /* of the seeds that it took; 0: not found */
    char wound[8];   /* the invariant ("I8"); "dies": an assertion or a signal; "hangs" */
};

struct find hunt(enum hl_plant plant, const struct sim_choice *choice, uint64_t first, unsigned seeds_max);
struct find hunt_again(enum hl_plant plant, const struct sim_choice *choice); /* with the seed that found it last */

#endif
