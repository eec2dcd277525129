/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - how much is allocated now, by everything in this process. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stddef.h>

struct memory {
    size_t requested;   /* bytes that callers asked for and have not given back */
    size_t with_malloc; /* the same as glibc's malloc lays them out: 8 bytes more, in steps of 16, 32 at least */
};

/* All zero where allocations cannot be counted (a C library other than glibc). Under a sanitizer with_malloc is as
 * requested. */
struct memory memory_now(void);

#endif
