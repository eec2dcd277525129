/* SPDX-License-Identifier: BSD-3-Clause */
/* What an adapter's two functions owe: they refuse in words, hand the table over, and leave nothing behind of a client that was refused. */
#include "conformance.h"
#include "fake_open.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int lowest_free_fd(void)
{
    const int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

static void null_is_refused_in_words(void **state)
{
    struct hilock_error error = {""};
    struct hilock_loop loop;
    hilock_client *client = NULL;
    void *native = loop_under_test.begin();
    (void)state;
    fake_open.calls = 0;
    assert_int_equal(loop_under_test.table(NULL, native), HILOCK_INVALID);
    assert_int_equal(loop_under_test.table(&loop, NULL), HILOCK_INVALID);
    assert_int_equal(loop_under_test.open(&client, NULL, NULL, &error), HILOCK_INVALID);
    assert_non_null(strstr(error.text, " is NULL: pass the "));
    assert_int_equal(loop_under_test.open(&client, NULL, NULL, NULL), HILOCK_INVALID);
    assert_null(client);
    assert_int_equal(fake_open.calls, 0);
    assert_true(loop_under_test.is_empty(native));
    loop_under_test.end(native);
}

static void open_hands_the_table_over(void **state)
{
    const struct hilock_client_options options = hilock_client_options_default();
    void *native = loop_under_test.begin();
    hilock_client *client = NULL;
    (void)state;
    fake_open = (struct fake_open){.answer = HILOCK_OK};
    assert_int_equal(loop_under_test.open(&client, native, &options, NULL), HILOCK_OK);
    assert_non_null(client);
    assert_int_equal(fake_open.calls, 1);
    assert_ptr_equal(fake_open.options, &options);
    assert_false(loop_under_test.is_empty(native));
    fake_open.loop.free_ctx(fake_open.loop.ctx);
    assert_true(loop_under_test.is_empty(native));
    loop_under_test.end(native);
}

/* A client that the library refuses leaves nothing, and the library's words reach the caller. */
static void refused_open_ends_the_ctx(void **state)
{
    void *native = loop_under_test.begin();
    struct hilock_error error = {""};
    hilock_client *client = NULL;
    const int fd = lowest_free_fd();
    (void)state;
    fake_open = (struct fake_open){.answer = HILOCK_UNSUPPORTED};
    assert_int_equal(loop_under_test.open(&client, native, NULL, &error), HILOCK_UNSUPPORTED);
    assert_int_equal(loop_under_test.open(&client, native, NULL, NULL), HILOCK_UNSUPPORTED);
    assert_string_equal(error.text, "refused by the fake");
    assert_null(client);
    assert_int_equal(fake_open.calls, 2);
    assert_true(loop_under_test.is_empty(native));
    assert_int_equal(lowest_free_fd(), fd);
    loop_under_test.end(native);
}

static void no_descriptor_left_is_said(void **state)
{
    void *native = loop_under_test.begin();
    struct rlimit old, none;
    struct hilock_error error = {""};
    struct hilock_loop loop;
    hilock_client *client = NULL;
    const int fd = lowest_free_fd();
    (void)state;
    fake_open.calls = 0;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = (struct rlimit){(rlim_t)fd, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(loop_under_test.open(&client, native, NULL, &error), HILOCK_NO_MEMORY);
    assert_int_equal(loop_under_test.table(&loop, native), HILOCK_NO_MEMORY);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_non_null(strstr(error.text, "raise the limit of open files"));
    assert_int_equal(fake_open.calls, 0);
    assert_true(loop_under_test.is_empty(native));
    assert_int_equal(lowest_free_fd(), fd);
    loop_under_test.end(native);
}

int conformance_open(void)
{
    const struct CMUnitTest open[] = {
        cmocka_unit_test(null_is_refused_in_words),
        cmocka_unit_test(open_hands_the_table_over),
        cmocka_unit_test(refused_open_ends_the_ctx),
        cmocka_unit_test(no_descriptor_left_is_said),
    };
    return cmocka_run_group_tests(open, NULL, NULL);
}
