/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects are found by their number and no other, in any order of coming and going; the buckets grow and shrink with them, and memory may run
 * out at any addition or removal. */
#include "base/id_table.h"
#include "base/random.h"
#include "suite.h"
#include "world/memory.h"

enum { MANY = 5000, STEP = 3 };

static struct hl_id_table_entry entries[MANY];
static uint8_t is_in[MANY];
static struct world_memory counted;
static struct hl_memory memory;
static struct hl_id_table id_table;

static void begin(void)
{
    counted = (struct world_memory){.blocks = 0};
    struct hilock_allocator allocator = world_memory_allocator(&counted);
    hl_memory_init(&memory, &allocator);
    hl_id_table_init(&id_table, &memory);
    memset(is_in, 0, sizeof is_in);
}

static uint64_t number_of(unsigned i) { return 1 + STEP * (uint64_t)i; }

static int add(unsigned i)
{
    int status = hl_id_table_add(&id_table, &entries[i], number_of(i));
    is_in[i] = status == 0;
    return status;
}

static void take_out(unsigned i)
{
    hl_id_table_remove(&id_table, &entries[i]);
    is_in[i] = 0;
}

static void look(void)
{
    for (unsigned i = 0; i < MANY; i++) {
        assert_ptr_equal(hl_id_table_find(&id_table, number_of(i)), is_in[i] ? &entries[i] : NULL);
        assert_null(hl_id_table_find(&id_table, number_of(i) + 1));
    }
}

TEST(found_by_its_number)
{
    struct hl_random random = {11};
    begin();
    look();
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            unsigned at = (unsigned)hl_random_below(&random, MANY);
            if (is_in[at])
                take_out(at);
            else
                assert_int_equal(add(at), 0);
        }
        look();
    }
    for (unsigned i = 0; i < MANY; i++)
        if (is_in[i])
            take_out(i);
    look();
    assert_int_equal(counted.blocks, 0); /* an empty one holds nothing */
}

TEST(as_large_as_what_it_has)
{
    begin();
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(add(i), 0);
        assert_true(id_table.room <= 8 || id_table.room <= 2 * id_table.count);
        assert_true(id_table.count <= 2 * id_table.room);
    }
    for (unsigned i = 0; i < MANY - 1; i++) {
        take_out(i);
        assert_true(id_table.room <= 8 || id_table.room <= 2 * id_table.count);
    }
    take_out(MANY - 1);
    assert_int_equal(counted.bytes, 0);
}

/* Only the first one needs it. */
TEST(without_memory)
{
    begin();
    counted.is_out = 1;
    assert_int_equal(add(0), -1);
    look();
    counted.is_out = 0;
    assert_int_equal(add(0), 0);
    counted.is_out = 1;
    for (unsigned i = 1; i < MANY; i++)
        assert_int_equal(add(i), 0);
    look();
    counted.is_out = 0;
    for (unsigned i = 0; i < MANY; i++) {
        counted.is_out = i % 3 != 0;
        take_out(i);
    }
    look();
    assert_int_equal(counted.blocks, 0);
}
