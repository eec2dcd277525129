/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - see memory.h. Each block carries its size in front, and a fence behind it: who writes past its end is found when it is given back,
 * and whoever uses it later finds nothing of it. AddressSanitizer has fences of its own, which see more. */
#include "world/memory.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { FENCE = 0 };
#else
enum { FENCE = 8 };
#endif

union head { size_t bytes; max_align_t align; };

static const char fence[8] = "\x5c\xf3nce\x5c\xf3";

int world_memory_takes(struct world_memory *memory)
{
    if (!memory)
        return 1;
    memory->asked++;
    int is_refused = memory->is_out || (memory->refuses && memory->refuses(memory->arg));
    int fails = memory->fail_at && memory->asked >= memory->fail_at && memory->asked < memory->fail_at + memory->fails;
    if (!is_refused && !fails)
        return 1;
    memory->refused++;
    return 0;
}

int world_memory_sends(struct world_memory *memory)
{
    if (memory && memory->sends)
        return memory->sends(memory->arg);
    return (memory && memory->spares_links) || world_memory_takes(memory);
}

static void *allocate(size_t bytes, void *ctx)
{
    struct world_memory *memory = ctx;
    union head *head = world_memory_takes(memory) ? malloc(sizeof *head + bytes + FENCE) : NULL;
    if (!head)
        return NULL;
    head->bytes = bytes;
    memset(head + 1, 0xa5, bytes); /* what the heap gives back may have been the world's own, with a secret in it */
    memcpy((char *)(head + 1) + bytes, fence, FENCE);
    memory->blocks++;
    memory->bytes += bytes;
    if (memory->bytes > memory->bytes_most)
        memory->bytes_most = memory->bytes;
    return head + 1;
}

static void release(void *block, void *ctx)
{
    union head *head = (union head *)block - 1;
    struct world_memory *memory = ctx;
    if (memory->secret && memmem(block, head->bytes, memory->secret, strlen(memory->secret)))
        memory->secrets++;
    if (memcmp((char *)block + head->bytes, fence, FENCE) != 0) {
        fprintf(stderr, "a block of %zu bytes was written past its end\n", head->bytes);
        abort();
    }
    memory->blocks--;
    memory->bytes -= head->bytes;
    memset(block, 0xdd, head->bytes);
    free(head);
}

static void *reallocate(void *block, size_t bytes, void *ctx)
{
    char *grown = allocate(bytes, ctx);
    size_t kept = block ? ((union head *)block - 1)->bytes : 0;
    if (!grown || !block)
        return grown;
    memcpy(grown, block, kept < bytes ? kept : bytes);
    release(block, ctx);
    return grown;
}

struct hilock_allocator world_memory_allocator(struct world_memory *memory)
{
    return (struct hilock_allocator){allocate, reallocate, release, memory};
}
