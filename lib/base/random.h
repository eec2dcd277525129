/* SPDX-License-Identifier: BSD-3-Clause */
/* random - random numbers for jitter, not for secrets: splitmix64, seeded by the caller, so that a simulated run can be
 * replayed. */
#ifndef HL_BASE_RANDOM_H
#define HL_BASE_RANDOM_H

#include <stdint.h>

struct hl_random { uint64_t state; };

uint64_t hl_random_next(struct hl_random *random);
uint64_t hl_random_below(struct hl_random *random, uint64_t bound); /* returns 0..bound-1, or 0 if bound is 0 */

#endif
