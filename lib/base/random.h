/* SPDX-License-Identifier: BSD-3-Clause */
/* random - jitter, nothing secret: splitmix64 from the seed door, so that a simulated run can be replayed. */
#ifndef HL_BASE_RANDOM_H
#define HL_BASE_RANDOM_H

#include <stdint.h>

struct hl_random { uint64_t state; };

uint64_t hl_random_next(struct hl_random *random);
uint64_t hl_random_below(struct hl_random *random, uint64_t bound); /* 0..bound-1; bound 0: 0 */

#endif
