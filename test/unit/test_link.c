/* SPDX-License-Identifier: BSD-3-Clause */
/* A link on a unix socket and on TCP: replies, streams, its descriptor, and what can run out; and how it ends: by
 * refusal, by the peer, and by its close, which is legal anywhere and silences it. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link_suite.h"

/* ---- replies ---- */

TRIAL(all_types)
{
    for (int i = 0; i < 7; i++)
        link_trial_ask(trial);
    link_trial_answer(trial, ":-5\r\n+OK\r\n-ERR no\r\n$3\r\na\r\n\r\n$-1\r\n*-1\r\n*3\r\n:1\r\n*2\r\n$0\r\n\r\n$-1\r\n*0\r\n");
    tells(trial, "up :-5 +OK -ERR no $a\\x0d\\x0a nil nil [:1 [$ nil] []]");
}

UNOPENED_TRIAL(long_arrays_are_seen_whole)
{
    char bytes[1000] = "*100\r\n";
    for (int i = 0; i < 100; i++)
        strcat(bytes, ":1\r\n");
    link_trial_connect(trial);
    for (int i = 0; i < 3; i++) { /* a long one, one that gives its memory back, a long one again */
        link_trial_ask(trial), link_trial_ask(trial);
        link_trial_answer(trial, bytes), link_trial_answer(trial, "*1\r\n:2\r\n");
        link_trial_until(trial, "[:2]");
        assert_true(trial->memory.bytes < 2000);
        assert_int_equal(strlen(trial->told), strlen("up [") + 100 * 3 - 1 + strlen("] [:2]"));
        trial->told_length = (size_t)sprintf(trial->told, "up");
    }
}

/* ---- streams ---- */

static void to_stream(struct link_trial *trial)
{
    trial->at_reply = NULL;
    trial->factory.stream(trial->link);
    assert_int_equal(link_trial_send(trial, "SUBSCRIBE c"), 0);
}

TRIAL(stream_from_inside_the_last_reply)
{
    trial->at_reply = to_stream;
    link_trial_ask(trial);
    link_trial_answer(trial, "+PONG\r\n");
    link_trial_until(trial, "+PONG");
    link_trial_hear(trial, "*1\r\n$4\r\nPING\r\n*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n");
    link_trial_answer(trial, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n-ERR no\r\n*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n*3\r\n$7\r\nmess");
    link_trial_until(trial, "$0]");
    link_trial_answer(trial, "age\r\n$1\r\nc\r\n$1\r\n1\r\n");
    tells(trial, "up +PONG [$subscribe $c :1] -ERR no [$message $c $0] [$message $c $1]");
    assert_int_equal(link_trial_send(trial, "UNSUBSCRIBE c"), 0);
    link_trial_hear(trial, "*2\r\n$11\r\nUNSUBSCRIBE\r\n$1\r\nc\r\n");
    link_trial_hang_up(trial);
    link_trial_until(trial, "down(Server closed the connection)");
}

/* ---- a turn where the client may not act ---- */

static unsigned refusals;

static hilock_status refuse(void *arg) { return (void)arg, refusals++, HILOCK_WRONG_THREAD; }

TRIAL(on_a_turn_that_is_refused_nothing_is_read)
{
    link_trial_ask(trial);
    link_trial_turns(trial, 1);
    trial->host.begin_turn = refuse;
    link_trial_answer(trial, "+PONG\r\n");
    refusals = 0;
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "up");
    assert_int_equal(refusals, 1); /* it looks away, until a timer calls */
    trial->host.begin_turn = NULL;
    tells(trial, "up +PONG");
    link_trial_ask(trial);
    link_trial_answer(trial, "+AGAIN\r\n"); /* its descriptor is watched again */
    tells(trial, "up +PONG +AGAIN");
}

TRIAL(one_that_cannot_be_watched_again_after_such_a_turn_ends)
{
    link_trial_ask(trial);
    link_trial_turns(trial, 1);
    trial->host.begin_turn = refuse;
    link_trial_answer(trial, "+PONG\r\n");
    link_trial_turns(trial, 3);
    trial->host.begin_turn = NULL;
    poll_loop_refuse_watching(trial->loop, 1);
    tells(trial, "up +PONG down(the loop cannot watch the connection)");
}

/* ---- the descriptor ---- */

static int find_fd(const struct link_trial *trial)
{
    struct sockaddr_in name;
    for (int fd = 0; fd < 100; fd++) {
        socklen_t length = sizeof name;
        if (getpeername(fd, (struct sockaddr *)&name, &length) == 0 && ntohs(name.sin_port) == trial->port)
            return fd;
    }
    fail_msg("the link has no descriptor");
    return -1;
}

static hilock_status is_a_child(void *arg) { return (void)arg, HILOCK_FORKED; }

/* The parent's connection ends with the parent, and the loop is called no more. */
TRIAL_ON_TCP(in_a_forked_child_its_descriptor_leads_nowhere)
{
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    int fd = find_fd(trial);
    trial->host.begin_turn = is_a_child;
    link_trial_answer(trial, "+PONG\r\n");
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "up");
    assert_int_equal(getpeername(fd, (struct sockaddr *)&name, &length), -1);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    trial->host.begin_turn = NULL;
}

/* So the socket in between has number 0. */
TRIAL_ON_TCP(in_a_forked_child_without_stdin_no_descriptor_is_left_open)
{
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 3);
    close(0);
    trial->host.begin_turn = is_a_child;
    link_trial_answer(trial, "+PONG\r\n");
    link_trial_turns(trial, 3);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    assert_int_equal(dup2(saved, 0), 0);
    close(saved);
    trial->host.begin_turn = NULL;
}

static unsigned watched;

static int count_watched(void *watch, unsigned interest) { return (void)watch, (void)interest, watched++, 0; }

/* Its own one would be needed, for the loop may share its set of watches with the parent. */
TRIAL_ON_TCP(in_a_forked_child_without_a_descriptor_to_spare_no_watch_is_touched)
{
    int (*set)(void *, unsigned) = trial->host.loop.watch_set;
    struct rlimit limit, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = limit;
    few.rlim_cur = 3;
    trial->host.begin_turn = is_a_child;
    trial->host.loop.watch_set = count_watched;
    watched = 0;
    link_trial_answer(trial, "+PONG\r\n");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    link_trial_turns(trial, 3);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(watched, 0);
    trial->host.loop.watch_set = set;
    trial->host.begin_turn = NULL;
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof value;
    assert_int_equal(getsockopt(fd, level, name, &value, &length), 0);
    return value;
}

TRIAL_ON_TCP(descriptor_is_tuned)
{
    int fd = find_fd(trial);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_int_equal(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 15);
}

UNOPENED_TRIAL(stdin_was_closed)
{
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 3);
    close(0);
    assert_int_equal(link_trial_open(trial), 0);
    assert_int_equal(fcntl(0, F_GETFD), -1); /* the link has moved away from 0 */
    assert_int_equal(dup2(saved, 0), 0);
    close(saved);
    link_trial_until(trial, "up");
}

UNOPENED_TRIAL(watching_refused_at_once)
{
    poll_loop_refuse_watching(trial->loop, 1);
    assert_int_equal(link_trial_open(trial), 0);
    tells(trial, "down(the loop cannot watch the connection)");
}

/* ---- what can run out ---- */

UNOPENED_TRIAL(every_allocation_fails_once)
{
    int failures = 0;
    trial->memory.fails = 1;
    for (int is_failing = 1; is_failing; failures++) {
        trial->told_length = 0, trial->told[0] = '\0', trial->is_up = trial->is_down = 0;
        trial->memory.fail_at = trial->memory.asked + 1 + (uint64_t)failures;
        if (link_trial_open(trial) != 0)
            continue;
        link_trial_until(trial, "up");
        trial->peer = accept4(trial->listener, NULL, NULL, SOCK_CLOEXEC);
        link_trial_ask(trial), link_trial_ask(trial), link_trial_ask(trial);
        link_trial_answer(trial, ":1\r\n*1\r\n:2\r\n:3\r\n");
        link_trial_turns(trial, 5);
        is_failing = trial->is_down;
        assert_string_equal(trial->told, is_failing ? "up :1 down(out of memory for the server's answer)" : "up :1 [:2] :3");
        link_trial_close(trial, 0);
        link_trial_hang_up(trial);
    }
    trial->memory.fail_at = 0;
    assert_int_equal(failures, 4); /* the link, its timer, the items; and none */
}

/* ---- the end ---- */

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
