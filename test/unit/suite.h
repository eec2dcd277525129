/* SPDX-License-Identifier: BSD-3-Clause */
/* suite - a test that is named once: TEST(name) { ... } enters it into the program's list, and main is here. `state` is
 * NULL. cmocka comes with it, and what that needs. */
#ifndef TEST_UNIT_SUITE_H
#define TEST_UNIT_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef void suite_test(void **state);
/* Before main: */
void suite_enter(struct CMUnitTest test);
void suite_add(const char *name, suite_test *test, const void *state); /* one without a set-up */

#define TEST(name)                                                                                              \
    static void name(void **state);                                                                             \
    __attribute__((constructor)) static void suite_add_##name(void) { suite_add(#name, name, 0); }              \
    static void name(__attribute__((unused)) void **state)

/* The same between a begin and an end. */
#define TEST_WITHIN(name, begin, end)                                                                           \
    static void name##_within(void);                                                                            \
    TEST(name)                                                                                                  \
    {                                                                                                           \
        begin();                                                                                                \
        name##_within();                                                                                        \
        end();                                                                                                  \
    }                                                                                                           \
    static void name##_within(void)

#endif
