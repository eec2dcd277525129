/* SPDX-License-Identifier: BSD-3-Clause */
/* The struct around a member is found wherever the member stands, of a const one as const, and the pointer is evaluated
 * once. That another pointer does not compile is in test/build/selfcheck.py. */
#include "base/container.h"
#include "suite.h"

struct inner { char first, second; };

struct outer {
    int before;
    struct inner inner;
    char last[3];
};

static int calls;

static char *last_of(struct outer *outer)
{
    calls++;
    return &outer->last[2];
}

TEST(test_the_struct_around_a_member_is_found)
{
    struct outer outer = {.before = 7};
    const struct inner *inner = &outer.inner;
    assert_ptr_equal(HL_CONTAINER(&outer.before, struct outer, before), &outer);
    assert_ptr_equal(HL_CONTAINER(&outer.inner, struct outer, inner), &outer);
    assert_ptr_equal(HL_CONTAINER(&outer.inner.second, struct outer, inner.second), &outer);
    assert_ptr_equal(HL_CONTAINER(inner, const struct outer, inner), &outer);
    assert_int_equal(HL_CONTAINER(inner, const struct outer, inner)->before, 7);
    assert_ptr_equal(HL_CONTAINER(last_of(&outer), struct outer, last[2]), &outer);
    assert_int_equal(calls, 1);
}
