/* SPDX-License-Identifier: BSD-3-Clause */
/* play - a test that is played in a fixture: a function that sets it, runs it and claims. */
#ifndef TEST_UNIT_PLAY_H
#define TEST_UNIT_PLAY_H

#include "fixture.h"
#include "suite.h"

struct play {
    const char *name;
    void (*play)(struct fixture *fixture);
};
#define PLAY(function) {#function, function}

int play_holds(const struct play *play); /* 1: every claim held, and nothing was left behind */
void play_run(void **state);             /* the test of a play */

/* Defines a play, A_PLAY(name) { ... }, of the fixture s, and enters it into its program's list. */
#define A_PLAY(name)                                                                          \
    static void name(struct fixture *s);                                                      \
    __attribute__((constructor)) static void add_##name(void)                                 \
    {                                                                                         \
        static const struct play play = PLAY(name);                                           \
        suite_add(#name, play_run, &play);                                                    \
    }                                                                                         \
    static void name(__attribute__((unused)) struct fixture *s)

#endif
