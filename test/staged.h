/* SPDX-License-Identifier: BSD-3-Clause */
/* staged - a test with a fixture, named once: STAGED(name, type, it, set_up, tear_down) { ... } is a test of
 * unit/suite.h that finds `it`, a pointer to what set_up made. What tear_down finds left behind fails the test. */
#ifndef TEST_STAGED_H
#define TEST_STAGED_H

#include "unit/suite.h"

struct staged {
    int (*set_up)(void **state), (*tear_down)(void **state); /* 0: it went well */
    void (*test)(void *it);
};

static inline void staged_run(void **state)
{
    const struct staged *staged = *state;
    void *it = NULL;
    assert_int_equal(staged->set_up(&it), 0);
    staged->test(it);
    assert_int_equal(staged->tear_down(&it), 0);
}

#define STAGED(name, type, it, set_up, tear_down)                                                                \
    static void name(type *it);                                                                                 \
    static void staged_##name(void *given) { name(given); }                                                     \
    __attribute__((constructor)) static void staged_add_##name(void)                                            \
    {                                                                                                           \
        static const struct staged staged = {set_up, tear_down, staged_##name};                                 \
        suite_add(#name, staged_run, &staged);                                                                  \
    }                                                                                                           \
    static void name(__attribute__((unused)) type *it)

#endif
