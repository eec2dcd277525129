/* SPDX-License-Identifier: BSD-3-Clause */
/* play - a test that is played in a fixture: a function that sets it, runs it and claims. */
#ifndef TEST_UNIT_PLAY_H
#define TEST_UNIT_PLAY_H

#include "fixture.h"

struct play {
    const char *name;
    void (*play)(struct fixture *fixture);
    struct play *next;
};
#define PLAY(function) {#function, function, NULL}

int play_holds(const struct play *play); /* 1: every claim held, and nothing was left behind */
int plays_run(const struct play *plays, size_t count); /* as a group of tests; how many failed */
#define PLAYS_RUN(plays) plays_run((plays), sizeof(plays) / sizeof *(plays))

/* Defines a play, A_PLAY(name) { ... }, of the fixture s. It is one of its program's: a program without a main()
 * plays all that are defined so. */
#define A_PLAY(name)                                                                          \
    static void name(struct fixture *s);                                                      \
    __attribute__((constructor)) static void add_##name(void)                                 \
    {                                                                                         \
        static struct play play = PLAY(name);                                                 \
        play_add(&play);                                                                      \
    }                                                                                         \
    static void name(struct fixture *s)
void play_add(struct play *play);
int plays_run_added(void);

#endif
