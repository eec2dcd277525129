/* SPDX-License-Identifier: BSD-3-Clause */
/* A suspended host, simulated: here is the program's clock_gettime, libevent's too, and CLOCK_BOOTTIME can be moved on while all other clocks
 * stand. The adapter's timerfd ticks in real time, once a second; the tests wait for the timers that it must let fire. */
#include "conformance.h"

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOUR_US UINT64_C(3600000000)

static time_t suspended_s;
int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    const int result = (int)syscall(SYS_clock_gettime, clock, ret_time);
    if (clock == CLOCK_BOOTTIME)
        ret_time->tv_sec += suspended_s;
    return result;
}

static void suspend(unsigned hours) { suspended_s += (time_t)hours * 3600; }

struct host {
    struct event_base *base;
    struct hilock_loop loop;
};

static int host_begin(void **state)
{
    struct host *host = calloc(1, sizeof *host);
    if (!host)
        return -1;
    *state = host;
    host->base = event_base_new();
    return hilock_libevent_loop(&host->loop, host->base) == HILOCK_OK ? 0 : -1;
}

static int host_end(void **state)
{
    struct host *host = *state;
    int left;
    host->loop.free_ctx(host->loop.ctx);
    left = event_base_get_num_events(host->base, EVENT_BASE_COUNT_ADDED | EVENT_BASE_COUNT_ACTIVE);
    event_base_free(host->base);
    free(host);
    return left;
}

static void on_fire(void *arg) { ++*(int *)arg; }

static void *timer_started(struct host *host, int *fired, uint64_t delay_us)
{
    void *timer = host->loop.timer_new(host->loop.ctx, on_fire, fired);
    assert_non_null(timer);
    host->loop.timer_start(timer, delay_us);
    return timer;
}

static void turn_until_fired(struct host *host, const int *fired, int count)
{
    while (*fired < count)
        event_base_loop(host->base, EVLOOP_ONCE);
}

/* What was due fires on resume; what was not keeps its time; what was stopped stays so. */
static void what_came_due_fires_on_resume(void **state)
{
    struct host *host = *state;
    int one = 0, three = 0, stopped = 0;
    void *timers[3] = {timer_started(host, &one, HOUR_US), timer_started(host, &three, 3 * HOUR_US), timer_started(host, &stopped, HOUR_US)};
    host->loop.timer_stop(timers[2]);
    suspend(2);
    turn_until_fired(host, &one, 1);
    assert_int_equal(three, 0);
    suspend(2);
    turn_until_fired(host, &three, 1);
    assert_int_equal(one, 1);
    assert_int_equal(stopped, 0);
    for (size_t i = 0; i < 3; i++)
        host->loop.timer_free(timers[i]);
}

/* A timer that is started after the resume, before the tick, has not slept. */
static void started_between_resume_and_tick(void **state)
{
    struct host *host = *state;
    int before = 0, after = 0, soon = 0;
    void *timers[3] = {timer_started(host, &before, HOUR_US), NULL, NULL};
    suspend(2);
    timers[1] = timer_started(host, &after, HOUR_US);
    turn_until_fired(host, &before, 1);
    timers[2] = timer_started(host, &soon, 0);
    turn_until_fired(host, &soon, 1);
    assert_int_equal(after, 0);
    suspend(2);
    turn_until_fired(host, &after, 1);
    for (size_t i = 0; i < 3; i++)
        host->loop.timer_free(timers[i]);
}

struct chain {
    struct host *host;
    void *timer;
    int fired;
};

static void on_fire_chain(void *arg)
{
    struct chain *chain = arg;
    chain->fired++;
    chain->host->loop.timer_start(chain->timer, HOUR_US);
    suspend(1);
}

/* Suspended repeatedly, and the timer started in its own fire. */
static void many_suspends(void **state)
{
    struct chain chain = {.host = *state};
    chain.timer = chain.host->loop.timer_new(chain.host->loop.ctx, on_fire_chain, &chain);
    chain.host->loop.timer_start(chain.timer, HOUR_US);
    suspend(1);
    turn_until_fired(chain.host, &chain.fired, 3);
    chain.host->loop.timer_free(chain.timer);
}

/* Two clients on one base: the first one's tick moves the timers of both, and the second one's does no harm. */
static void two_clients_on_one_base(void **state)
{
    struct host *host = *state, second = {.base = host->base};
    int one = 0, two = 0;
    void *timer, *of_second;
    assert_int_equal(hilock_libevent_loop(&second.loop, second.base), HILOCK_OK);
    timer = timer_started(host, &one, HOUR_US);
    of_second = timer_started(&second, &two, HOUR_US);
    suspend(1);
    turn_until_fired(host, &one, 1);
    turn_until_fired(&second, &two, 1);
    second.loop.timer_free(of_second);
    second.loop.free_ctx(second.loop.ctx);
    host->loop.timer_free(timer);
}

static void on_user_timer(evutil_socket_t fd, short what, void *user)
{
    (void)fd, (void)what;
    ++*(int *)user;
}

/* The program's own events are left alone, and thousands of ours are found among them. */
static void only_our_timers_are_moved(void **state)
{
    enum { COUNT = 5000 };
    const struct timeval hour = {3600, 0};
    struct host *host = *state;
    void **timers = calloc(COUNT, sizeof *timers);
    int fired = 0, users = 0;
    struct event *user = evtimer_new(host->base, on_user_timer, &users);
    event_add(user, &hour);
    assert_non_null(timers);
    for (size_t i = 0; i < COUNT; i++)
        timers[i] = timer_started(host, &fired, (i % 2 ? 1 : 9) * HOUR_US);
    suspend(2);
    turn_until_fired(host, &fired, COUNT / 2);
    event_base_loop(host->base, EVLOOP_NONBLOCK);
    assert_int_equal(fired, COUNT / 2);
    assert_int_equal(users, 0);
    for (size_t i = 0; i < COUNT; i++)
        host->loop.timer_free(timers[i]);
    event_free(user);
    free(timers);
}

/* The timerfd is shared with a forked child: a child that frees does not stop the parent's ticks. */
static void forked_child_does_not_stop_the_ticks(void **state)
{
    struct host *host = *state;
    int fired = 0, status;
    void *timer = timer_started(host, &fired, HOUR_US);
    pid_t child = fork();
    if (child == 0) {
        const int is_reinit = event_reinit(host->base);
        host->loop.timer_free(timer);
        host->loop.free_ctx(host->loop.ctx);
        _exit(is_reinit == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    suspend(1);
    turn_until_fired(host, &fired, 1);
    host->loop.timer_free(timer);
}

int main(void)
{
    const struct CMUnitTest suspend_tests[] = {
        cmocka_unit_test_setup_teardown(what_came_due_fires_on_resume, host_begin, host_end),
        cmocka_unit_test_setup_teardown(started_between_resume_and_tick, host_begin, host_end),
        cmocka_unit_test_setup_teardown(many_suspends, host_begin, host_end),
        cmocka_unit_test_setup_teardown(two_clients_on_one_base, host_begin, host_end),
        cmocka_unit_test_setup_teardown(only_our_timers_are_moved, host_begin, host_end),
        cmocka_unit_test_setup_teardown(forked_child_does_not_stop_the_ticks, host_begin, host_end),
    };
    return cmocka_run_group_tests(suspend_tests, NULL, NULL);
}
