/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - counts how much memory the whole process has allocated.
 *
 * This file defines malloc, calloc, realloc, free and the aligned variants in place of glibc's. They count for every
 * shared library in the process, too: hilock, the adapter, libevent, hiredis and libuuid. Each block gets a header with
 * its size, which is not counted itself. Counting costs every caller the same few nanoseconds.
 * Invariant: right before every pointer that is given out there is a struct header.
 * A sanitizer has a malloc of its own; its count is used then. */
#include "memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER
#endif
#endif

#if defined(UNDER_SANITIZER)

extern size_t __sanitizer_get_current_allocated_bytes(void);

struct memory memory_now(void)
{
    size_t bytes = __sanitizer_get_current_allocated_bytes();
    return (struct memory){bytes, bytes};
}

#elif !defined(__GLIBC__)

struct memory memory_now(void)
{
    return (struct memory){0, 0};
}

#else

struct header {
    void *block;  /* the block that glibc returned */
    size_t bytes; /* how many bytes the caller asked for */
};

enum { ALIGNMENT = 2 * sizeof(size_t) };
_Static_assert(sizeof(struct header) % ALIGNMENT == 0, "a header keeps malloc's alignment");

extern void *__libc_malloc(size_t bytes);
extern void __libc_free(void *block);

static struct memory total; /* needs no lock, because only the main thread runs */

static size_t chunk_bytes(size_t bytes)
{
    size_t chunk = (bytes + sizeof(size_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return chunk < 2 * ALIGNMENT ? 2 * ALIGNMENT : chunk;
}

static struct header *header_of(void *memory)
{
    return (struct header *)memory - 1;
}

static void *allocate(size_t alignment, size_t bytes)
{
    size_t slack = sizeof(struct header) + (alignment > ALIGNMENT ? alignment : 0);
    void *block = bytes <= PTRDIFF_MAX - slack ? __libc_malloc(bytes + slack) : NULL;
    uintptr_t place;
    if (!block) {
        errno = ENOMEM;
        return NULL;
    }
    place = (uintptr_t)block + sizeof(struct header);
    if (alignment > ALIGNMENT)
        place = (place + alignment - 1) / alignment * alignment;
    *header_of((void *)place) = (struct header){block, bytes};
    total.requested += bytes;
    total.with_malloc += chunk_bytes(bytes);
    return (void *)place;
}

struct memory memory_now(void)
{
    return total;
}

void *malloc(size_t bytes)
{
    return allocate(ALIGNMENT, bytes);
}

void free(void *memory)
{
    struct header header;
    if (!memory)
        return;
    header = *header_of(memory);
    total.requested -= header.bytes;
    total.with_malloc -= chunk_bytes(header.bytes);
    __libc_free(header.block);
}

void *calloc(size_t count, size_t bytes)
{
    void *memory;
    if (bytes != 0 && count > PTRDIFF_MAX / bytes) {
        errno = ENOMEM;
        return NULL;
    }
    memory = allocate(ALIGNMENT, count * bytes);
    return memory ? memset(memory, 0, count * bytes) : NULL;
}

void *realloc(void *memory, size_t bytes)
{
    void *moved;
    size_t known;
    if (!memory)
        return malloc(bytes);
    if (bytes == 0) { /* glibc does the same */
        free(memory);
        return NULL;
    }
    known = header_of(memory)->bytes;
    moved = malloc(bytes);
    if (!moved)
        return NULL;
    memcpy(moved, memory, known < bytes ? known : bytes);
    free(memory);
    return moved;
}

void *memalign(size_t alignment, size_t bytes)
{
    return allocate(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return allocate(alignment, bytes);
}

int posix_memalign(void **ret_memory, size_t alignment, size_t bytes)
{
    void *memory = allocate(alignment, bytes);
    if (memory)
        *ret_memory = memory;
    return memory ? 0 : ENOMEM;
}

void *valloc(size_t bytes)
{
    return allocate(4096, bytes);
}

size_t malloc_usable_size(void *memory)
{
    return memory ? header_of(memory)->bytes : 0;
}

#endif
