/* SPDX-License-Identifier: BSD-3-Clause */
/* run - see run.h. The guard is forked before there is a client, so that it inherits no connection, which would stay
 * open at the store after the holder's end.
 *
 * There are four phases: waiting for the lock; running, from the moment when the guard gets the tokens until it
 * reports the end, or until the guard and all processes that it left have ended; keeping the name for the rest of
 * --at-least; and releasing. If that rest is longer than the lease, the server does the keeping: the lease is
 * extended to that length, and nobody releases it. Invariant: the lock is released only when no process of the
 * command's family is left. */
#include "run.h"
#include "codes.h"
#include "ender.h"
#include "guard.h"
#include "json.h"
#include "label.h"
#include "plain.h"
#include "say.h"
#include "session.h"
#include "signals.h"
#include "terminal.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum phase { WAITING, RUNNING, KEEPING, RELEASING };
enum { REST_MIN_MS = 100, TICKS = 20, TICK_MIN_MS = 10, TICK_MAX_MS = 500 };

struct run {
    const struct options *options;
    struct session session;
    hilock_lock *lock;
    struct page *page;
    struct ender ender;
    enum phase phase;
    uint64_t begun_us;
    int code, is_left; /* is_left: the lock is not released; its lease keeps the name */
    pid_t guard;
    int has_guard; /* 0: the guard has reported the end, or is gone */
    int had_terminal, socket, signals, command; /* command: a pidfd; -1: there is none */
    struct event *on_socket, *on_signal, *on_ender, *on_tick, *on_command, *on_rest;
};

/* ---- messages to the user ---- */

static struct json event_begin(const char *name)
{
    struct json json = {.file = stderr};
    json_open(&json, NULL, '{');
    json_text(&json, "event", name);
    return json;
}

static void event_end(struct json *json)
{
    json_shut(json, '}');
    json_line(json);
}

static void say_event(const struct run *run, const char *name, const char *text)
{
    if (!run->options->is_json) {
        say("%s", text);
        return;
    }
    struct json json = event_begin(name);
    json_text(&json, "detail", text);
    event_end(&json);
}

static void say_granted(const struct run *run, const struct hilock_result *result)
{
    struct json json = event_begin("granted");
    json_count(&json, "waited_ms", result->waited_ms);
    json_open(&json, "locks", '[');
    for (size_t i = 0; i < run->options->names_count; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", run->options->names[i]);
        json_count(&json, "token", run->options->is_multi ? hilock_multi_token(run->lock, i) : result->fencing_token);
        json_shut(&json, '}');
    }
    json_shut(&json, ']');
    event_end(&json);
}

/* ---- the end ---- */

static void on_released(const struct hilock_result *result, void *user)
{
    struct run *run = user;
    if (result->status != HILOCK_OK)
        say_event(run, "release-failed", result->detail);
    session_leave(&run->session);
}

static void release(struct run *run)
{
    run->phase = RELEASING;
    if (hilock_lock_state(run->lock) != HILOCK_STATE_HELD || hilock_release(run->lock, on_released, run) != HILOCK_OK)
        session_leave(&run->session); /* the lock was lost, which was printed already */
}

/* Returns what is left of the time of --at-least. */
static uint32_t rest_ms(const struct run *run)
{
    uint64_t gone_ms = (page_now_us() - run->begun_us) / 1000;
    return gone_ms < run->options->at_least_ms ? run->options->at_least_ms - (uint32_t)gone_ms : 0;
}

static void on_left(const struct hilock_result *result, void *user)
{
    struct run *run = user;
    run->is_left = result->status == HILOCK_OK;
    if (!run->is_left)
        say_event(run, "unkept", result->detail);
    session_leave(&run->session);
}

static void leave_to_server(struct run *run)
{
    uint32_t ms = rest_ms(run);
    run->phase = RELEASING;
    if (hilock_extend(run->lock, ms < REST_MIN_MS ? REST_MIN_MS : ms, on_left, run) != HILOCK_OK)
        session_leave(&run->session);
}

static void on_rest(evutil_socket_t fd, short what, void *user)
{
    (void)fd, (void)what;
    release(user);
}

static void keep(struct run *run, uint32_t ms)
{
    const struct timeval rest = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000) * 1000};
    run->phase = KEEPING;
    event_add(run->on_rest, &rest);
}

/* Called when no process of the command's family is left. */
static void finish(struct run *run, int code)
{
    uint32_t ms = rest_ms(run);
    if (run->phase >= KEEPING)
        return;
    run->code = code;
    if (run->had_terminal)
        terminal_give(getpgrp());
    if (!ms || hilock_lock_state(run->lock) != HILOCK_STATE_HELD)
        release(run);
    else if (ms > run->options->lease_ms)
        leave_to_server(run);
    else
        keep(run, ms);
}

static void give_up(struct run *run, int code)
{
    run->phase = RELEASING;
    run->code = code;
    session_leave(&run->session);
}

/* ---- running ---- */

static void turn_ender(struct run *run)
{
    if (run->phase != RUNNING || !ender_turn(&run->ender))
        return;
    if (run->has_guard)
        kill(run->guard, SIGCONT); /* in case the guard was stopped: it has to report */
    else
        finish(run, CODE_CUT);
}

static void on_ender(evutil_socket_t fd, short what, void *user)
{
    (void)fd, (void)what;
    turn_ender(user);
}

static void poke(const struct run *run)
{
    if (send(run->socket, "look", 4, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; /* the guard is stopped or gone, so the holder's own ender ends the family */
}

/* Writes the deadline. The clock is read first: the remaining time then counts from an earlier moment, and a pause
 * between the two cannot make the deadline later. */
static void on_tick(evutil_socket_t fd, short what, void *user)
{
    struct run *run = user;
    uint64_t now_us = page_now_us();
    uint32_t left_ms = hilock_lock_remaining_ms(run->lock);
    (void)fd, (void)what;
    if (left_ms)
        run->page->deadline_us = now_us + (uint64_t)left_ms * 1000;
}

static void on_lost(const struct hilock_event *event, void *user)
{
    struct run *run = user;
    if (run->phase == KEEPING) {
        say_event(run, "unkept", event->detail);
        release(run);
    }
    if (run->phase != RUNNING)
        return;
    run->page->deadline_us = 0;
    poke(run);
    say_event(run, "lost", event->detail);
    turn_ender(run);
}

static void on_event(const struct hilock_event *event, void *user)
{
    const struct run *run = user;
    if (event->kind != HILOCK_EVENT_WAITING)
        return;
    if (run->options->is_verbose && !run->options->is_json)
        say("waits: %u hold it; held by %s", event->holders, plain_of(event->holder).bytes);
    if (!run->options->is_json)
        return;
    struct json json = event_begin("waiting");
    json_text(&json, "holder", event->holder);
    json_text(&json, "who", event->holder_label);
    json_count(&json, "holders", event->holders);
    json_text(&json, "detail", event->detail);
    event_end(&json);
}

/* ---- the guard ---- */

/* The command has ended. The guard must report that, so it is continued in case it is stopped. */
static void on_command(evutil_socket_t fd, short what, void *user)
{
    struct run *run = user;
    (void)fd, (void)what;
    kill(run->guard, SIGCONT);
}

static void watch_command(struct run *run)
{
    run->command = (int)syscall(SYS_pidfd_open, run->page->group, 0);
    if (run->command < 0)
        return; /* the kernel has no pidfd: a stopped guard then reports only when it goes on */
    run->on_command = event_new(run->session.base, run->command, EV_READ, on_command, run);
    event_add(run->on_command, NULL);
}

static void on_ended(struct run *run, const struct guard_report *report)
{
    run->has_guard = 0;
    waitpid(run->guard, NULL, 0); /* the guard ends now, and its zombies become children of this process */
    if (report->is_cut)
        say_event(run, "cut", "the command was ended, because the lock was lost, or about to be");
    finish(run, report->is_cut                ? CODE_CUT
                : WIFSIGNALED(report->status) ? CODE_SIGNAL + WTERMSIG(report->status)
                                              : WEXITSTATUS(report->status));
}

static void on_guard_gone(struct run *run)
{
    event_del(run->on_socket);
    if (!run->has_guard)
        return;
    run->has_guard = 0;
    say_event(run, "unguarded",
              run->phase == RUNNING
                  ? "the guard was killed: the command is ended, because nothing else would end it in time"
                  : "the guard was killed: the command is not started");
    if (run->phase == WAITING) {
        give_up(run, EX_OSERR);
        return;
    }
    ender_kill(&run->ender);
    turn_ender(run);
}

static void on_socket(evutil_socket_t fd, short what, void *user)
{
    struct run *run = user;
    struct guard_report report;
    (void)what;
    ssize_t length = recv(fd, &report, sizeof report, 0);
    if (length != (ssize_t)sizeof report)
        on_guard_gone(run);
    else if (report.news == GUARD_STARTED)
        watch_command(run);
    else
        on_ended(run, &report);
}

/* Writes the two environment entries of the tokens, each ended by a zero byte, and returns their length. Both are
 * always written, because otherwise the command would see those of a hilock that runs around this one. */
static size_t environment(const struct run *run, char *text, size_t room)
{
    const struct options *options = run->options;
    uint64_t token = options->is_multi ? 0 : hilock_lock_token(run->lock);
    size_t length = (size_t)snprintf(text, room, "HILOCK_TOKEN=%llu", (unsigned long long)token) + 1;
    if (!token)
        length = (size_t)snprintf(text, room, "HILOCK_TOKEN=") + 1;
    length += (size_t)snprintf(text + length, room - length, "HILOCK_TOKENS=");
    for (size_t i = 0; i < options->names_count && options->kind != HILOCK_SIMPLE; i++)
        length += (size_t)snprintf(text + length, room - length, "%s%llu", i ? " " : "",
                                   (unsigned long long)(options->is_multi ? hilock_multi_token(run->lock, i) : token));
    return length + 1;
}

static void begin(struct run *run)
{
    char text[4096];
    uint32_t tick_ms = run->options->lease_ms / TICKS;
    tick_ms = tick_ms < TICK_MIN_MS ? TICK_MIN_MS : tick_ms > TICK_MAX_MS ? TICK_MAX_MS : tick_ms;
    const struct timeval tick = {(time_t)(tick_ms / 1000), (suseconds_t)(tick_ms % 1000) * 1000};
    run->phase = RUNNING;
    run->begun_us = page_now_us();
    ender_come_first();
    on_tick(-1, 0, run);
    event_add(run->on_tick, &tick);
    if (send(run->socket, text, environment(run, text, sizeof text), MSG_NOSIGNAL) < 0)
        on_guard_gone(run);
    else
        turn_ender(run);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct run *run = user;
    if (result->status == HILOCK_OK) {
        if (run->options->is_json)
            say_granted(run, result);
        begin(run);
        return;
    }
    char text[500];
    const char *advice = advice_of(result->status);
    snprintf(text, sizeof text, "%s%s%s", result->detail, advice ? ". To do: " : "", advice ? advice : "");
    if (result->status != HILOCK_TIMED_OUT || !run->options->is_quiet)
        say_event(run, result->status == HILOCK_TIMED_OUT ? "timed-out" : "failed", text);
    give_up(run, code_of(result->status));
}

/* ---- signals ---- */

static void pass_on(struct run *run, int number)
{
    pid_t group = run->page->group;
    if (run->phase == WAITING && number != SIGCONT && number != SIGWINCH)
        give_up(run, CODE_SIGNAL + number);
    if (run->phase == KEEPING && number != SIGCONT && number != SIGWINCH)
        leave_to_server(run);
    if (run->phase != RUNNING || group == 0 || !run->has_guard)
        return;
    if (number == SIGCONT && terminal_is_ours()) { /* the user typed fg in the shell */
        run->had_terminal = 1;
        terminal_give(group);
    }
    kill(-group, number);
}

static void on_signal(evutil_socket_t fd, short what, void *user)
{
    int number;
    (void)what;
    while ((number = signals_next(fd)))
        pass_on(user, number);
}

/* ---- the beginning ---- */

static int make_guard(struct run *run, const sigset_t *signals)
{
    int ends[2];
    struct guard guard = {.page = run->page, .command = run->options->command, .signals = signals, .holder = getpid()};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    guard.socket = ends[1];
    run->socket = ends[0];
    run->guard = fork();
    if (run->guard == 0) {
        close(ends[0]);
        guard_run(&guard);
    }
    close(ends[1]);
    run->has_guard = run->guard > 0;
    return run->has_guard ? 0 : -1;
}

static int make_events(struct run *run)
{
    struct event_base *base = run->session.base;
    run->on_socket = event_new(base, run->socket, EV_READ | EV_PERSIST, on_socket, run);
    run->on_signal = event_new(base, run->signals, EV_READ | EV_PERSIST, on_signal, run);
    run->on_ender = event_new(base, run->ender.timer, EV_READ | EV_PERSIST, on_ender, run);
    run->on_tick = event_new(base, -1, EV_PERSIST, on_tick, run);
    run->on_rest = event_new(base, -1, 0, on_rest, run);
    return run->on_socket && run->on_signal && run->on_ender && run->on_tick && run->on_rest &&
                   event_add(run->on_socket, NULL) == 0 && event_add(run->on_signal, NULL) == 0 &&
                   event_add(run->on_ender, NULL) == 0
               ? 0
               : -1;
}

static int prepare(struct run *run)
{
    sigset_t signals;
    run->page = page_make(run->options->lease_ms, run->options->grace_ms);
    run->signals = signals_take(&signals);
    run->had_terminal = terminal_is_ours();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!run->page || run->signals < 0 || make_guard(run, &signals) != 0 ||
        ender_begin(&run->ender, run->page, run->guard) != 0) {
        say("cannot begin: %s", strerror(errno));
        return EX_OSERR;
    }
    return 0;
}

static int ask(struct run *run)
{
    const struct options *options = run->options;
    const struct hilock_lock_options *asked = HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .on_event = on_event, .user = run,
                                                                  .kind = options->kind, .lease_ms = options->lease_ms,
                                                                  .holders_max = options->holders_max,
                                                                  /* the guard's times are shares of a whole lease. A
                                                                   * pushed grant is valid only for a short window, so
                                                                   * it must be renewed before it is reported */
                                                                  .min_validity_ms = options->lease_ms / 4 * 3);
    hilock_status status = options->is_multi
                               ? hilock_multi_create(&run->lock, run->session.client, options->names, asked)
                               : hilock_lock_create(&run->lock, run->session.client, *options->names, asked);
    if (status == HILOCK_OK)
        status = hilock_acquire(run->lock, options->wait_ms, on_acquired, run);
    /* other refusals are lines of the log, which the user sees */
    if (status != HILOCK_OK && status != HILOCK_BAD_NAME && options->is_quiet)
        say("%s", hilock_client_refusal(run->session.client));
    return status == HILOCK_OK ? 0 : session_refused(&run->session, status);
}

static void end(struct run *run)
{
    struct event *events[] = {run->on_socket, run->on_signal,  run->on_ender,
                              run->on_tick,   run->on_command, run->on_rest};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            event_free(events[i]);
    ender_end(&run->ender);
    if (run->is_left)
        session_abandon(&run->session);
    hilock_lock_free(run->lock);
    session_close(&run->session);
    while (!run->has_guard && waitpid(-1, NULL, WNOHANG) > 0)
        ; /* reaps the processes that became children of this one when the guard ended */
}

int run_command(const struct options *options)
{
    struct run run = {.options = options, .socket = -1, .command = -1};
    struct label label = label_of(*options->command);
    if (options->is_json)
        say_as_events();
    int code = prepare(&run);
    if (code)
        return code;
    code = session_open(&run.session, options, label.bytes);
    if (code == 0 && make_events(&run) != 0) {
        say("no events can be made: out of memory");
        code = EX_OSERR;
    }
    if (code == 0)
        code = ask(&run);
    if (code == 0) {
        session_turn(&run.session);
        code = run.code;
    }
    end(&run);
    return code;
}
