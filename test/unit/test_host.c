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

/* ---- late timers ---- */

static uint64_t clock_us;
static struct hl_fact stall; /* the latest that was reported */
static unsigned stalls;

static uint64_t tell_time(const void *clock) { return (void)clock, clock_us; }

static void on_trace(void *arg, enum hl_what what, const struct hl_fact *fact)
{
    (void)arg;
    assert_int_equal(what, HL_LOOP_STALLED);
    stall = *fact;
    stalls++;
}

static void late(struct hl_host *timed, uint64_t at_us, uint64_t by_us)
{
    clock_us = at_us;
    hl_host_check_stall(timed, at_us - by_us);
}

static uint64_t lateness_at(const struct hl_host *timed, uint64_t at_us)
{
    clock_us = at_us;
    return hl_host_lateness_us(timed);
}

/* The longest delay of the present ten seconds and of the ten before: to the microsecond. */
TEST(how_late_timers_are_is_forgotten_after_ten_to_twenty_seconds)
{
    enum { S = 1000000 };
    struct hl_host timed = {.loop.now_us = tell_time};
    late(&timed, 100 * S, 5000);
    assert_int_equal(lateness_at(&timed, 120 * S - 1), 5000);
    assert_int_equal(lateness_at(&timed, 120 * S), 0);
    late(&timed, 110 * S, 1000); /* a new period */
    assert_int_equal(lateness_at(&timed, 120 * S - 1), 5000);
    assert_int_equal(lateness_at(&timed, 120 * S), 1000);
    late(&timed, 120 * S - 1, 3000);
    assert_int_equal(lateness_at(&timed, 120 * S), 3000);
    late(&timed, 130 * S, 2000); /* the period before has ended */
    assert_int_equal(lateness_at(&timed, 130 * S), 2000);
}

/* A timer was due at 5 s. When it is reported as late, and how long the loop may have stood still. */
TEST(a_stall_is_as_long_as_its_timer_was_late_at_least_and_as_the_gap_at_most)
{
    static const struct { uint64_t stall_us, turned_us, gap_from_us, stalled_until_us, now_us, longest_us; } cases[] = { /* 0: no report */
        {1000000, 4000000, 0, 0, 6000000, 0}, /* not more than the limit */
        {1000000, 4000000, 0, 0, 6000001, 2000001},
        {1000000, 5000000, 1000, 0, 6000001, 1000001}, /* hilock was called as the timer was due */
        {1000000, 5000001, 4500000, 0, 6000001, 1500001}, /* another call came first behind the gap */
        {1000000, 5000001, 5000000, 0, 6000001, 1000001},
        {1000000, 5000001, 5000001, 0, 6000001, 1000001}, /* that gap began later, and is another one */
        {1000000, 5000001, 0, 0, 6000001, 1000001},
        {1000000, 4000000, 0, 5000000, 6000001, 2000001},
        {1000000, 4000000, 0, 5000001, 6000001, 0}, /* that stall was reported */
        {0, 4000000, 0, 0, 60000000, 0}, /* nobody wants to hear */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hl_host timed = {.loop.now_us = tell_time, .on_trace = on_trace, .stall_us = cases[i].stall_us, .turned_us = cases[i].turned_us,
                                .gap_from_us = cases[i].gap_from_us, .stalled_until_us = cases[i].stalled_until_us};
        stalls = 0;
        stall.longest_us = 0;
        late(&timed, cases[i].now_us, cases[i].now_us - 5000000);
        if (stall.longest_us != cases[i].longest_us || stalls != (cases[i].longest_us != 0))
            fail_msg("case %zu: at most %llu us", i, (unsigned long long)stall.longest_us);
        if (stalls)
            assert_int_equal(stall.waited_us, cases[i].now_us - 5000000);
    }
}

/* A pause of exactly the limit is none. */
TEST(a_gap_is_longer_than_the_limit)
{
    for (uint64_t more_us = 0; more_us < 2; more_us++) {
        struct hl_host timed = {.loop.now_us = tell_time, .stall_us = 1000000, .turned_us = 4000000};
        clock_us = 5000000 + more_us;
        hl_host_enter(&timed);
        assert_int_equal(timed.gap_from_us, more_us ? 4000000 : 0);
    }
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
