/* SPDX-License-Identifier: BSD-3-Clause */
/* How a link ends: by refusal, by the peer, and by its close, which is legal anywhere and silences it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link_suite.h"

UNOPENED_TRIAL(refused)
{
    close(trial->listener);
    trial->listener = fcntl(0, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(link_trial_open(trial), 0);
    assert_string_equal(trial->told, "");
    tells(trial, "down(Connection refused)");
    assert_int_equal(link_trial_send(trial, "PING"), -1);
    assert_int_equal(trial->factory.backlog(trial->link), 0);
}

UNOPENED_TRIAL(cannot_even_try)
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
    tells(trial, "down(No such file or directory)");
}

TRIAL(accepted_and_closed)
{
    link_trial_hang_up(trial);
    tells(trial, "up down(Server closed the connection)");
}

TRIAL(closed_within_a_reply)
{
    link_trial_ask(trial), link_trial_ask(trial);
    link_trial_hear(trial, "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n");
    link_trial_answer(trial, ":1\r\n*2\r\n:2\r\n$5\r\nab");
    link_trial_hang_up(trial);
    tells(trial, "up :1 down(Server closed the connection)");
}

UNOPENED_TRIAL(close_while_connecting)
{
    assert_int_equal(link_trial_open(trial), 0);
    link_trial_close(trial, 0);
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "");
}

UNOPENED_TRIAL(close_inside_up)
{
    trial->at_up = link_trial_close_it;
    assert_int_equal(link_trial_open(trial), 0);
    link_trial_until(trial, "up");
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "up");
}

TRIAL(close_inside_reply)
{
    trial->at_reply = link_trial_close_it;
    link_trial_ask(trial), link_trial_ask(trial), link_trial_ask(trial);
    link_trial_answer(trial, "+long enough to be seen freed\r\n:2\r\n:3\r\n");
    link_trial_until(trial, "freed");
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "up +long enough to be seen freed");
}

TRIAL(close_inside_down)
{
    trial->at_down = link_trial_close_it;
    link_trial_ask(trial);
    link_trial_hang_up(trial);
    link_trial_until(trial, "down");
    assert_null(trial->link);
}

static void close_at_leave(struct link_trial *trial)
{
    trial->at_leave = NULL;
    if (trial->link)
        link_trial_close(trial, 1);
}

TRIAL(close_inside_leave)
{
    link_trial_ask(trial), link_trial_ask(trial);
    trial->at_leave = close_at_leave;
    link_trial_answer(trial, ":1\r\n:2\r\n");
    link_trial_turns(trial, 3);
    assert_null(trial->link);
}

TRIAL_ON_TCP(reset_is_seen_by_the_peer)
{
    char byte;
    link_trial_close(trial, 1);
    assert_int_equal(recv(trial->peer, &byte, 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
}

TRIAL(plain_close_is_an_end)
{
    char byte;
    link_trial_close(trial, 0);
    assert_int_equal(recv(trial->peer, &byte, 1, 0), 0);
}
