/* SPDX-License-Identifier: BSD-3-Clause */
/* A turn's ends: one enter and one leave however deep, bytes written before and after the reports, and a wake on a later turn for calls
 * from outside. What happens is written down as letters: ( enter, ) leave, and the name of each flush. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host.h"
#include "poll_loop.h"
#include "suite.h"

struct writer {
    struct hl_flush flush;
    char name;
    struct writer *then; /* asked to write while this one writes */
};

static struct hl_host host;
static struct poll_loop *loop;
static char story[64];
static void (*at_leave)(void);
static struct writer a, b;

static void note(char letter)
{
    size_t length = strlen(story);
    assert_true(length + 1 < sizeof story);
    story[length] = letter, story[length + 1] = '\0';
}

static void write_out(struct hl_flush *flush)
{
    struct writer *writer = (struct writer *)flush, *then = writer->then;
    note(writer->name);
    writer->then = NULL;
    if (then)
        hl_host_flush_later(&host, &then->flush);
}

static void on_enter(void *arg)
{
    assert_ptr_equal(arg, &loop);
    note('(');
}

static void on_leave(void *arg)
{
    void (*act)(void) = at_leave;
    (void)arg;
    note(')');
    at_leave = NULL;
    if (act)
        act();
    hl_host_settle(&host);
}

static void begin(void)
{
    struct hl_memory memory;
    hl_memory_init(&memory, NULL);
    loop = poll_loop_new();
    struct hilock_loop table = poll_loop_table(loop);
    story[0] = '\0';
    at_leave = NULL;
    a = (struct writer){.flush.flush = write_out, .name = 'a'};
    b = (struct writer){.flush.flush = write_out, .name = 'b'};
    assert_int_equal(hl_host_init(&host, &table, &memory, 9), 0);
    host.on_enter = on_enter;
    host.on_leave = on_leave;
    host.arg = &loop;
}

static void end(void)
{
    hl_host_done(&host);
    assert_int_equal(poll_loop_end(loop), 0);
}

#define WITH_HOST(name) TEST_WITHIN(name, begin, end)

static void turn(void) { poll_loop_turn(loop, 0); }

static void step(char letter)
{
    switch (letter) {
    case '(': hl_host_enter(&host); break;
    case ')': hl_host_leave(&host); break;
    case 'a': hl_host_flush_later(&host, &a.flush); break;
    case 'b': hl_host_flush_later(&host, &b.flush); break;
    case 'n': hl_host_flush_never(&host, &a.flush); break;
    case 'w': hl_host_wake(&host); break;
    default: turn(); break;
    }
}

WITH_HOST(turns)
{
    static const struct { const char *steps, *story; } cases[] = {
        {"((a)", "("}, {")", "(a)"}, /* nested turns are one */
        {"(bab)", "(ba)"}, {"()", "()"}, /* each once, in order */
        {"(abnn)", "(b)"},
        {"aw", ""}, {".", "(a)"}, {".", ""}, /* outside of a turn */
        {"(w).", "()"}, /* a leave that comes before it has done the work of the wake */
        {"()w.", "()()"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t before = cases[i].steps[0] == ')' ? 0 : strlen(story);
        for (const char *at = cases[i].steps; *at; at++)
            step(*at);
        assert_string_equal(story + before, cases[i].story);
    }
    assert_int_equal(host.depth, 0);
}

WITH_HOST(flush_asked_by_a_flush)
{
    a.then = &b, b.then = &a;
    hl_host_enter(&host);
    hl_host_flush_later(&host, &a.flush);
    hl_host_leave(&host);
    assert_string_equal(story, "(aba)");
    a.then = &a;
    hl_host_enter(&host);
    hl_host_flush_later(&host, &a.flush);
    hl_host_leave(&host);
    assert_string_equal(story, "(aba)(aa)");
}

static void flush_and_wake(void)
{
    assert_int_equal(host.depth, 1);
    hl_host_flush_later(&host, &a.flush);
    hl_host_wake(&host);
}

/* Bytes from a report leave in the same turn; news from a report comes on a later one. */
WITH_HOST(what_leave_asks_for)
{
    at_leave = flush_and_wake;
    hl_host_enter(&host);
    hl_host_leave(&host);
    assert_string_equal(story, "()a");
    turn();
    assert_string_equal(story, "()a()");
    turn();
    assert_string_equal(story, "()a()");
}

/* A loop that can hurry is asked to by what comes from outside of its calls, and only by that. */
static void hurry(void *timer)
{
    assert_ptr_equal(timer, host.wake_timer->handle);
    note('!');
    host.loop.timer_start(timer, 0);
}

static void wake_again(void) { hl_host_wake(&host); }

WITH_HOST(what_comes_from_outside_hurries)
{
    host.loop.timer_hurry = hurry;
    hl_host_wake(&host);
    hl_host_wake(&host);
    assert_string_equal(story, "!");
    at_leave = wake_again;
    turn();
    assert_string_equal(story, "!()");
    turn();
    assert_string_equal(story, "!()()");
    hl_host_enter(&host);
    hl_host_wake(&host);
    hl_host_leave(&host);
    turn();
    hl_host_flush_later(&host, &a.flush);
    turn();
    assert_string_equal(story, "!()()()!(a)");
}

/* A leave without its enter is a bug of ours, and stops the process. */
TEST(contract)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct hl_host none = {.depth = 0};
        signal(SIGABRT, SIG_DFL); /* cmocka's own handler would come back */
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        hl_host_leave(&none);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
