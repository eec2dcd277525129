/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - the client's allocator, or libc when none was given. All of the library's memory comes from here. */
#ifndef HL_BASE_MEMORY_H
#define HL_BASE_MEMORY_H

#include <hilock/hilock.h>

struct hl_memory { struct hilock_allocator functions; };

void hl_memory_init(struct hl_memory *memory, const struct hilock_allocator *allocator); /* allocator NULL: libc */
void *hl_memory_new(const struct hl_memory *memory, size_t bytes); /* returns a zeroed block; NULL: no memory */
/* Resizes a block. NULL: no memory, and the old block is unchanged. */
void *hl_memory_grow(const struct hl_memory *memory, void *block, size_t bytes);
void hl_memory_free(const struct hl_memory *memory, void *block); /* NULL is allowed */
/* Returns a copy with a terminator; NULL: no memory. */
char *hl_memory_copy(const struct hl_memory *memory, const char *bytes, size_t length);
void hl_memory_wipe(void *block, size_t bytes); /* zeroes a password; the compiler does not remove this */

#endif
