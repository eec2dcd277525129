/* SPDX-License-Identifier: BSD-3-Clause */
/* Every status of the header has its name and one sentence of its own; any other number has an answer too. */
#include <stdlib.h>

#include <hilock/hilock.h>

#include "suite.h"

#define NAMES(X)                                                                                                                      \
    X(OK) X(INVALID) X(NO_MEMORY) X(CLOSED) X(IN_USE) X(TOO_MANY_WAITERS) X(NOT_HELD) X(NOT_PENDING) X(WRONG_THREAD) X(FORKED)        \
    X(UNSUPPORTED) X(BAD_NAME) X(TIMED_OUT) X(CANCELLED) X(LOST) X(UNREACHABLE) X(DENIED) X(WRONG_KIND) X(UNWRITABLE)                 \
    X(NOT_REPLICATED) X(SERVER) X(PROTOCOL) X(QUEUE_FULL) X(UNKNOWN)

static const struct { hilock_status status; const char *name; } all[] = {
#define NAME(name) {HILOCK_##name, #name},
    NAMES(NAME)
#undef NAME
};
enum { COUNT = sizeof all / sizeof *all };

TEST(test_names)
{
    for (size_t i = 0; i < COUNT; i++)
        assert_string_equal(hilock_status_name(all[i].status), all[i].name);
}

TEST(test_sentences)
{
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(strlen(hilock_status_text(all[i].status)) > 3);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(hilock_status_text(all[i].status), hilock_status_text(all[j].status));
    }
}

static int is_known(int number)
{
    for (size_t i = 0; i < COUNT; i++)
        if ((int)all[i].status == number)
            return 1;
    return 0;
}

TEST(test_other_numbers)
{
    for (int number = -200; number <= 200; number++) {
        assert_int_equal(strcmp(hilock_status_name((hilock_status)number), "?") == 0, !is_known(number));
        assert_int_equal(strcmp(hilock_status_text((hilock_status)number), "not a status of this version") == 0, !is_known(number));
    }
}
