/* SPDX-License-Identifier: BSD-3-Clause */
/* How a link ends: by refusal, by the peer, and by its close, which is legal anywhere and silences it. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link_trial.h"

#include <cmocka.h>

static void refused(struct link_trial *trial)
{
    close(trial->listener);
    trial->listener = fcntl(0, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(link_trial_open(trial), 0);
    assert_string_equal(trial->told, "");
    link_trial_until(trial, "down");
    assert_string_equal(trial->told, "down(Connection refused)");
    assert_int_equal(link_trial_send(trial, "PING"), -1);
    assert_int_equal(trial->factory.backlog(trial->link), 0);
}
LINK_TEST(refused)

static void cannot_even_try(struct link_trial *trial)
{
    static const struct hl_link_events none = {NULL, NULL, NULL};
    const struct hl_link_target nowhere = {"/nonexistent/hilock", NULL, 0, NULL};
    char path[sizeof trial->path];
    struct hl_link *link = trial->factory.open(NULL, &trial->host, &nowhere, &none, NULL);
    assert_non_null(link);
    trial->factory.close(link, 1); /* before it could tell */
    strcpy(path, trial->path);
    strcpy(trial->path, "/nonexistent/hilock");
    assert_int_equal(link_trial_open(trial), 0);
    strcpy(trial->path, path);
    link_trial_until(trial, "down");
    assert_string_equal(trial->told, "down(No such file or directory)");
}
LINK_TEST(cannot_even_try)

static void accepted_and_closed(struct link_trial *trial)
{
    link_trial_connect(trial);
    link_trial_hang_up(trial);
    link_trial_until(trial, "down");
    assert_string_equal(trial->told, "up down(Server closed the connection)");
}
LINK_TEST(accepted_and_closed)

static void closed_within_a_reply(struct link_trial *trial)
{
    link_trial_connect(trial);
    link_trial_ask(trial), link_trial_ask(trial);
    link_trial_hear(trial, "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n");
    link_trial_answer(trial, ":1\r\n*2\r\n:2\r\n$5\r\nab");
    link_trial_hang_up(trial);
    link_trial_until(trial, "down");
    assert_string_equal(trial->told, "up :1 down(Server closed the connection)");
}
LINK_TEST(closed_within_a_reply)

static void close_while_connecting(struct link_trial *trial)
{
    assert_int_equal(link_trial_open(trial), 0);
    link_trial_close(trial, 0);
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "");
}
LINK_TEST(close_while_connecting)

static void close_inside_up(struct link_trial *trial)
{
    trial->at_up = link_trial_close_it;
    assert_int_equal(link_trial_open(trial), 0);
    link_trial_until(trial, "up");
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "up");
}
LINK_TEST(close_inside_up)

static void close_inside_reply(struct link_trial *trial)
{
    link_trial_connect(trial);
    trial->at_reply = link_trial_close_it;
    link_trial_ask(trial), link_trial_ask(trial), link_trial_ask(trial);
    link_trial_answer(trial, "+long enough to be seen freed\r\n:2\r\n:3\r\n");
    link_trial_until(trial, "freed");
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "up +long enough to be seen freed");
}
LINK_TEST(close_inside_reply)

static void close_inside_down(struct link_trial *trial)
{
    link_trial_connect(trial);
    trial->at_down = link_trial_close_it;
    link_trial_ask(trial);
    link_trial_hang_up(trial);
    link_trial_until(trial, "down");
    assert_null(trial->link);
}
LINK_TEST(close_inside_down)

static void close_at_leave(struct link_trial *trial)
{
    trial->at_leave = NULL;
    if (trial->link)
        link_trial_close(trial, 1);
}

static void close_inside_leave(struct link_trial *trial)
{
    link_trial_connect(trial);
    link_trial_ask(trial), link_trial_ask(trial);
    trial->at_leave = close_at_leave;
    link_trial_answer(trial, ":1\r\n:2\r\n");
    link_trial_turns(trial, 3);
    assert_null(trial->link);
}
LINK_TEST(close_inside_leave)

static void reset_is_seen_by_the_peer(struct link_trial *trial)
{
    char byte;
    link_trial_connect(trial);
    link_trial_close(trial, 1);
    assert_int_equal(recv(trial->peer, &byte, 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
}
LINK_TEST_TCP(reset_is_seen_by_the_peer)

static void plain_close_is_an_end(struct link_trial *trial)
{
    char byte;
    link_trial_connect(trial);
    link_trial_close(trial, 0);
    assert_int_equal(recv(trial->peer, &byte, 1, 0), 0);
}
LINK_TEST(plain_close_is_an_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cannot_even_try),
        cmocka_unit_test(test_accepted_and_closed),
        cmocka_unit_test(test_closed_within_a_reply),
        cmocka_unit_test(test_close_while_connecting),
        cmocka_unit_test(test_close_inside_up),
        cmocka_unit_test(test_close_inside_reply),
        cmocka_unit_test(test_close_inside_down),
        cmocka_unit_test(test_close_inside_leave),
        cmocka_unit_test(test_reset_is_seen_by_the_peer),
        cmocka_unit_test(test_plain_close_is_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
