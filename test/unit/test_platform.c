/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in for functions that a system lacks does the same as they do where they are. */
#include <signal.h>
#include <string.h>

#undef HL_HAS_MEMPCPY
#undef HL_HAS_MEMRCHR
#undef HL_HAS_EXPLICIT_BZERO
#undef HL_HAS_SIGTIMEDWAIT
#include "base/platform.h"
#include "suite.h"

TEST(test_bytes)
{
    char bytes[] = "abcabc";
    assert_ptr_equal(memrchr(bytes, 'a', 6), bytes + 3);
    assert_ptr_equal(memrchr(bytes, 'a', 3), bytes);
    assert_null(memrchr(bytes, 'c', 2));
    assert_null(memrchr(bytes, 'a', 0));
    bytes[1] = '\xff';
    assert_ptr_equal(memrchr(bytes, '\xff', 6), bytes + 1);
    assert_ptr_equal(mempcpy(bytes, "xy", 2), bytes + 2);
    assert_memory_equal(bytes, "xycabc", 6);
    explicit_bzero(bytes + 1, 4);
    assert_memory_equal(bytes, "x\0\0\0\0c", 6);
}

static int pends(void)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE);
}

TEST(test_a_signal_that_pends_is_taken_and_none_is_waited_for)
{
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &pipe, NULL), 0);
    hl_platform_take_signal(&pipe, SIGPIPE);
    raise(SIGPIPE);
    assert_int_equal(pends(), 1);
    hl_platform_take_signal(&pipe, SIGPIPE);
    assert_int_equal(pends(), 0);
}

TEST(test_the_program_has_a_name) { assert_string_equal(hl_platform_program(), "test_platform"); }
