/* SPDX-License-Identifier: BSD-3-Clause */
/* safety - the safety rules R1 to R12 as plays, each with the planted bug (lib/base/plants.def) that must break it,
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

#endif
