/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that was stopped for longer than its leases learns of every loss before anything else happens in it. */
#include "rules.h"
#include "support/fixture.h"

static void told_before_all_else(void **state) { assert_string_equal(rule_loss_is_told_first(*state, NULL), ""); }

int main(void)
{
    const struct CMUnitTest tests[] = {FIXTURE_TEST(told_before_all_else)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
