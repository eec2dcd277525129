/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link asks of the system and of hiredis: options of its socket, a context, and buffers, of which it keeps no more than it needs. */
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <hiredis/async.h>
#include <hiredis/sds.h>

#include "base/command.h"
#include "link_suite.h"

/* ---- these stand before those of libc and of hiredis ---- */

static unsigned others; /* options that were set, and are none of ours */
static int has_no_memory;
static redisAsyncContext *context; /* the latest */

static void find(const char *name, void *to)
{
    void *function = dlsym(RTLD_NEXT, name);
    memcpy(to, &function, sizeof function); /* ISO C has no cast from an object pointer to a function */
}

static const struct { int level, name, value; } ours[] = {
    {IPPROTO_TCP, TCP_NODELAY, 1}, {SOL_SOCKET, SO_KEEPALIVE, 1}, {IPPROTO_TCP, TCP_KEEPIDLE, 15}, {IPPROTO_TCP, TCP_KEEPINTVL, 5},
    {IPPROTO_TCP, TCP_KEEPCNT, 3}
};
enum { OURS = sizeof ours / sizeof *ours };

int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
    int (*real)(int, int, int, const void *, socklen_t);
    int is_ours = 0;
    find("setsockopt", &real);
    for (int i = 0; i < OURS; i++)
        is_ours |= ours[i].level == level && ours[i].name == name;
    others += !is_ours;
    return real(fd, level, name, value, length);
}

redisAsyncContext *redisAsyncConnectUnix(const char *path)
{
    redisAsyncContext *(*real)(const char *);
    find("redisAsyncConnectUnix", &real);
    return context = has_no_memory ? NULL : real(path);
}

redisAsyncContext *redisAsyncConnect(const char *address, int port)
{
    redisAsyncContext *(*real)(const char *, int);
    find("redisAsyncConnect", &real);
    return context = has_no_memory ? NULL : real(address, port);
}

static int buffers; /* that were made and not freed */

sds sdsempty(void)
{
    sds (*real)(void);
    find("sdsempty", &real);
    buffers++;
    return real();
}

sds sdsMakeRoomFor(sds buffer, size_t room)
{
    sds (*real)(sds, size_t);
    find("sdsMakeRoomFor", &real);
    return has_no_memory ? NULL : real(buffer, room);
}

void sdsfree(sds buffer)
{
    void (*real)(sds);
    find("sdsfree", &real);
    buffers -= buffer != NULL;
    real(buffer);
}

/* ---- the socket ---- */

static int option(int level, int name)
{
    int value = -1;
    socklen_t length = sizeof value;
    assert_int_equal(getsockopt(context->c.fd, level, name, &value, &length), 0);
    return value;
}

/* hiredis sets some of them as well, a newer one more of them. */
UNOPENED_TRIAL(over_tcp_five_options_are_set_and_no_other)
{
    unsigned of_hiredis;
    others = 0;
    redisAsyncContext *bare = trial->path[0] ? redisAsyncConnectUnix(trial->path) : redisAsyncConnect("127.0.0.1", trial->port);
    redisAsyncFree(bare);
    of_hiredis = others;
    others = 0;
    link_trial_connect(trial);
    assert_int_equal(others, of_hiredis);
    for (int i = 0; i < OURS && !trial->path[0]; i++)
        assert_int_equal(option(ours[i].level, ours[i].name), ours[i].value);
}

UNOPENED_TRIAL(without_memory_in_hiredis_none_is_opened)
{
    has_no_memory = 1;
    assert_int_equal(link_trial_open(trial), -1);
    has_no_memory = 0;
    link_trial_connect(trial);
}

TRIAL(without_memory_in_hiredis_nothing_is_sent)
{
    has_no_memory = 1;
    assert_int_equal(link_trial_send(trial, "PING"), -1);
    has_no_memory = 0;
    assert_int_equal(trial->factory.backlog(trial->link), 0);
}

/* ---- the loop ---- */

static int (*set)(void *watch, unsigned interest);
static unsigned watched;

static int count_and_set(void *watch, unsigned interest)
{
    watched++;
    return set(watch, interest);
}

/* Once when it begins, for its connect, and once when it is connected. */
UNOPENED_TRIAL(the_loop_is_told_of_a_new_interest_alone)
{
    set = trial->host.loop.watch_set;
    trial->host.loop.watch_set = count_and_set;
    watched = 0;
    link_trial_connect(trial);
    for (int i = 0; i < 3; i++) {
        link_trial_ask(trial);
        link_trial_turns(trial, 1);
    }
    link_trial_answer(trial, ":1\r\n:2\r\n:3\r\n");
    tells(trial, "up :1 :2 :3");
    assert_int_equal(watched, 2);
}

UNOPENED_TRIAL(without_a_timer_or_a_watch_none_is_opened)
{
    for (int nth = 1; nth <= 2; nth++) {
        poll_loop_fail(trial->loop, nth);
        assert_int_equal(link_trial_open(trial), -1);
    }
    link_trial_connect(trial);
}

static void ask(struct link_trial *trial) { link_trial_ask(trial); }

/* What is sent then is lost, and its end has the reason. */
UNOPENED_TRIAL(a_link_that_fails_sends_nothing_more)
{
    trial->at_up = ask;
    assert_int_equal(link_trial_open(trial), 0);
    poll_loop_refuse_watching(trial->loop, 1);
    link_trial_until(trial, "down");
    assert_string_equal(trial->told, "up down(the loop cannot watch the connection)");
    trial->peer = accept4(trial->listener, NULL, NULL, SOCK_CLOEXEC);
    assert_int_equal(drain(trial), 0);
}

/* ---- the buffers ---- */

enum { KEPT = 2 << 10, MOST = 64 << 10 };

static size_t room_of(sds buffer) { return sdslen(buffer) + sdsavail(buffer); }

/* Writes a command, whose one argument has this length. */
static void write_one(struct link_trial *trial, size_t length)
{
    static char text[MOST];
    const char *const argv[] = {text};
    memset(text, 'a', length);
    assert_int_equal(trial->factory.send(trial->link, 1, argv, &length), 0);
    link_trial_turns(trial, 2);
    while (drain(trial) || trial->factory.backlog(trial->link))
        link_trial_turns(trial, 1);
}

/* Of so many bytes in all, a thousand at least. */
static void burst(struct link_trial *trial, size_t bytes) { write_one(trial, bytes - strlen("*1\r\n$1000\r\n\r\n")); }

/* For which hiredis makes so much room, if there is none yet: twice as much as the command may need. */
static void burst_for(struct link_trial *trial, size_t room)
{
    static const size_t none[] = {0};
    write_one(trial, room / 2 - hl_command_encoded_max(1, none));
}

TRIAL(a_small_buffer_is_kept_and_one_that_a_single_burst_made_large_is_not)
{
    burst_for(trial, KEPT);
    assert_int_equal(room_of(context->c.obuf), KEPT);
    burst(trial, KEPT);
    assert_int_equal(room_of(context->c.obuf), 0);
    burst(trial, KEPT + 1);
    assert_int_equal(room_of(context->c.obuf), 0);
}

TRIAL(a_buffer_that_is_not_kept_is_freed)
{
    int before = buffers;
    burst(trial, KEPT + 1);
    assert_int_equal(room_of(context->c.obuf), 0);
    assert_int_equal(buffers, before);
}

TRIAL(two_large_bursts_in_a_row_keep_their_buffer)
{
    burst(trial, KEPT + 1);
    assert_int_equal(room_of(context->c.obuf), 0);
    burst(trial, KEPT + 1);
    assert_in_range(room_of(context->c.obuf), KEPT + 1, MOST);
    burst(trial, KEPT); /* this one is not large, and neither it nor what follows it keeps the buffer */
    assert_int_equal(room_of(context->c.obuf), 0);
    burst(trial, KEPT + 1);
    assert_int_equal(room_of(context->c.obuf), 0);
}

TRIAL(no_buffer_above_64_KiB_is_kept)
{
    burst_for(trial, MOST);
    burst_for(trial, MOST);
    assert_int_equal(room_of(context->c.obuf), MOST);
    burst_for(trial, MOST);
    assert_int_equal(room_of(context->c.obuf), MOST);
    burst(trial, KEPT);
    assert_int_equal(room_of(context->c.obuf), 0);
    burst_for(trial, MOST + 2);
    burst_for(trial, MOST + 2);
    assert_int_equal(room_of(context->c.obuf), 0);
}

TRIAL(a_buffer_that_a_single_answer_made_large_is_not_kept)
{
    static char answer[10000];
    link_trial_ask(trial);
    int before = buffers;
    memset(answer, 'a', sizeof answer);
    memcpy(answer, "+", 1);
    memcpy(answer + sizeof answer - 2, "\r\n", 2);
    link_trial_say(trial, answer, sizeof answer);
    while (!trial->replies)
        link_trial_turns(trial, 1);
    assert_int_equal(room_of(context->c.reader->buf), 0);
    assert_int_equal(buffers, before);
}
