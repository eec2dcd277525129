/* SPDX-License-Identifier: BSD-3-Clause */
/* A link's life between two honest ends, on a unix socket and on TCP: what is told, when, what is written, and what is left. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link_trial.h"

#include <cmocka.h>

static unsigned sends;

/* Stands before libc's: the link's writes are counted, and none may raise SIGPIPE. */
ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    sends++;
    assert_true(flags & MSG_NOSIGNAL);
    return sendto(fd, bytes, length, flags, NULL, 0);
}

static void on(const char *family, link_trial_fn *test)
{
    struct link_trial trial;
    link_trial_begin(&trial, family);
    test(&trial);
    link_trial_end(&trial);
}

#define TEST(name) static void test_##name(void **state) { (void)state; on("unix", name); on("tcp", name); }
#define TEST_TCP(name) static void test_##name(void **state) { (void)state; on("tcp", name); }

static void say(struct link_trial *trial, const char *bytes) { link_trial_say(trial, bytes, strlen(bytes)); }
static void ask(struct link_trial *trial) { assert_int_equal(link_trial_send(trial, "PING"), 0); }
static void close_it(struct link_trial *trial) { link_trial_close(trial, 0); }

/* ---- replies ---- */

static void all_types(struct link_trial *trial)
{
    link_trial_connect(trial);
    for (int i = 0; i < 7; i++)
        ask(trial);
    say(trial, ":-5\r\n+OK\r\n-ERR no\r\n$3\r\na\r\n\r\n$-1\r\n*-1\r\n*3\r\n:1\r\n*2\r\n$0\r\n\r\n$-1\r\n*0\r\n");
    link_trial_until(trial, "[]]");
    assert_string_equal(trial->told, "up :-5 +OK -ERR no $a\\x0d\\x0a nil nil [:1 [$ nil] []]");
}
TEST(all_types)

static void byte_by_byte(struct link_trial *trial)
{
    static const char bytes[] = "*2\r\n$2\r\nab\r\n*1\r\n+x\r\n:7\r\n";
    link_trial_connect(trial);
    ask(trial), ask(trial);
    link_trial_hear(trial, "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n");
    for (size_t i = 0; i + 1 < sizeof bytes; i++) {
        link_trial_say(trial, bytes + i, 1);
        link_trial_turns(trial, 1);
    }
    link_trial_until(trial, ":7");
    assert_string_equal(trial->told, "up [$ab [+x]] :7");
}
TEST(byte_by_byte)

static void long_arrays_are_seen_whole(struct link_trial *trial)
{
    char bytes[1000] = "*100\r\n";
    for (int i = 0; i < 100; i++)
        strcat(bytes, ":1\r\n");
    link_trial_connect(trial);
    for (int i = 0; i < 3; i++) { /* a long one, one that gives its memory back, a long one again */
        ask(trial), ask(trial);
        say(trial, bytes), say(trial, "*1\r\n:2\r\n");
        link_trial_until(trial, "[:2]");
        assert_true(trial->bytes < 2000);
        assert_int_equal(strlen(trial->told), strlen("up [") + 100 * 3 - 1 + strlen("] [:2]"));
        trial->told_length = (size_t)sprintf(trial->told, "up");
    }
}
TEST(long_arrays_are_seen_whole)

/* ---- writing ---- */

static void ask_hundred(struct link_trial *trial)
{
    trial->at_up = NULL;
    for (int i = 0; i < 100; i++)
        ask(trial);
}

static void one_write_a_turn(struct link_trial *trial)
{
    sends = 0;
    trial->at_up = ask_hundred;
    link_trial_connect(trial);
    assert_int_equal(sends, 1);
    assert_int_equal(trial->factory.backlog(trial->link), 0);
    ask_hundred(trial); /* from outside the loop: on a later turn */
    assert_int_equal(sends, 1);
    assert_int_equal(trial->factory.backlog(trial->link), 100 * strlen("*1\r\n$4\r\nPING\r\n"));
    link_trial_turns(trial, 2);
    assert_int_equal(sends, 2);
}
TEST(one_write_a_turn)

enum { MANY = 10000 };

static void ask_many(struct link_trial *trial)
{
    trial->at_up = NULL;
    for (int i = 0; i < MANY; i++)
        ask(trial);
}

static size_t drain(struct link_trial *trial)
{
    static char heap[1 << 16];
    ssize_t got = recv(trial->peer, heap, sizeof heap, MSG_DONTWAIT);
    return got > 0 ? (size_t)got : 0;
}

static void ten_thousand_in_few_writes(struct link_trial *trial)
{
    const size_t length = MANY * strlen("*1\r\n$4\r\nPING\r\n");
    size_t got = 0;
    char reply[32];
    sends = 0;
    trial->at_up = ask_many;
    link_trial_connect(trial);
    while (got < length) {
        got += drain(trial);
        link_trial_turns(trial, 1);
    }
    assert_int_equal(got, length);
    assert_true(sends < 20);
    for (int i = 0; i < MANY; i++) {
        snprintf(reply, sizeof reply, ":%d\r\n", i);
        say(trial, reply);
    }
    while (trial->replies < MANY)
        link_trial_turns(trial, 1);
    assert_false(trial->is_down);
}
TEST(ten_thousand_in_few_writes)

/* Until the peer, which does not read, has no room left. */
static size_t fill(struct link_trial *trial)
{
    size_t sent = 0;
    link_trial_connect(trial);
    while (trial->factory.backlog(trial->link) == 0) {
        ask_many(trial);
        sent += MANY * strlen("*1\r\n$4\r\nPING\r\n");
        link_trial_turns(trial, 2);
        assert_true(sent < (size_t)1 << 30);
    }
    return sent;
}

static void peer_that_does_not_read(struct link_trial *trial)
{
    const size_t length = strlen("*1\r\n$4\r\nPING\r\n");
    size_t sent = fill(trial), got = 0, backlog;
    backlog = trial->factory.backlog(trial->link);
    sends = 0;
    ask(trial), link_trial_turns(trial, 5); /* it waits for room, and does not ask again and again */
    sent += length;
    assert_int_equal(sends, 0);
    assert_int_equal(trial->factory.backlog(trial->link), backlog + length);
    while (got < sent) {
        got += drain(trial);
        link_trial_turns(trial, 1);
    }
    assert_int_equal(got, sent);
    assert_int_equal(trial->factory.backlog(trial->link), 0);
    ask(trial), say(trial, "+OK\r\n");
    link_trial_until(trial, "+OK");
}
TEST(peer_that_does_not_read)

static void lost_with_a_backlog(struct link_trial *trial)
{
    fill(trial);
    link_trial_hang_up(trial);
    link_trial_until(trial, "down");
    assert_string_equal(trial->told, "up down(Connection reset by peer)");
}
TEST(lost_with_a_backlog)

static void closed_with_a_backlog(struct link_trial *trial)
{
    fill(trial);
    trial->at_reply = close_it;
    say(trial, "+OK\r\n");
    while (drain(trial)) /* room: both ways are ready at once */
        continue;
    sends = 0;
    link_trial_until(trial, "+OK");
    link_trial_turns(trial, 2);
    assert_int_equal(sends, 0);
}
TEST(closed_with_a_backlog)

/* Each leave writes, before anything can be read. TCP: the first is answered by a reset, the next meets it. */
static void write_into_the_end(struct link_trial *trial)
{
    ask(trial);
    say(trial, "-ERR last words\r\n");
    link_trial_hang_up(trial);
    for (int i = 0; i < 3; i++) {
        hl_host_enter(&trial->host);
        (void)link_trial_send(trial, "PING");
        hl_host_leave(&trial->host);
    }
}

static void send_into_a_closed_peer(struct link_trial *trial)
{
    link_trial_connect(trial);
    assert_ptr_equal(signal(SIGPIPE, SIG_DFL), SIG_DFL);
    write_into_the_end(trial);
    assert_int_equal(link_trial_send(trial, "PING"), -1);
    link_trial_until(trial, "down");
    assert_string_equal(trial->told, "up -ERR last words down(Broken pipe)"); /* what came before it was lost is heard */
    assert_int_equal(link_trial_send(trial, "PING"), -1);
}
TEST(send_into_a_closed_peer)

/* ---- ends ---- */

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
TEST(refused)

static void cannot_even_try(struct link_trial *trial)
{
    static const struct hl_link_events none = {NULL, NULL, NULL};
    const struct hl_link_target nowhere = {"/nonexistent/hilock", NULL, 0};
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
TEST(cannot_even_try)

static void accepted_and_closed(struct link_trial *trial)
{
    link_trial_connect(trial);
    link_trial_hang_up(trial);
    link_trial_until(trial, "down");
    assert_string_equal(trial->told, "up down(Server closed the connection)");
}
TEST(accepted_and_closed)

static void closed_within_a_reply(struct link_trial *trial)
{
    link_trial_connect(trial);
    ask(trial), ask(trial);
    link_trial_hear(trial, "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n");
    say(trial, ":1\r\n*2\r\n:2\r\n$5\r\nab");
    link_trial_hang_up(trial);
    link_trial_until(trial, "down");
    assert_string_equal(trial->told, "up :1 down(Server closed the connection)");
}
TEST(closed_within_a_reply)

static void close_while_connecting(struct link_trial *trial)
{
    assert_int_equal(link_trial_open(trial), 0);
    link_trial_close(trial, 0);
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "");
}
TEST(close_while_connecting)

static void close_inside_up(struct link_trial *trial)
{
    trial->at_up = close_it;
    assert_int_equal(link_trial_open(trial), 0);
    link_trial_until(trial, "up");
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "up");
}
TEST(close_inside_up)

static void close_inside_reply(struct link_trial *trial)
{
    link_trial_connect(trial);
    trial->at_reply = close_it;
    ask(trial), ask(trial), ask(trial);
    say(trial, "+long enough to be seen freed\r\n:2\r\n:3\r\n");
    link_trial_until(trial, "freed");
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "up +long enough to be seen freed");
}
TEST(close_inside_reply)

static void close_inside_down(struct link_trial *trial)
{
    link_trial_connect(trial);
    trial->at_down = close_it;
    ask(trial);
    link_trial_hang_up(trial);
    link_trial_until(trial, "down");
    assert_null(trial->link);
}
TEST(close_inside_down)

static void close_at_leave(struct link_trial *trial)
{
    trial->at_leave = NULL;
    if (trial->link)
        link_trial_close(trial, 1);
}

static void close_inside_leave(struct link_trial *trial)
{
    link_trial_connect(trial);
    ask(trial), ask(trial);
    trial->at_leave = close_at_leave;
    say(trial, ":1\r\n:2\r\n");
    link_trial_turns(trial, 3);
    assert_null(trial->link);
}
TEST(close_inside_leave)

static void fail_then_close(struct link_trial *trial) /* a failure is under way when it is closed */
{
    link_trial_connect(trial);
    write_into_the_end(trial);
    link_trial_close(trial, 0);
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "up");
}
TEST(fail_then_close)

static void reset_is_seen_by_the_peer(struct link_trial *trial)
{
    char byte;
    link_trial_connect(trial);
    link_trial_close(trial, 1);
    assert_int_equal(recv(trial->peer, &byte, 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
}
TEST_TCP(reset_is_seen_by_the_peer)

static void plain_close_is_an_end(struct link_trial *trial)
{
    char byte;
    link_trial_connect(trial);
    link_trial_close(trial, 0);
    assert_int_equal(recv(trial->peer, &byte, 1, 0), 0);
}
TEST(plain_close_is_an_end)

/* ---- streams ---- */

static void to_stream(struct link_trial *trial)
{
    trial->at_reply = NULL;
    trial->factory.stream(trial->link);
    assert_int_equal(link_trial_send(trial, "SUBSCRIBE c"), 0);
}

static void stream_from_inside_the_last_reply(struct link_trial *trial)
{
    link_trial_connect(trial);
    trial->at_reply = to_stream;
    ask(trial);
    say(trial, "+PONG\r\n");
    link_trial_until(trial, "+PONG");
    link_trial_hear(trial, "*1\r\n$4\r\nPING\r\n*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n");
    say(trial, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n-ERR no\r\n*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n*3\r\n$7\r\nmess");
    link_trial_until(trial, "$0]");
    say(trial, "age\r\n$1\r\nc\r\n$1\r\n1\r\n");
    link_trial_until(trial, "$1]");
    assert_string_equal(trial->told, "up +PONG [$subscribe $c :1] -ERR no [$message $c $0] [$message $c $1]");
    assert_int_equal(link_trial_send(trial, "UNSUBSCRIBE c"), 0);
    link_trial_hear(trial, "*2\r\n$11\r\nUNSUBSCRIBE\r\n$1\r\nc\r\n");
    link_trial_hang_up(trial);
    link_trial_until(trial, "down(Server closed the connection)");
}
TEST(stream_from_inside_the_last_reply)

static void stream_closed_inside_a_message(struct link_trial *trial)
{
    link_trial_connect(trial);
    trial->factory.stream(trial->link);
    trial->at_reply = close_it;
    say(trial, "+long enough to be seen freed\r\n:2\r\n:3\r\n");
    link_trial_until(trial, "freed");
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "up +long enough to be seen freed");
}
TEST(stream_closed_inside_a_message)

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

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof value;
    assert_int_equal(getsockopt(fd, level, name, &value, &length), 0);
    return value;
}

static void descriptor_is_tuned(struct link_trial *trial)
{
    int fd;
    link_trial_connect(trial);
    fd = find_fd(trial);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_int_equal(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 15);
}
TEST_TCP(descriptor_is_tuned)

static void stdin_was_closed(struct link_trial *trial)
{
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 3);
    close(0);
    assert_int_equal(link_trial_open(trial), 0);
    assert_int_equal(fcntl(0, F_GETFD), -1); /* the link has moved away from 0 */
    assert_int_equal(dup2(saved, 0), 0);
    close(saved);
    link_trial_until(trial, "up");
}
TEST(stdin_was_closed)

/* ---- what can run out ---- */

static void watching_refused_at_once(struct link_trial *trial)
{
    poll_loop_refuse_watching(trial->loop, 1);
    assert_int_equal(link_trial_open(trial), 0);
    link_trial_until(trial, "down");
    assert_string_equal(trial->told, "down(the loop cannot watch the connection)");
}
TEST(watching_refused_at_once)

static void watching_refused_later(struct link_trial *trial)
{
    link_trial_connect(trial);
    poll_loop_refuse_watching(trial->loop, 1);
    while (link_trial_send(trial, "PING") == 0) { /* until a write is short */
        ask_many(trial);
        link_trial_turns(trial, 1);
    }
    link_trial_until(trial, "down");
    assert_string_equal(trial->told, "up down(the loop cannot watch the connection)");
}
TEST(watching_refused_later)

static void every_allocation_fails_once(struct link_trial *trial)
{
    int failures = 0;
    for (int is_failing = 1; is_failing; failures++) {
        trial->told_length = 0, trial->told[0] = '\0', trial->is_up = trial->is_down = 0;
        trial->blocks_fail = failures;
        if (link_trial_open(trial) != 0)
            continue;
        link_trial_until(trial, "up");
        trial->peer = accept4(trial->listener, NULL, NULL, SOCK_CLOEXEC);
        ask(trial), ask(trial), ask(trial);
        say(trial, ":1\r\n*1\r\n:2\r\n:3\r\n");
        link_trial_turns(trial, 5);
        is_failing = trial->is_down;
        assert_string_equal(trial->told, is_failing ? "up :1 down(out of memory for the server's answer)" : "up :1 [:2] :3");
        link_trial_close(trial, 0);
        link_trial_hang_up(trial);
    }
    trial->blocks_fail = -1;
    assert_int_equal(failures, 3); /* the link, the items; and none */
}
TEST(every_allocation_fails_once)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_types),
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_long_arrays_are_seen_whole),
        cmocka_unit_test(test_one_write_a_turn),
        cmocka_unit_test(test_ten_thousand_in_few_writes),
        cmocka_unit_test(test_peer_that_does_not_read),
        cmocka_unit_test(test_lost_with_a_backlog),
        cmocka_unit_test(test_closed_with_a_backlog),
        cmocka_unit_test(test_send_into_a_closed_peer),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cannot_even_try),
        cmocka_unit_test(test_accepted_and_closed),
        cmocka_unit_test(test_closed_within_a_reply),
        cmocka_unit_test(test_close_while_connecting),
        cmocka_unit_test(test_close_inside_up),
        cmocka_unit_test(test_close_inside_reply),
        cmocka_unit_test(test_close_inside_down),
        cmocka_unit_test(test_close_inside_leave),
        cmocka_unit_test(test_fail_then_close),
        cmocka_unit_test(test_reset_is_seen_by_the_peer),
        cmocka_unit_test(test_plain_close_is_an_end),
        cmocka_unit_test(test_stream_from_inside_the_last_reply),
        cmocka_unit_test(test_stream_closed_inside_a_message),
        cmocka_unit_test(test_descriptor_is_tuned),
        cmocka_unit_test(test_stdin_was_closed),
        cmocka_unit_test(test_watching_refused_at_once),
        cmocka_unit_test(test_watching_refused_later),
        cmocka_unit_test(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
