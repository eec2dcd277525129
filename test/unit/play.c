/* SPDX-License-Identifier: BSD-3-Clause */
/* play - see play.h. */
#include "play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PLAYS_MAX = 200 };

static struct play *first, **end = &first;

void play_add(struct play *play)
{
    *end = play;
    end = &play->next;
}

int play_holds(const struct play *play)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    play->play(&fixture);
    return fixture_end(&fixture);
}

static void run(void **state) { assert_true(play_holds(*state)); }

/* With the name of a play in PLAY it runs alone. */
static size_t choose(struct CMUnitTest *tests, size_t count, const struct play *play)
{
    const char *alone = getenv("PLAY");
    if (alone && strcmp(alone, play->name) != 0)
        return count;
    if (count == PLAYS_MAX)
        abort();
    tests[count] = (struct CMUnitTest){.name = play->name, .test_func = run, .initial_state = (void *)(uintptr_t)play};
    return count + 1;
}

int plays_run(const struct play *plays, size_t count)
{
    struct CMUnitTest tests[PLAYS_MAX];
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++)
        chosen = choose(tests, chosen, &plays[i]);
    return chosen ? _cmocka_run_group_tests("plays", tests, chosen, NULL, NULL) : 1;
}

int plays_run_added(void)
{
    struct CMUnitTest tests[PLAYS_MAX];
    size_t chosen = 0;
    for (const struct play *play = first; play; play = play->next)
        chosen = choose(tests, chosen, play);
    return chosen ? _cmocka_run_group_tests("plays", tests, chosen, NULL, NULL) : 1;
}
