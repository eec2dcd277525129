/* SPDX-License-Identifier: BSD-3-Clause */
/* splitmix64 as published, the same row for the same seed, and numbers below their bound. */
#include <stdlib.h>

#include "base/random.h"
#include "suite.h"

TEST(test_published_row)
{
    static const uint64_t row[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                                   16408922859458223821u};
    struct hl_random random = {1234567};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_int_equal(hl_random_next(&random), row[i]);
}

TEST(test_below)
{
    struct hl_random random = {42};
    unsigned seen[10] = {0};
    for (int i = 0; i < 10000; i++)
        seen[hl_random_below(&random, 10)]++;
    for (int i = 0; i < 10; i++)
        assert_in_range(seen[i], 800, 1200);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(hl_random_below(&random, 1), 0);
        assert_int_equal(hl_random_below(&random, 0), 0);
        assert_true(hl_random_below(&random, UINT64_MAX) < UINT64_MAX);
    }
}
