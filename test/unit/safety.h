/* SPDX-License-Identifier: BSD-3-Clause */
/* safety - the safety rules R1 to R12 as plays, each with the planted bug (../rules) that must break it,
 * and the claim that must fail first: by its text, or by what should have been reported. test_twins.c plays them:
 * unplanted they hold, planted they do not. */
#ifndef TEST_UNIT_SAFETY_H
#define TEST_UNIT_SAFETY_H

#include "play.h"

struct safety {
    const char *plant, *wound;
    struct play play;
    const struct safety *next;
};
void safety_add(struct safety *safety);

/* SAFETY(plant, name, wound) { ... } defines a play of the fixture s; ALSO before it names another bug that breaks
 * it. */
#define SAFETY(plant, name, wound) ALSO(plant, name, wound) static void name(struct fixture *s)
#define ALSO(plant, name, wound)                                                              \
    static void name(struct fixture *s);                                                      \
    __attribute__((constructor)) static void add_##plant##_##name(void)                       \
    {                                                                                         \
        static struct safety safety = {#plant, wound, PLAY(name), NULL};                \
        safety_add(&safety);                                                                  \
    }

/* And p, a client, which the last argument gives; SAFETY_WITH_CLIENT: one that is connected; SAFETY_HOLDING: and a, a
 * handle of it that has "stock". */
#define SAFETY_GIVEN(plant, name, wound, ...)                                                 \
    static void name##_given(struct fixture *s, struct client *p);                            \
    SAFETY(plant, name, wound) { name##_given(s, __VA_ARGS__); }                              \
    static void name##_given(struct fixture *s, __attribute__((unused)) struct client *p)

#define SAFETY_WITH_CLIENT(plant, name, wound) SAFETY_GIVEN(plant, name, wound, fixture_connect(s, NULL))

#define SAFETY_HOLDING(plant, name, wound, ...)                                               \
    static void name##_holding(struct fixture *s, struct client *p, struct handle *a);        \
    SAFETY_WITH_CLIENT(plant, name, wound) { name##_holding(s, p, held(p, "a", "stock", __VA_ARGS__)); } \
    static void name##_holding(struct fixture *s, __attribute__((unused)) struct client *p,   \
                               __attribute__((unused)) struct handle *a)

#endif
