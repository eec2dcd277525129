/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's allocator gets every call, libc stands in for none, and running out is an answer. */
#include <stdlib.h>

#include "base/memory.h"
#include "suite.h"

static int context, is_empty;
static long blocks;

static void *allocate(size_t bytes, void *ctx)
{
    assert_ptr_equal(ctx, &context);
    blocks += !is_empty;
    return is_empty ? NULL : memset(malloc(bytes), 0xaa, bytes);
}

static void *reallocate(void *block, size_t bytes, void *ctx)
{
    assert_ptr_equal(ctx, &context);
    return is_empty ? NULL : realloc(block, bytes);
}

static void release(void *block, void *ctx)
{
    assert_ptr_equal(ctx, &context);
    assert_non_null(block);
    blocks--;
    free(block);
}

static const struct hilock_allocator own = {allocate, reallocate, release, &context};

static void life(const struct hilock_allocator *allocator)
{
    struct hl_memory memory;
    char *block, *copy;
    hl_memory_init(&memory, allocator);
    block = hl_memory_new(&memory, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(block[i], 0);
    memcpy(block, "stock", 6);
    block = hl_memory_grow(&memory, block, 10000);
    assert_string_equal(block, "stock");
    copy = hl_memory_copy(&memory, "a\0b", 3);
    assert_memory_equal(copy, "a\0b", 4);
    hl_memory_free(&memory, copy);
    copy = hl_memory_copy(&memory, NULL, 0);
    assert_string_equal(copy, "");
    hl_memory_free(&memory, copy);
    hl_memory_free(&memory, block);
    hl_memory_free(&memory, NULL);
}

TEST(test_life)
{
    life(NULL);
    assert_int_equal(blocks, 0);
    life(&own);
    assert_int_equal(blocks, 0);
}

TEST(test_none_left)
{
    struct hl_memory memory;
    char *block;
    hl_memory_init(&memory, &own);
    block = hl_memory_copy(&memory, "kept", 4);
    is_empty = 1;
    assert_null(hl_memory_new(&memory, 1));
    assert_null(hl_memory_copy(&memory, "x", 1));
    assert_null(hl_memory_grow(&memory, block, 100));
    is_empty = 0;
    assert_string_equal(block, "kept");
    hl_memory_free(&memory, block);
    assert_int_equal(blocks, 0);
}

TEST(test_wipe)
{
    char secret[] = "secret";
    hl_memory_wipe(secret, sizeof secret);
    for (size_t i = 0; i < sizeof secret; i++)
        assert_int_equal(secret[i], 0);
}
