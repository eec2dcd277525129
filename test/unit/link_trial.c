/* SPDX-License-Identifier: BSD-3-Clause */
/* link_trial - see link_trial.h. */
#include "link_trial.h"
#include "needle.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_TURNS = 2000, PATIENCE_MS = 10 }; /* 20 s without anything happening: it never will */

static int open_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* ---- reports ---- */

__attribute__((format(printf, 2, 3))) static void tell(struct link_trial *trial, const char *format, ...)
{
    size_t room = sizeof trial->told - trial->told_length;
    va_list list;
    va_start(list, format);
    int length = vsnprintf(trial->told + trial->told_length, room, format, list);
    va_end(list);
    trial->told_length += (size_t)length < room ? (size_t)length : 0; /* what does not fit is left out whole */
    trial->told[trial->told_length] = '\0';
}

static void tell_reply(struct link_trial *trial, const struct hl_reply *reply)
{
    static const char marks[] = {[HL_REPLY_STRING] = '$', [HL_REPLY_STATUS] = '+', [HL_REPLY_ERROR] = '-'};
    switch (reply->type) {
    case HL_REPLY_NIL:
        tell(trial, "nil");
        return;
    case HL_REPLY_INTEGER:
        tell(trial, ":%lld", (long long)reply->integer);
        return;
    case HL_REPLY_STRING:
    case HL_REPLY_STATUS:
    case HL_REPLY_ERROR:
        assert_non_null(reply->bytes);
        tell(trial, "%c%s", marks[reply->type], hl_text_quote(reply->bytes, reply->length).bytes);
        return;
    case HL_REPLY_ARRAY:
        tell(trial, "[");
        for (size_t i = 0; i < reply->count; i++) {
            tell(trial, i ? " " : "");
            tell_reply(trial, &reply->items[i]);
        }
        tell(trial, "]");
        return;
    }
}

static void begin_event(struct link_trial *trial)
{
    assert_false(trial->is_calling); /* never inside open, send or close */
    assert_true(trial->host.depth > 0);
    assert_false(trial->is_down); /* on_down is the last call, and there is one */
    assert_non_null(trial->link);
    tell(trial, trial->told_length ? " " : "");
}

static void act(struct link_trial *trial, link_trial_fn *action)
{
    if (action)
        action(trial);
}

static void on_up(void *arg)
{
    struct link_trial *trial = arg;
    begin_event(trial);
    assert_false(trial->is_up);
    trial->is_up = 1;
    tell(trial, "up");
    act(trial, trial->at_up);
}

static void on_reply(void *arg, const struct hl_reply *reply)
{
    struct link_trial *trial = arg;
    begin_event(trial);
    assert_true(trial->is_up);
    trial->replies++;
    tell_reply(trial, reply);
    act(trial, trial->at_reply);
    if (reply->length) /* alive until the call returns, even if it was closed inside */
        assert_int_not_equal(reply->bytes[0], EOF);
}

static void on_down(void *arg, const char *why)
{
    struct link_trial *trial = arg;
    begin_event(trial);
    trial->is_down = 1;
    tell(trial, "down(%s)", why);
    assert_true(*why);
    act(trial, trial->at_down);
}

static void on_leave(void *arg)
{
    struct link_trial *trial = arg;
    act(trial, trial->at_leave);
    hl_host_settle(&trial->host);
}

/* ---- begin and end ---- */

static char directory[] = "/tmp/hilock-link-XXXXXX";

static void remove_directory(void) { rmdir(directory); }

/* One for all trials of the program: each that is made in /tmp waits for all else that is made there at that time. */
static void make_directory(void)
{
    static int is_made;
    if (is_made++)
        return;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(atexit(remove_directory), 0);
}

static void listen_unix(struct link_trial *trial)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    make_directory();
    snprintf(trial->path, sizeof trial->path, "%s/s", directory);
    strcpy(address.sun_path, trial->path);
    unlink(trial->path); /* of a trial that failed */
    trial->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(trial->listener, (struct sockaddr *)&address, sizeof address), 0);
}

static void listen_tcp(struct link_trial *trial)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    trial->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(trial->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(trial->listener, (struct sockaddr *)&address, &length), 0);
    trial->port = ntohs(address.sin_port);
}

void link_trial_begin(struct link_trial *trial, const char *family)
{
    const struct hilock_allocator allocator = world_memory_allocator(&trial->memory);
    struct hl_memory memory;
    memset(trial, 0, sizeof *trial);
    trial->fds = open_fds();
    trial->peer = -1;
    trial->loop = poll_loop_new();
    struct hilock_loop table = poll_loop_table(trial->loop);
    hl_memory_init(&memory, &allocator);
    assert_int_equal(hl_host_init(&trial->host, &table, &memory, 1), 0);
    trial->host.on_leave = on_leave;
    trial->host.arg = trial;
    trial->factory = hl_link_hiredis();
    if (strcmp(family, "unix") == 0)
        listen_unix(trial);
    else
        listen_tcp(trial);
    assert_int_equal(listen(trial->listener, 8), 0);
}

void link_trial_end(struct link_trial *trial)
{
    if (trial->link)
        link_trial_close(trial, 0);
    link_trial_turns(trial, 2);
    hl_host_done(&trial->host);
    assert_int_equal(trial->memory.blocks, 0);
    assert_int_equal(poll_loop_end(trial->loop), 0);
    link_trial_hang_up(trial);
    close(trial->listener);
    if (trial->path[0])
        unlink(trial->path);
    assert_int_equal(open_fds(), trial->fds);
}

void link_trial_on(const char *family, link_trial_fn *test)
{
    struct link_trial trial;
    link_trial_begin(&trial, family);
    test(&trial);
    link_trial_end(&trial);
}

/* ---- our side ---- */

int link_trial_open(struct link_trial *trial)
{
    static const struct hl_link_events events = {on_up, on_reply, on_down};
    const struct hl_link_target target = {trial->path[0] ? trial->path : NULL, "127.0.0.1", trial->port, trial->tls_host};
    trial->is_calling = 1;
    trial->link = trial->factory.open(trial->factory.ctx, &trial->host, &target, &events, trial);
    trial->is_calling = 0;
    return trial->link ? 0 : -1;
}

void link_trial_connect(struct link_trial *trial)
{
    assert_int_equal(link_trial_open(trial), 0);
    link_trial_until(trial, "up");
    trial->peer = accept4(trial->listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(trial->peer >= 0);
}

int link_trial_send(struct link_trial *trial, const char *words)
{
    char copy[256], *rest = copy;
    const char *argv[16];
    size_t lengths[16];
    int argc = 0, was_calling = trial->is_calling, result;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word; (word = strsep(&rest, " ")) != NULL; argc++)
        argv[argc] = word, lengths[argc] = strlen(word);
    trial->is_calling = 1;
    result = trial->factory.send(trial->link, argc, argv, lengths);
    trial->is_calling = was_calling;
    return result;
}

void link_trial_send_needle(struct link_trial *trial)
{
    char secret[NEEDLE_LENGTH + 1];
    const char *const argv[] = {"AUTH", secret};
    const size_t lengths[] = {4, NEEDLE_LENGTH};
    needle_write(secret);
    assert_int_equal(trial->factory.send(trial->link, 2, argv, lengths), 0);
    hl_memory_wipe(secret, sizeof secret);
}

void link_trial_close(struct link_trial *trial, int is_reset)
{
    struct hl_link *link = trial->link;
    int was_calling = trial->is_calling;
    trial->link = NULL;
    trial->is_calling = 1;
    trial->factory.close(link, is_reset);
    trial->is_calling = was_calling;
}

void link_trial_close_it(struct link_trial *trial) { link_trial_close(trial, 0); }
void link_trial_ask(struct link_trial *trial) { assert_int_equal(link_trial_send(trial, "PING"), 0); }

/* ---- the peer's side ---- */

void link_trial_say(struct link_trial *trial, const void *bytes, size_t length)
{
    const char *at = bytes;
    int turns = 0;
    while (length) {
        ssize_t written = sendto(trial->peer, at, length, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
        if (written < 0 && errno != EAGAIN)
            return; /* the link has gone: what it told is what counts */
        at += written > 0 ? written : 0, length -= written > 0 ? (size_t)written : 0;
        if (written < 0)
            link_trial_turns(trial, 1);
        assert_true(turns++ < 1000000);
    }
}

void link_trial_answer(struct link_trial *trial, const char *text) { link_trial_say(trial, text, strlen(text)); }

void link_trial_hear(struct link_trial *trial, const char *bytes)
{
    char heard[4096];
    size_t length = strlen(bytes), got = 0;
    assert_true(length < sizeof heard);
    for (int turns = 0; got < length; turns++) {
        ssize_t now = recv(trial->peer, heard + got, length - got, MSG_DONTWAIT);
        assert_true(now > 0 || (now < 0 && errno == EAGAIN && turns < PATIENCE_TURNS));
        got += now > 0 ? (size_t)now : 0;
        poll_loop_turn(trial->loop, now > 0 ? 0 : PATIENCE_MS);
    }
    heard[got] = '\0';
    assert_string_equal(heard, bytes);
}

void link_trial_hang_up(struct link_trial *trial)
{
    if (trial->peer >= 0)
        close(trial->peer);
    trial->peer = -1;
}

void link_trial_until(struct link_trial *trial, const char *told)
{
    for (int turns = 0; !strstr(trial->told, told); turns++) {
        if (turns == PATIENCE_TURNS)
            fail_msg("waited for \"%s\", but was told \"%s\"", told, trial->told);
        poll_loop_turn(trial->loop, PATIENCE_MS);
    }
}

void link_trial_turns(struct link_trial *trial, int count)
{
    while (count-- > 0)
        poll_loop_turn(trial->loop, 0);
}
