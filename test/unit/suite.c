/* SPDX-License-Identifier: BSD-3-Clause */
/* suite - see suite.h. With the name of a test in PLAY it runs alone. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

enum { TESTS_MAX = 400 };

static struct CMUnitTest tests[TESTS_MAX];
static size_t tests_count;

void suite_enter(struct CMUnitTest test)
{
    const char *alone = getenv("PLAY");
    if (alone && strcmp(alone, test.name) != 0)
        return;
    if (tests_count == TESTS_MAX)
        abort();
    tests[tests_count++] = test;
}

void suite_add(const char *name, suite_test *test, const void *state)
{
    suite_enter((struct CMUnitTest){.name = name, .test_func = test, .initial_state = (void *)(uintptr_t)state});
}

int main(void) { return tests_count ? _cmocka_run_group_tests("tests", tests, tests_count, NULL, NULL) : 1; }
