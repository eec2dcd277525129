/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link writes: once a turn, never with a signal, and no more than its peer takes. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "link_suite.h"

static unsigned sends, refuses;
static int refusal = EAGAIN;

/* Stands before libc's: the link's writes are counted, and none may raise SIGPIPE. The next so many are refused, for now. */
ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    sends++;
    assert_true(flags & MSG_NOSIGNAL);
    if (refuses) {
        refuses--;
        errno = refusal;
        return -1;
    }
    return sendto(fd, bytes, length, flags, NULL, 0);
}

static void ask_hundred(struct link_trial *trial)
{
    trial->at_up = NULL;
    for (int i = 0; i < 100; i++)
        link_trial_ask(trial);
}

UNOPENED_TRIAL(one_write_a_turn)
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

enum { MANY = 10000 };

static void ask_many(struct link_trial *trial)
{
    trial->at_up = NULL;
    for (int i = 0; i < MANY; i++)
        link_trial_ask(trial);
}

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

UNOPENED_TRIAL(peer_that_does_not_read)
{
    const size_t length = strlen("*1\r\n$4\r\nPING\r\n");
    size_t sent = fill(trial), got = 0, backlog;
    backlog = trial->factory.backlog(trial->link);
    sends = 0;
    link_trial_ask(trial), link_trial_turns(trial, 5); /* it waits for room, and does not keep asking */
    sent += length;
    link_trial_answer(trial, "+OK\r\n"); /* nor does it when something is to be read */
    link_trial_until(trial, "+OK");
    assert_int_equal(sends, 0);
    assert_int_equal(trial->factory.backlog(trial->link), backlog + length);
    while (got < sent) {
        got += drain(trial);
        link_trial_turns(trial, 1);
    }
    assert_int_equal(got, sent);
    assert_int_equal(trial->factory.backlog(trial->link), 0);
    link_trial_ask(trial), link_trial_answer(trial, "+OK\r\n");
    link_trial_until(trial, "+OK");
}

TRIAL(a_write_that_finds_no_room_at_all_waits_for_some)
{
    for (int i = 0; i < 2; i++) {
        refusal = i ? EINTR : EAGAIN; /* a signal came first */
        refuses = 1;
        link_trial_ask(trial);
        link_trial_hear(trial, "*1\r\n$4\r\nPING\r\n");
    }
}

UNOPENED_TRIAL(lost_with_a_backlog)
{
    fill(trial);
    link_trial_hang_up(trial);
    tells(trial, "up down(Connection reset by peer before its first answer: is it a TLS port (rediss), or a proxy without a server?)");
}

UNOPENED_TRIAL(closed_with_a_backlog)
{
    fill(trial);
    trial->at_reply = link_trial_close_it;
    link_trial_answer(trial, "+OK\r\n");
    while (drain(trial)) /* room: both ways are ready at once */
        continue;
    sends = 0;
    link_trial_until(trial, "+OK");
    link_trial_turns(trial, 2);
    assert_int_equal(sends, 0);
}

/* Each leave writes, before anything can be read. TCP: the first is answered by a reset, the next meets it. */
static void write_into_the_end(struct link_trial *trial)
{
    link_trial_ask(trial);
    link_trial_answer(trial, "-ERR last words\r\n");
    link_trial_hang_up(trial);
    for (int i = 0; i < 3; i++) {
        hl_host_enter(&trial->host);
        (void)link_trial_send(trial, "PING");
        hl_host_leave(&trial->host);
    }
}

TRIAL(send_into_a_closed_peer)
{
    assert_ptr_equal(signal(SIGPIPE, SIG_DFL), SIG_DFL);
    write_into_the_end(trial);
    assert_int_equal(link_trial_send(trial, "PING"), 0); /* it is not for want of memory: on_down says why */
    tells(trial, "up -ERR last words down(Broken pipe)"); /* what came before it was lost is heard */
    assert_int_equal(link_trial_send(trial, "PING"), -1);
}

TRIAL(watching_refused_later)
{
    poll_loop_refuse_watching(trial->loop, 1);
    while (link_trial_send(trial, "PING") == 0) { /* until a write is short */
        ask_many(trial);
        link_trial_turns(trial, 1);
    }
    tells(trial, "up down(the loop cannot watch the connection)");
}

/* A failure is under way when it is closed. */
TRIAL(fail_then_close)
{
    write_into_the_end(trial);
    link_trial_close(trial, 0);
    link_trial_turns(trial, 3);
    assert_string_equal(trial->told, "up");
}
