/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - counts how much memory the whole process has allocated. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stddef.h>

struct memory {
    size_t requested;   /* the bytes that callers asked for and have not freed */
    size_t with_malloc; /* the same blocks in glibc's layout: 8 bytes more, in steps of 16, at least 32 */
};

/* Returns zeroes where allocations cannot be counted, with a C library other than glibc. Under a sanitizer
 * with_malloc is the same as requested. */
struct memory memory_now(void);

#endif
