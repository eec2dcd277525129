/* SPDX-License-Identifier: BSD-3-Clause */
/* play - a test that is played in a fixture and named once: a function that sets it, runs it and claims.
 *     WITH_CLIENT(a_release_is_told)
 *     {
 *         struct handle *a = asking(p, "a", "stock", NULL);
 *         TELLS_IN(s, 1, "a:OK");
 *         release(a);
 *         TELLS_IN(s, 1, "a:released");
 *     } */
#ifndef TEST_UNIT_PLAY_H
#define TEST_UNIT_PLAY_H

#include <stdio.h>
#include <string.h>

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

/* p: a client of it, which the first line gives: WITH_CLIENT one that is connected. */
#define GIVEN(name, ...)                                                                      \
    static void name##_given(struct fixture *s, struct client *p);                            \
    A_PLAY(name) { name##_given(s, __VA_ARGS__); }                                            \
    static void name##_given(struct fixture *s, __attribute__((unused)) struct client *p)

#define WITH_CLIENT(name) GIVEN(name, fixture_connect(s, NULL))

/* And a: a handle, which the last argument gives; HOLDING: one that has "stock". p is its client. */
#define HAVING(name, ...)                                                                     \
    static void name##_having(struct fixture *s, struct client *p, struct handle *a);         \
    A_PLAY(name)                                                                              \
    {                                                                                         \
        struct handle *first = __VA_ARGS__;                                                   \
        name##_having(s, first->client, first);                                               \
    }                                                                                         \
    static void name##_having(__attribute__((unused)) struct fixture *s,                      \
                              __attribute__((unused)) struct client *p,                       \
                              __attribute__((unused)) struct handle *a)

#define HOLDING(name, ...) HAVING(name, held(fixture_connect(s, NULL), "a", "stock", __VA_ARGS__))

#endif
