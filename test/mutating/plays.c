/* SPDX-License-Identifier: BSD-3-Clause */
/* plays - the plays of the safety rules (unit/safety.h) as tests. Each must hold while no planted bug is on. */
#include "unit/safety.h"
#include "unit/suite.h"

static void test_holds(void **state)
{
    const struct safety *rule = *state;
    assert_true(play_holds(&rule->play));
}

void safety_add(struct safety *safety) { suite_add(safety->play.name, test_holds, safety); }
