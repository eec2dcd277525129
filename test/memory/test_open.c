/* SPDX-License-Identifier: BSD-3-Clause */
/* test_open - a store in memory is opened where it may be, refused in words where it may not, and leaves nothing behind in either case. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "raw.h"
#include "staged.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test memory%?-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    unsetenv("TMPDIR");
    return rmdir(folder); /* which fails if anything is left in it */
}

#define IN_FOLDER(name) STAGED(name, void, nothing, set_up, tear_down)

static hilock_status refused(const struct hilock_memory_options *options, int fails_at, struct hilock_error *ret_error)
{
    struct poll_loop *loop = poll_loop_new_jumping();
    struct hilock_loop table = poll_loop_table(loop);
    hilock_memory *memory = NULL;
    hilock_status status;
    poll_loop_fail(loop, fails_at);
    status = hilock_memory_open(&memory, &table, options, ret_error);
    if (memory)
        hilock_memory_close(memory);
    else
        table.free_ctx(table.ctx); /* it is still ours */
    assert_int_equal(poll_loop_end(loop), 0);
    return status;
}

IN_FOLDER(test_path)
{
    struct raw_store store, other;
    struct stat file;
    char path[96], text[16];
    int fd;
    snprintf(path, sizeof path, "%s/s", folder);
    store = raw_open(HILOCK_MEMORY_OPTIONS(.path = path));
    assert_string_equal(strrchr(hilock_memory_url(store.memory), '/'), "/s");
    assert_non_null(strstr(hilock_memory_url(store.memory), "/test%20memory%25%3F-"));
    other = raw_open(HILOCK_MEMORY_OPTIONS(.path = path)); /* as if the first one had died */
    raw_close(&other);
    raw_close(&store);
    assert_int_not_equal(stat(path, &file), 0);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(write(fd, "mine", 4), 4);
    assert_int_equal(refused(HILOCK_MEMORY_OPTIONS(.path = path), 0, NULL), HILOCK_NO_MEMORY);
    assert_int_equal(pread(fd, text, sizeof text, 0), 4);
    assert_int_equal(stat(path, &file), 0);
    close(fd);
    unlink(path);
}

IN_FOLDER(test_refusals)
{
    struct hilock_loop none = {.size = sizeof none};
    struct hilock_memory_options short_one = {.size = 8};
    struct hilock_error error;
    char path[200] = "/";
    hilock_memory *memory;
    assert_int_equal(hilock_memory_open(NULL, &none, NULL, &error), HILOCK_INVALID);
    assert_non_null(strstr(error.text, "ret_memory is NULL"));
    assert_int_equal(hilock_memory_open(&memory, NULL, NULL, &error), HILOCK_INVALID);
    assert_int_equal(hilock_memory_open(&memory, &none, NULL, &error), HILOCK_INVALID);
    assert_non_null(strstr(error.text, "loop is not complete"));
    assert_int_equal(refused(&short_one, 0, &error), HILOCK_INVALID);
    assert_non_null(strstr(error.text, "HILOCK_MEMORY_OPTIONS()"));
    assert_int_equal(refused(HILOCK_MEMORY_OPTIONS(.path = "store"), 0, &error), HILOCK_INVALID);
    assert_non_null(strstr(error.text, "must begin with /"));
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    assert_int_equal(refused(HILOCK_MEMORY_OPTIONS(.path = path), 0, &error), HILOCK_INVALID);
    assert_int_equal(refused(HILOCK_MEMORY_OPTIONS(.path = "/nowhere/at all"), 0, &error), HILOCK_NO_MEMORY);
    assert_non_null(strstr(error.text, "cannot listen"));
}

/* A loop that has no room, whichever call of its table tells it. */
IN_FOLDER(test_no_room)
{
    struct hilock_error error;
    int nth = 0;
    setenv("TMPDIR", folder, 1);
    while (refused(NULL, ++nth, &error) == HILOCK_NO_MEMORY)
        assert_non_null(strstr(error.text, "cannot listen"));
    assert_int_equal(nth, 4); /* timer, watch, interest */
}

IN_FOLDER(test_no_room_for_a_link)
{
    struct raw_store store = raw_open(NULL);
    int fd, is_open;
    for (int nth = 1; nth <= 2; nth++) {
        fd = raw_connect(&store);
        poll_loop_fail(store.loop, nth);
        assert_string_equal(raw_ask(&store, fd, "PING\r\n", 6, &is_open), "");
        assert_false(is_open);
        close(fd);
    }
    fd = raw_connect(&store);
    assert_string_equal(raw_say(&store, fd, "PING\r\n"), "+PONG\r\n");
    close(fd);
    raw_close(&store);
}

IN_FOLDER(test_places)
{
    char name[200], beginning[64];
    struct raw_store store;
    memset(name, 'x', sizeof name - 1);
    name[0] = '/', name[sizeof name - 1] = '\0';
    setenv("TMPDIR", name, 1); /* no address has room for it */
    store = raw_open(NULL);
    snprintf(beginning, sizeof beginning, "unix:///tmp/hilock-memory-");
    assert_int_equal(strncmp(hilock_memory_url(store.memory), beginning, strlen(beginning)), 0);
    raw_close(&store);
    setenv("TMPDIR", "/nowhere", 1);
    assert_int_equal(refused(NULL, 0, NULL), HILOCK_NO_MEMORY);
}

IN_FOLDER(test_password)
{
    struct raw_store store = raw_open(HILOCK_MEMORY_OPTIONS(.password = "pass-word"));
    int fd = raw_connect(&store);
    assert_null(strstr(hilock_memory_url(store.memory), "pass-word"));
    assert_string_equal(raw_say(&store, fd, "PING\r\n"), "-NOAUTH Authentication required.\r\n");
    assert_non_null(strstr(raw_say(&store, fd, "AUTH no\r\n"), "-WRONGPASS "));
    assert_string_equal(raw_say(&store, fd, "PING\r\n"), "-NOAUTH Authentication required.\r\n");
    assert_string_equal(raw_say(&store, fd, "AUTH default pass-word\r\n"), "+OK\r\n");
    assert_string_equal(raw_say(&store, fd, "PING\r\n"), "+PONG\r\n");
    assert_int_equal(hilock_memory_commands(store.memory), 5);
    close(fd);
    raw_close(&store);
}
