/* SPDX-License-Identifier: BSD-3-Clause */
/* play - a test that is played in a fixture: a function that sets it, runs it and claims. */
#ifndef TEST_UNIT_PLAY_H
#define TEST_UNIT_PLAY_H

#include "fixture.h"

struct play {
    const char *name;
    void (*play)(struct fixture *fixture);
};
#define PLAY(function) {#function, function}

int play_holds(const struct play *play); /* 1: every claim held, and nothing was left behind */
int plays_run(const struct play *plays, size_t count); /* as a group of tests; how many failed */
#define PLAYS_RUN(plays) plays_run((plays), sizeof(plays) / sizeof *(plays))

#endif
