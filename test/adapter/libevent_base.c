/* SPDX-License-Identifier: BSD-3-Clause */
/* What the libevent adapter owes the caller's event_base: it does not starve us, a timer starts without memory, and a
 * forked child leaves its parent alone. And a suspended host, simulated: CLOCK_BOOTTIME can be moved on while all
 * other clocks stand. The adapter's timerfd ticks in real time, once a second; the tests wait for the timers that it
 * must let fire. */
#include "conformance.h"

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOUR_US UINT64_C(3600000000)

enum { OTHERS = 1000 };

static time_t suspended_s;
int clock_gettime(clockid_t clock, struct timespec *ret_time) /* the program's, libevent's too */
{
    const int result = (int)syscall(SYS_clock_gettime, clock, ret_time);
    if (clock == CLOCK_BOOTTIME)
        ret_time->tv_sec += suspended_s;
    return result;
}

static void suspend(unsigned hours) { suspended_s += (time_t)hours * 3600; }

static int memory_is_out;
static void *memory_realloc(void *memory, size_t bytes) { return memory_is_out ? NULL : realloc(memory, bytes); }
static void *memory_malloc(size_t bytes) { return memory_is_out ? NULL : malloc(bytes); }

__attribute__((constructor)) static void memory_is_ours(void)
{
    event_set_mem_functions(memory_malloc, memory_realloc, free);
}

struct host {
    struct event_base *base; /* of three priorities */
    struct hilock_loop loop;
    struct pair pair;
    void *watch, *timer;
    struct seen ready, fired;
    struct event *others[OTHERS]; /* of the program's, whose fires are counted */
    int others_fired;
};

static void on_other(evutil_socket_t fd, short what, void *user)
{
    (void)fd, (void)what;
    ++*(int *)user;
}

static int host_begin(void **state)
{
    struct host *host = calloc(1, sizeof *host);
    if (!host)
        return -1;
    *state = host;
    host->base = event_base_new();
    if (event_base_priority_init(host->base, 3) != 0 || hilock_libevent_loop(&host->loop, host->base) != HILOCK_OK)
        return -1;
    host->pair = pair_open();
    host->watch = host->loop.watch_new(host->loop.ctx, host->pair.near, on_ready_count, &host->ready);
    host->timer = host->loop.timer_new(host->loop.ctx, on_fire_count, &host->fired);
    for (int i = 0; i < OTHERS; i++)
        host->others[i] = evtimer_new(host->base, on_other, &host->others_fired);
    return host->watch && host->timer ? 0 : -1;
}

static void all_freed(struct host *host)
{
    host->loop.watch_free(host->watch);
    host->loop.timer_free(host->timer);
    host->loop.free_ctx(host->loop.ctx);
}

static int events_left(struct event_base *base)
{
    return event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED | EVENT_BASE_COUNT_ACTIVE | EVENT_BASE_COUNT_VIRTUAL);
}

static int host_end(void **state)
{
    struct host *host = *state;
    for (int i = 0; i < OTHERS; i++)
        event_free(host->others[i]);
    all_freed(host);
    int left = events_left(host->base);
    pair_close(&host->pair);
    event_base_free(host->base);
    free(host);
    return left;
}

#define IN_BASE(name) STAGED(name, struct host, host, host_begin, host_end)

static void turn_until_seen(struct host *host, const struct seen *seen, int count)
{
    while (seen->count < count)
        event_base_loop(host->base, EVLOOP_ONCE);
}

/* The program's own most urgent event is ready in every turn. */
IN_BASE(busy_base_does_not_starve_us)
{
    int turns = 0;
    struct event *busy = event_new(host->base, host->pair.far, EV_WRITE | EV_PERSIST, on_other, &turns);
    event_priority_set(busy, 0);
    event_add(busy, NULL);
    assert_int_equal(host->loop.watch_set(host->watch, HILOCK_READABLE), 0);
    host->loop.timer_start(host->timer, 10000);
    pair_write(&host->pair);
    turn_until_seen(host, &host->ready, 2);
    turn_until_seen(host, &host->fired, 1);
    assert_true(turns > 1);
    event_free(busy);
}

/* Takes every place in libevent's heap, that of a timer which is about to fire in this turn too. */
static void steal(struct host *host)
{
    const struct timeval hour = {3600, 0};
    memory_is_out = 1;
    for (int i = 0; i < OTHERS && event_add(host->others[i], &hour) == 0; i++)
        ;
    assert_false(event_pending(host->others[OTHERS - 1], EV_TIMEOUT, NULL)); /* there was none left */
}

/* Starting, stopping and starting again still works. */
IN_BASE(timers_start_without_memory)
{
    steal(host);
    assert_null(host->loop.timer_new(host->loop.ctx, on_fire_count, &host->fired));
    for (int i = 1; i <= 3; i++) {
        host->loop.timer_stop(host->timer);
        host->loop.timer_start(host->timer, 1000);
        turn_until_seen(host, &host->fired, i);
    }
    memory_is_out = 0;
}

static void on_steal(evutil_socket_t fd, short what, void *user)
{
    (void)fd, (void)what;
    steal(user);
}

static void on_fire_start_again(void *arg)
{
    struct host *host = arg;
    on_fire_count(&host->fired);
    if (host->fired.count == 1)
        assert_int_equal(host->loop.watch_set(host->watch, HILOCK_WRITABLE), 0);
    if (host->ready.count > 0)
        memory_is_out = 0;
    host->fired.is_inside_call = 1;
    host->loop.timer_start(host->timer, HOUR_US);
    host->fired.is_inside_call = 0;
}

/* The one case that no reservation covers: the timer fires early rather than never, each time on a later turn, so that descriptors are served;
 * and it obeys again when memory is back. */
IN_BASE(stolen_place_means_early_not_never)
{
    const struct timeval now = {0, 0};
    struct event *thief = evtimer_new(host->base, on_steal, host);
    const uint64_t start_us = host->loop.now_us(NULL);
    host->loop.timer_free(host->timer);
    host->timer = host->loop.timer_new(host->loop.ctx, on_fire_start_again, host);
    assert_int_equal(host->loop.watch_set(host->watch, HILOCK_READABLE), 0);
    event_priority_set(thief, 0);
    event_add(thief, &now);
    host->loop.timer_start(host->timer, 20000);
    while (host->loop.now_us(NULL) < start_us + 60000) /* so that both are due in the first turn, in this order */
        ;
    while (memory_is_out || host->ready.count == 0)
        event_base_loop(host->base, EVLOOP_ONCE);
    int fired = host->fired.count;
    assert_true(fired >= 2);
    for (int i = 0; i < 10; i++)
        event_base_loop(host->base, EVLOOP_ONCE);
    assert_int_equal(host->fired.count, fired);
    event_free(thief);
}

static void on_program_event(evutil_socket_t fd, short what, void *user)
{
    const struct host *host = user;
    (void)fd, (void)what;
    host->loop.timer_hurry(host->timer);
}

/* What the program asks for in one of its own events is done in the same turn, with no question to the kernel in between. */
IN_BASE(hurry_is_in_the_same_turn)
{
    struct event *event = event_new(host->base, -1, 0, on_program_event, host);
    for (int priority = 0; priority < 3; priority++) {
        event_priority_set(event, priority);
        event_active(event, EV_TIMEOUT, 1);
        event_base_loop(host->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        assert_int_equal(host->fired.count, priority == 0 ? 1 : host->fired.count);
        event_base_loop(host->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        assert_int_equal(host->fired.count, priority + 1);
    }
    event_free(event);
}

/* In the child all is freed after event_reinit; the parent's watch and timers go on, and so do the ticks of the timerfd that they share. */
IN_BASE(forked_child_leaves_the_parent_alone)
{
    int status;
    assert_int_equal(host->loop.watch_set(host->watch, HILOCK_READABLE), 0);
    host->loop.timer_start(host->timer, 10000);
    event_base_loop(host->base, EVLOOP_NONBLOCK);
    pid_t child = fork();
    if (child == 0) {
        const int is_reinit = event_reinit(host->base);
        all_freed(host);
        _exit(is_reinit == 0 && events_left(host->base) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    turn_until_seen(host, &host->fired, 1);
    pair_write(&host->pair);
    turn_until_seen(host, &host->ready, 1);
    assert_int_equal(host->loop.watch_set(host->watch, 0), 0);
    host->loop.timer_start(host->timer, HOUR_US);
    suspend(1);
    turn_until_seen(host, &host->fired, 2);
}

/* ---- suspended ---- */

static void *timer_started(struct host *host, struct seen *fired, uint64_t delay_us)
{
    void *timer = host->loop.timer_new(host->loop.ctx, on_fire_count, fired);
    assert_non_null(timer);
    host->loop.timer_start(timer, delay_us);
    return timer;
}

/* What was due fires on resume; what was not keeps its time; what was stopped stays so. */
IN_BASE(what_came_due_fires_on_resume)
{
    struct seen one = {0}, three = {0}, stopped = {0};
    void *timers[3] = {timer_started(host, &one, HOUR_US), timer_started(host, &three, 3 * HOUR_US), timer_started(host, &stopped, HOUR_US)};
    host->loop.timer_stop(timers[2]);
    suspend(2);
    turn_until_seen(host, &one, 1);
    assert_int_equal(three.count, 0);
    suspend(2);
    turn_until_seen(host, &three, 1);
    assert_int_equal(one.count, 1);
    assert_int_equal(stopped.count, 0);
    for (size_t i = 0; i < 3; i++)
        host->loop.timer_free(timers[i]);
}

/* A timer that is started after the resume, before the tick, has not slept. */
IN_BASE(started_between_resume_and_tick)
{
    struct seen before = {0}, after = {0}, soon = {0};
    void *timers[3] = {timer_started(host, &before, HOUR_US), NULL, NULL};
    suspend(2);
    timers[1] = timer_started(host, &after, HOUR_US);
    turn_until_seen(host, &before, 1);
    timers[2] = timer_started(host, &soon, 0);
    turn_until_seen(host, &soon, 1);
    assert_int_equal(after.count, 0);
    suspend(2);
    turn_until_seen(host, &after, 1);
    for (size_t i = 0; i < 3; i++)
        host->loop.timer_free(timers[i]);
}

static void on_fire_suspend(void *arg)
{
    struct host *host = arg;
    on_fire_count(&host->fired);
    host->loop.timer_start(host->timer, HOUR_US);
    suspend(1);
}

/* Suspended repeatedly, and the timer started in its own fire. */
IN_BASE(many_suspends)
{
    host->loop.timer_free(host->timer);
    host->timer = host->loop.timer_new(host->loop.ctx, on_fire_suspend, host);
    host->loop.timer_start(host->timer, HOUR_US);
    suspend(1);
    turn_until_seen(host, &host->fired, 3);
}

/* Two clients on one base: the first one's tick moves the timers of both, and the second one's does no harm. */
IN_BASE(two_clients_on_one_base)
{
    struct host second = {.base = host->base};
    assert_int_equal(hilock_libevent_loop(&second.loop, second.base), HILOCK_OK);
    host->loop.timer_start(host->timer, HOUR_US);
    void *timer = timer_started(&second, &second.fired, HOUR_US);
    suspend(1);
    turn_until_seen(host, &host->fired, 1);
    turn_until_seen(host, &second.fired, 1);
    second.loop.timer_free(timer);
    second.loop.free_ctx(second.loop.ctx);
}

/* The program's own events are left alone, and thousands of ours are found among them. */
IN_BASE(only_our_timers_are_moved)
{
    enum { COUNT = 5000 };
    const struct timeval hour = {3600, 0};
    void **timers = calloc(COUNT, sizeof *timers);
    assert_non_null(timers);
    for (int i = 0; i < OTHERS; i++)
        event_add(host->others[i], &hour);
    for (size_t i = 0; i < COUNT; i++)
        timers[i] = timer_started(host, &host->fired, (i % 2 ? 1 : 9) * HOUR_US);
    suspend(2);
    turn_until_seen(host, &host->fired, COUNT / 2);
    event_base_loop(host->base, EVLOOP_NONBLOCK);
    assert_int_equal(host->fired.count, COUNT / 2);
    assert_int_equal(host->others_fired, 0);
    for (size_t i = 0; i < COUNT; i++)
        host->loop.timer_free(timers[i]);
    free(timers);
}
