/* SPDX-License-Identifier: BSD-3-Clause */
/* contract - assertions, and allocations that end the program when memory is short, because the store serves tests.
 * Never use them to check what a client has sent. */
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
