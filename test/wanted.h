/* SPDX-License-Identifier: BSD-3-Clause */
/* wanted - numbers that the environment may give a test. Of what is played once for each allocation that may fail, a run under a sanitizer plays
 * each TORTURE_STRIDE-th; where it begins, HILOCK_SEED decides, which CI makes of the commit. */
#ifndef TEST_WANTED_H
#define TEST_WANTED_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t wanted(const char *variable, uint64_t usual)
{
    const char *given = getenv(variable);
    const uint64_t number = given ? strtoull(given, NULL, 10) : 0;
    return number ? number : usual;
}

static inline uint64_t wanted_stride(void) { return wanted("TORTURE_STRIDE", 1); }
static inline uint64_t wanted_first(void) { return 1 + wanted("HILOCK_SEED", wanted_stride()) % wanted_stride(); }

#endif
