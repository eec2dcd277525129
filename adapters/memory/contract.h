/* SPDX-License-Identifier: BSD-3-Clause */
/* contract - assertions, and memory: a store that runs out of it ends the program, as it serves tests. Never for what a
 * client sent. */
#ifndef SIM_STORE_CONTRACT_H
#define SIM_STORE_CONTRACT_H

#include <stdio.h>
#include <stdlib.h>

#define SIM_REQUIRE(claim)                                                                                             \
    ((claim)                                                                                                           \
         ? (void)0                                                                                                     \
         : (fprintf(stderr, "hilock-memory: %s:%d: broken invariant, or no memory: %s\n", __FILE__, __LINE__, #claim), \
            abort()))

#endif
