/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects are found by all their bytes and nothing else, the order of arrival is kept, the hash is the published one, and memory may run
 * out at any addition. */
#include <stdio.h>

#include "base/table.h"
#include "suite.h"
#include "world/memory.h"

enum { MANY = 2000 };

struct thing {
    struct hl_table_entry entry;
    char key[24];
    size_t length;
};

static struct thing things[MANY];
static struct world_memory counted = {.fails = 1};
static struct hl_memory memory;

__attribute__((constructor)) static void begin(void)
{
    const struct hilock_allocator allocator = world_memory_allocator(&counted);
    hl_memory_init(&memory, &allocator);
}

static void make_things(void)
{
    memset(things, 0, sizeof things);
    for (size_t i = 0; i < MANY; i++)
        things[i].length = (size_t)snprintf(things[i].key, sizeof things[i].key, "stock:%zu", i);
}

static int add(struct hl_table *table, struct thing *thing) { return hl_table_add(table, &thing->entry, thing->key, thing->length); }
static void *find(struct hl_table *table, const struct thing *thing) { return hl_table_find(table, thing->key, thing->length); }

TEST(test_add_find_remove)
{
    struct hl_table table;
    make_things();
    hl_table_init(&table, &memory, 1, 2);
    assert_null(find(&table, &things[0]));
    assert_null(hl_table_next(&table, NULL));
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(add(&table, &things[i]), 0);
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(find(&table, &things[i]), &things[i]);
    for (size_t i = 0; i < MANY; i += 2)
        hl_table_remove(&table, &things[i].entry);
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(find(&table, &things[i]), i % 2 ? &things[i] : NULL);
    for (size_t i = 1; i < MANY; i += 2)
        hl_table_remove(&table, &things[i].entry);
    assert_null(table.first);
    assert_int_equal(counted.blocks, 0); /* an empty table holds nothing */
}

TEST(test_order_of_arrival)
{
    struct hl_table table;
    struct hl_table_entry *entry = NULL;
    make_things();
    hl_table_init(&table, &memory, 1, 2);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(add(&table, &things[i * 7 % 100]), 0);
    hl_table_remove(&table, &things[7].entry);
    for (size_t i = 0; i < 100; i++) {
        if (i == 1)
            continue;
        entry = hl_table_next(&table, entry);
        assert_ptr_equal(entry, &things[i * 7 % 100]);
    }
    assert_null(hl_table_next(&table, entry));
    while ((entry = hl_table_next(&table, NULL)) != NULL) /* the way to empty one */
        hl_table_remove(&table, entry);
    assert_int_equal(counted.blocks, 0);
}

TEST(test_keys_are_bytes)
{
    static const struct { const char *key; size_t length; } keys[] = {{"", 0}, {"\0", 1}, {"\0\0", 2}, {"a", 1}, {"a\0", 2}, {"a\0b", 3}, {"a\0c", 3}, {"ab", 2}};
    enum { COUNT = sizeof keys / sizeof *keys };
    struct hl_table_entry entries[COUNT];
    struct hl_table table;
    hl_table_init(&table, &memory, 1, 2);
    for (size_t i = 0; i < COUNT; i++) {
        assert_null(hl_table_find(&table, keys[i].key, keys[i].length));
        assert_int_equal(hl_table_add(&table, &entries[i], keys[i].key, keys[i].length), 0);
    }
    for (size_t i = 0; i < COUNT; i++)
        assert_ptr_equal(hl_table_find(&table, keys[i].key, keys[i].length), &entries[i]);
    for (size_t i = 0; i < COUNT; i++)
        hl_table_remove(&table, &entries[i]);
}

/* SipHash-1-3 under the key 00 01 .. 0f of the bytes 00 01 02 .., lower half. */
TEST(test_published_hash)
{
    static const struct { size_t length; unsigned hash; } vectors[] = {{0, 0x050fc4dcu},  {1, 0x7d57ca93u},  {7, 0x9bb11140u},  {8, 0x8d299a8eu},
                                                                       {9, 0x6c063de4u},  {15, 0x2a519956u}, {16, 0x7d908b66u}, {63, 0xb7bbb3a8u}};
    struct hl_table table;
    unsigned char bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    hl_table_init(&table, &memory, 0x0706050403020100u, 0x0f0e0d0c0b0a0908u);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        assert_int_equal(hl_table_hash(&table, bytes, vectors[i].length), vectors[i].hash);
}

/* A refused addition leaves the table as it was: all others are still found, and the same object can be added later. */
TEST(test_out_of_memory)
{
    unsigned refusals = 0;
    struct hl_table table;
    struct hl_table_entry *entry;
    make_things();
    hl_table_init(&table, &memory, 1, 2);
    for (size_t i = 0; i < MANY; i++) {
        counted.fail_at = counted.asked + 1;
        for (; add(&table, &things[i]) != 0; counted.fail_at = counted.asked + 1 + refusals++ % 3)
            assert_null(find(&table, &things[i]));
        counted.fail_at = 0;
        assert_ptr_equal(find(&table, &things[i / 2]), &things[i / 2]);
    }
    assert_true(refusals > 3); /* the first one, and the growths */
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(find(&table, &things[i]), &things[i]);
    while ((entry = hl_table_next(&table, NULL)) != NULL)
        hl_table_remove(&table, entry);
    assert_int_equal(counted.blocks, 0);
}
