/* SPDX-License-Identifier: BSD-3-Clause */
/* random - splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
#include "base/random.h"

uint64_t hl_random_next(struct hl_random *random)
{
    uint64_t z = (random->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The bias of the remainder is below bound / 2^64, which does not matter for jitter. */
uint64_t hl_random_below(struct hl_random *random, uint64_t bound)
{
    return bound ? hl_random_next(random) % bound : 0;
}
