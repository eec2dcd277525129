/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - see memory.h. */
#include "base/memory.h"

#include <stdlib.h>

#include "base/platform.h"

static void *libc_allocate(size_t bytes, void *ctx) { (void)ctx; return malloc(bytes); }
static void *libc_reallocate(void *block, size_t bytes, void *ctx) { (void)ctx; return realloc(block, bytes); }
static void libc_release(void *block, void *ctx) { (void)ctx; free(block); }

void hl_memory_init(struct hl_memory *memory, const struct hilock_allocator *allocator)
{
    static const struct hilock_allocator libc = {libc_allocate, libc_reallocate, libc_release, NULL};
    memory->functions = allocator ? *allocator : libc;
}

void *hl_memory_new(const struct hl_memory *memory, size_t bytes)
{
    void *block = memory->functions.allocate(bytes, memory->functions.ctx);
    if (block)
        memset(block, 0, bytes);
    return block;
}

void *hl_memory_grow(const struct hl_memory *memory, void *block, size_t bytes)
{
    return memory->functions.reallocate(block, bytes, memory->functions.ctx);
}

void hl_memory_free(const struct hl_memory *memory, void *block)
{
    if (block)
        memory->functions.release(block, memory->functions.ctx);
}

char *hl_memory_copy(const struct hl_memory *memory, const char *bytes, size_t length)
{
    char *copy = hl_memory_new(memory, length + 1);
    if (copy && length)
        memcpy(copy, bytes, length);
    return copy;
}

void hl_memory_wipe(void *block, size_t bytes) { explicit_bzero(block, bytes); }
