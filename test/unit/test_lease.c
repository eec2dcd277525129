/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of leases at the ends of its range. */
#include "base/random.h"
#include "core/lease.h"
#include <hilock/hilock.h>

#include "suite.h"

enum { MS = 1000 };

/* How long exactly, plays claim: BELIEVES. */
TEST(a_deadline_comes_behind_a_renewal_and_before_the_lease_is_over)
{
    for (uint64_t lease_ms = 100; lease_ms <= 86400000; lease_ms = lease_ms * 3 + 1) {
        uint64_t deadline = hl_lease_deadline_us(5, lease_ms * MS);
        assert_true(deadline > 5 && deadline < 5 + lease_ms * MS);
        assert_true(hl_lease_renewal_us(5, lease_ms * MS) < deadline);
    }
}

/* Two tries fit between the first renewal and the deadline, for any lease. */
TEST(a_renewal_that_times_out_leaves_time_for_another)
{
    for (uint64_t lease_ms = 100; lease_ms <= 86400000; lease_ms = lease_ms * 3 + 1) {
        uint64_t sent = 0, lease = lease_ms * MS, first = hl_lease_renewal_us(sent, lease);
        uint64_t timeout = hl_lease_renewal_timeout_us(lease, 3000);
        struct hl_random random = {lease};
        uint64_t second = first + timeout + hl_lease_retry_us(&random, lease);
        assert_true(timeout > 0 && timeout <= lease / 3 && timeout <= 3000 * MS);
        assert_true(second < hl_lease_deadline_us(sent, lease));
    }
}

TEST(a_retry_is_sooner_than_a_third_and_never_at_once)
{
    struct hl_random random = {7};
    for (int i = 0; i < 2000; i++) {
        uint64_t lease = (100 + (uint64_t)i * 40) * MS, pause = hl_lease_retry_us(&random, lease);
        assert_true(pause >= 2500 && pause < lease / 3 && pause <= 1000 * MS);
    }
}

TEST(retries_of_two_clients_drift_apart)
{
    struct hl_random a = {1}, b = {2};
    int apart = 0;
    for (int i = 0; i < 100; i++)
        apart += hl_lease_retry_us(&a, 3000 * MS) != hl_lease_retry_us(&b, 3000 * MS);
    assert_true(apart > 90);
}

TEST(spans_are_rounded_down_and_cut_at_the_longest_of_the_header)
{
    assert_int_equal(hl_lease_span_ms(0), 0);
    assert_int_equal(hl_lease_span_ms(999), 0);
    assert_int_equal(hl_lease_span_ms(1999), 1);
    assert_int_equal(hl_lease_span_ms((uint64_t)INT32_MAX * MS - 1), INT32_MAX - 1);
    assert_int_equal(hl_lease_span_ms((uint64_t)HILOCK_FOREVER * MS), INT32_MAX);
    assert_int_equal(hl_lease_span_ms(UINT64_MAX), INT32_MAX);
    assert_int_equal(hl_left_us(5, 5), 0);
    assert_int_equal(hl_left_us(5, 6), 0);
    assert_int_equal(hl_left_us(6, 5), 1);
}

/* ---- chance, which retries are drawn from: the same row for the same seed ---- */

TEST(chance_is_splitmix64_as_published)
{
    static const uint64_t row[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                                   16408922859458223821u};
    struct hl_random random = {1234567};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_int_equal(hl_random_next(&random), row[i]);
}

TEST(a_number_below_a_bound_is_any_of_them)
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
