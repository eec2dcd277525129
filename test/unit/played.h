/* SPDX-License-Identifier: BSD-3-Clause */
/* played - plays that are named once, and what most of them say:
 *     WITH_CLIENT(a_release_is_told)
 *     {
 *         struct handle *a = asking(p, "a", "stock", NULL);
 *         TELLS_AFTER(s, 1, "a:OK");
 *         release(a);
 *         TELLS_AFTER(s, 1, "a:released");
 *     } */
#ifndef TEST_UNIT_PLAYED_H
#define TEST_UNIT_PLAYED_H

#include <stdio.h>
#include <string.h>

#include "play.h"

/* p: a client of it, which the first line gives: WITH_CLIENT one that is connected. */
#define GIVEN(name, ...)                                                                                        \
    static void name##_given(struct fixture *s, struct client *p);                                              \
    A_PLAY(name) { name##_given(s, __VA_ARGS__); }                                                          \
    static void name##_given(struct fixture *s, __attribute__((unused)) struct client *p)

#define WITH_CLIENT(name) GIVEN(name, fixture_connect(s, NULL))

/* And a: a handle of it that has "stock". */
#define HOLDING(name, ...)                                                                                      \
    static void name##_holding(struct fixture *s, struct client *p, struct handle *a);                          \
    WITH_CLIENT(name) { name##_holding(s, p, held(p, "a", "stock", __VA_ARGS__)); }                             \
    static void name##_holding(struct fixture *s, __attribute__((unused)) struct client *p,                     \
                               __attribute__((unused)) struct handle *a)

/* So long later exactly this has been reported since the last look. */
#define TELLS_AFTER(fixture, span_ms, story) played_tells((fixture), (span_ms), (story), __FILE__, __LINE__)
int played_tells(struct fixture *fixture, uint64_t span_ms, const char *story, const char *file, int line);

struct handle *acquiring(struct handle *handle, uint32_t wait_ms); /* it is accepted */
struct handle *lone(struct fixture *fixture); /* "a", for "stock", of a client that is connected */
int is_held(const struct handle *handle);
struct hilock_stats stats_of(const struct client *client);

/* The fixture's own server goes: links break, and none is made, until it is back. */
void server_goes(struct fixture *fixture);
void server_is_back(struct fixture *fixture);

#endif
