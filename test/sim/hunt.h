/* SPDX-License-Identifier: BSD-3-Clause */
/* hunt - runs seeds with a planted bug until one breaks an invariant that this bug is known to break first. Other broken invariants do not
 * count. found.def has these invariants for each bug, and the seed that found it last; a bug that is not in found.def may break any. */
#ifndef SIM_HUNT_H
#define SIM_HUNT_H

#include <stdint.h>

#include "base/plant.h"

struct sim_choice;

struct find {
    uint64_t seed;
    unsigned count;  /* of seeds until then; 0: not found */
    char wound[8];   /* the invariant ("I8"); "dies": an assertion or a signal; "hangs" */
};

struct find hunt(enum hl_plant plant, const struct sim_choice *choice, uint64_t first, unsigned seeds_max);
struct find hunt_again(enum hl_plant plant, const struct sim_choice *choice); /* with the seed that found it last */
int hunt_lists(const char *list, const char *word); /* words with blanks between: it is one of them */

#endif
