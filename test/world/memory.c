/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - see memory.h. Each block carries its size in front. */
#include "world/memory.h"

#include <stdlib.h>

union head { size_t bytes; max_align_t align; };

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
    union head *head = world_memory_takes(memory) ? malloc(sizeof *head + bytes) : NULL;
    if (!head)
        return NULL;
    head->bytes = bytes;
    memset(head + 1, 0xa5, bytes); /* what the heap gives back may have been the world's own, with a secret in it */
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
    memory->blocks--;
    memory->bytes -= head->bytes;
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
