/* SPDX-License-Identifier: BSD-3-Clause */
/* play - see play.h. */
#include "play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

int play_holds(const struct play *play)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    play->play(&fixture);
    return fixture_end(&fixture);
}

static void run(void **state) { assert_true(play_holds(*state)); }

/* With the name of a play in PLAY it runs alone. */
int plays_run(const struct play *plays, size_t count)
{
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    const char *alone = getenv("PLAY");
    size_t chosen = 0;
    int failed;
    if (!tests)
        abort();
    for (size_t i = 0; i < count; i++)
        if (!alone || strcmp(alone, plays[i].name) == 0)
            tests[chosen++] = (struct CMUnitTest){.name = plays[i].name, .test_func = run, .initial_state = (void *)(uintptr_t)&plays[i]};
    failed = chosen ? _cmocka_run_group_tests("plays", tests, chosen, NULL, NULL) : 1;
    free(tests);
    return failed;
}
