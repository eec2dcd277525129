/* SPDX-License-Identifier: BSD-3-Clause */
/* test_parts - what the store has of its own, to owe nothing to the library that is tested by it, agrees with others': SHA-1 with OpenSSL's, slots
 * with the library's; its table finds what is in it, in the order of arrival, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <openssl/sha.h>

#include "base/slot.h"
#include "memory/sha1.h"
#include "memory/slot.h"
#include "memory/table.h"

enum { TEXT_MAX = 300, KEYS = 200, STEPS = 20000 };

static unsigned next(unsigned *seed) { return (*seed = *seed * 1103515245 + 12345) >> 16; }

static void test_sha1(void **state)
{
    char text[TEXT_MAX], ours[SIM_SHA1_DIGITS + 1], theirs[SIM_SHA1_DIGITS + 1];
    unsigned char digest[SHA_DIGEST_LENGTH];
    unsigned seed = 1;
    (void)state;
    for (size_t length = 0; length < TEXT_MAX; length++) {
        SHA1((const unsigned char *)text, length, digest);
        for (size_t i = 0; i < sizeof digest; i++)
            snprintf(theirs + 2 * i, 3, "%02x", digest[i]);
        sim_sha1_of(text, length, ours);
        assert_string_equal(ours, theirs);
        text[length] = (char)next(&seed);
    }
}

static void test_slots(void **state)
{
    char key[16];
    unsigned seed = 1;
    (void)state;
    for (int i = 0; i < STEPS; i++) {
        size_t length = next(&seed) % sizeof key;
        for (size_t j = 0; j < length; j++)
            key[j] = "{}abc\xff"[next(&seed) % 6];
        assert_int_equal(sim_slot_of(key, length), hl_slot_of(key, length));
    }
}

/* Entries come and go; in `order` are those that are in, oldest first. */
static void test_table(void **state)
{
    static struct sim_table_entry entries[KEYS], *order[KEYS];
    static char keys[KEYS][8];
    struct sim_table table = {0};
    size_t count = 0;
    unsigned seed = 1;
    (void)state;
    for (int step = 0; step < STEPS; step++) {
        size_t k = next(&seed) % KEYS, at = 0;
        size_t length = (size_t)snprintf(keys[k], sizeof keys[k], "%zu", k);
        struct sim_table_entry *found = sim_table_find(&table, keys[k], length), *entry = table.first;
        while (at < count && order[at] != &entries[k])
            at++;
        assert_ptr_equal(found, at < count ? order[at] : NULL);
        if (found) {
            sim_table_remove(&table, found);
            memmove(order + at, order + at + 1, (--count - at) * sizeof *order);
        } else {
            sim_table_add(&table, &entries[k], keys[k], length);
            order[count++] = &entries[k];
        }
        entry = table.first;
        for (at = 0; at < count; at++, entry = entry->behind)
            assert_ptr_equal(entry, order[at]);
        assert_null(entry);
    }
    while (table.first)
        sim_table_remove(&table, table.first);
    assert_null(table.buckets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sha1), cmocka_unit_test(test_slots), cmocka_unit_test(test_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
