/* SPDX-License-Identifier: BSD-3-Clause */
/* What an adapter's two functions owe: they refuse in words, hand the table over, and leave nothing behind of a client that was refused. */
#include "conformance.h"
#include "fake_open.h"

#include <string.h>

static int set_up(void **state)
{
    fake_open = (struct fake_open){.answer = HILOCK_OK};
    *state = loop_under_test.begin();
    return *state ? 0 : -1;
}

/* Nothing is left of what was opened or refused. */
static int tear_down(void **state)
{
    const int is_empty = loop_under_test.is_empty(*state);
    loop_under_test.end(*state);
    return is_empty ? 0 : -1;
}

#define OPENED(name) STAGED(name, void, native, set_up, tear_down)

OPENED(null_is_refused_in_words)
{
    struct hilock_error error = {""};
    struct hilock_loop loop;
    hilock_client *client = NULL;
    assert_int_equal(loop_under_test.table(NULL, native), HILOCK_INVALID);
    assert_int_equal(loop_under_test.table(&loop, NULL), HILOCK_INVALID);
    assert_int_equal(loop_under_test.open(&client, NULL, NULL, &error), HILOCK_INVALID);
    assert_non_null(strstr(error.text, " is NULL: pass the "));
    assert_int_equal(loop_under_test.open(&client, NULL, NULL, NULL), HILOCK_INVALID);
    assert_null(client);
    assert_int_equal(fake_open.calls, 0);
}

OPENED(open_hands_the_table_over)
{
    const struct hilock_client_options options = hilock_client_options_default();
    hilock_client *client = NULL;
    assert_int_equal(loop_under_test.open(&client, native, &options, NULL), HILOCK_OK);
    assert_non_null(client);
    assert_int_equal(fake_open.calls, 1);
    assert_ptr_equal(fake_open.options, &options);
    assert_false(loop_under_test.is_empty(native));
    fake_open.loop.free_ctx(fake_open.loop.ctx);
}

/* A client that the library refuses leaves nothing, and the library's words reach the caller. */
OPENED(refused_open_ends_the_ctx)
{
    struct hilock_error error = {""};
    hilock_client *client = NULL;
    const int fd = lowest_free_fd();
    fake_open.answer = HILOCK_UNSUPPORTED;
    assert_int_equal(loop_under_test.open(&client, native, NULL, &error), HILOCK_UNSUPPORTED);
    assert_int_equal(loop_under_test.open(&client, native, NULL, NULL), HILOCK_UNSUPPORTED);
    assert_string_equal(error.text, "refused by the fake");
    assert_null(client);
    assert_int_equal(fake_open.calls, 2);
    assert_int_equal(lowest_free_fd(), fd);
}

OPENED(no_descriptor_left_is_said)
{
    struct hilock_error error = {""};
    struct hilock_loop loop;
    hilock_client *client = NULL;
    const int fd = lowest_free_fd();
    limit_fds(fd);
    assert_int_equal(loop_under_test.open(&client, native, NULL, &error), HILOCK_NO_MEMORY);
    assert_int_equal(loop_under_test.table(&loop, native), HILOCK_NO_MEMORY);
    limit_fds(0);
    assert_non_null(strstr(error.text, "raise the limit of open files"));
    assert_int_equal(fake_open.calls, 0);
    assert_int_equal(lowest_free_fd(), fd);
}
