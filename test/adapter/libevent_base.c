/* SPDX-License-Identifier: BSD-3-Clause */
/* What the libevent adapter owes the caller's event_base: it keeps the base running and leaves it empty, is not
 * starved, makes no needless system call, needs no memory to start a timer, and leaves the parent of a forked child alone. */
#include "conformance.h"

#include <dlfcn.h>
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int epoll_ctl_calls;
int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event) /* in the place of libc's, for libevent too */
{
    static int (*libc_epoll_ctl)(int, int, int, struct epoll_event *);
    if (!libc_epoll_ctl)
        *(void **)&libc_epoll_ctl = dlsym(RTLD_NEXT, "epoll_ctl");
    epoll_ctl_calls++;
    return libc_epoll_ctl(epfd, op, fd, event);
}

static int memory_is_out;
static void *memory_realloc(void *memory, size_t bytes) { return memory_is_out ? NULL : realloc(memory, bytes); }
static void *memory_malloc(size_t bytes) { return memory_is_out ? NULL : malloc(bytes); }

static struct hilock_loop loop_make(struct event_base *base)
{
    struct hilock_loop loop;
    assert_int_equal(hilock_libevent_loop(&loop, base), HILOCK_OK);
    return loop;
}

static int events_left(struct event_base *base)
{
    return event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED | EVENT_BASE_COUNT_ACTIVE | EVENT_BASE_COUNT_VIRTUAL);
}

struct finale {
    struct hilock_loop loop;
    void *timer, *other, *watch;
    int fds[2], has_ended;
};

static void on_fire_end_all(void *arg)
{
    struct finale *finale = arg;
    finale->loop.watch_free(finale->watch);
    finale->loop.timer_free(finale->other);
    finale->loop.timer_free(finale->timer);
    finale->loop.free_ctx(finale->loop.ctx);
    finale->has_ended = 1;
}

/* An open client keeps dispatch running; after free_ctx, here inside fire, dispatch returns by itself. */
static void dispatch_runs_until_free_ctx(void **state)
{
    struct event_base *base = event_base_new();
    struct finale finale = {.loop = loop_make(base)};
    struct hilock_loop *loop = &finale.loop;
    (void)state;
    assert_int_equal(event_base_loop(base, EVLOOP_NONBLOCK), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, finale.fds), 0);
    finale.watch = loop->watch_new(loop->ctx, finale.fds[0], on_ready_count, &finale);
    assert_int_equal(loop->watch_set(finale.watch, HILOCK_READABLE), 0);
    finale.timer = loop->timer_new(loop->ctx, on_fire_end_all, &finale);
    finale.other = loop->timer_new(loop->ctx, on_fire_end_all, NULL);
    loop->timer_start(finale.other, UINT64_C(3600000000));
    loop->timer_start(finale.timer, 10000);
    assert_int_equal(event_base_dispatch(base), 1);
    assert_true(finale.has_ended);
    assert_int_equal(events_left(base), 0);
    close(finale.fds[0]);
    close(finale.fds[1]);
    event_base_free(base);
}

static void on_busy(evutil_socket_t fd, short what, void *user)
{
    (void)fd, (void)what;
    ++*(int *)user;
}

/* The program's own most urgent event is ready in every turn. */
static void busy_base_does_not_starve_us(void **state)
{
    struct event_base *base = event_base_new();
    struct hilock_loop loop;
    struct seen ready = {0}, fired = {0};
    struct event *busy;
    void *watch, *timer;
    int fds[2], turns = 0;
    (void)state;
    assert_int_equal(event_base_priority_init(base, 3), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    busy = event_new(base, fds[1], EV_WRITE | EV_PERSIST, on_busy, &turns);
    event_priority_set(busy, 0);
    event_add(busy, NULL);
    loop = loop_make(base);
    watch = loop.watch_new(loop.ctx, fds[0], on_ready_count, &ready);
    timer = loop.timer_new(loop.ctx, on_fire_count, &fired);
    assert_int_equal(loop.watch_set(watch, HILOCK_READABLE), 0);
    loop.timer_start(timer, 10000);
    assert_int_equal(write(fds[1], "x", 1), 1);
    while (ready.count < 2 || fired.count < 1)
        event_base_loop(base, EVLOOP_ONCE);
    assert_true(turns > 1);
    loop.timer_free(timer);
    loop.watch_free(watch);
    loop.free_ctx(loop.ctx);
    event_free(busy);
    close(fds[0]);
    close(fds[1]);
    event_base_free(base);
}

static void asking_again_is_no_system_call(void **state)
{
    static const unsigned toggled[] = {HILOCK_READABLE | HILOCK_WRITABLE, HILOCK_READABLE};
    struct event_base *base = event_base_new();
    struct hilock_loop loop = loop_make(base);
    struct seen seen = {0};
    int fds[2];
    void *watch;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    watch = loop.watch_new(loop.ctx, fds[0], on_ready_count, &seen);
    epoll_ctl_calls = 0;
    assert_int_equal(loop.watch_set(watch, HILOCK_READABLE), 0);
    assert_int_equal(epoll_ctl_calls, 1);
    for (int i = 0; i < 10; i++)
        assert_int_equal(loop.watch_set(watch, HILOCK_READABLE), 0);
    assert_int_equal(epoll_ctl_calls, 1);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(loop.watch_set(watch, toggled[i]), 0);
    assert_int_equal(epoll_ctl_calls, 3);
    loop.watch_free(watch);
    loop.free_ctx(loop.ctx);
    close(fds[0]);
    close(fds[1]);
    event_base_free(base);
}

/* Other events take every place in libevent's heap; starting, stopping and starting again still works. */
static void timers_start_without_memory(void **state)
{
    struct event_base *base = event_base_new();
    struct hilock_loop loop = loop_make(base);
    const struct timeval hour = {3600, 0};
    struct seen seen = {0};
    struct event *others[1000];
    void *timer = loop.timer_new(loop.ctx, on_fire_count, &seen);
    int count = 0;
    (void)state;
    for (int i = 0; i < 1000; i++)
        others[i] = evtimer_new(base, on_busy, &count);
    memory_is_out = 1;
    while (event_add(others[count], &hour) == 0)
        count++;
    assert_null(loop.timer_new(loop.ctx, on_fire_count, &seen));
    for (int i = 1; i <= 3; i++) {
        loop.timer_stop(timer);
        loop.timer_start(timer, 1000);
        while (seen.count < i)
            event_base_loop(base, EVLOOP_ONCE);
    }
    memory_is_out = 0;
    for (int i = 0; i < 1000; i++)
        event_free(others[i]);
    loop.timer_free(timer);
    loop.free_ctx(loop.ctx);
    event_base_free(base);
}

struct thief {
    struct event_base *base;
    struct event *others[1000];
    int count;
};

/* Takes every place in the heap, that of the timer which is about to fire in this turn too. */
static void on_steal(evutil_socket_t fd, short what, void *user)
{
    const struct timeval hour = {3600, 0};
    struct thief *thief = user;
    (void)fd, (void)what;
    memory_is_out = 1;
    while (event_add(thief->others[thief->count], &hour) == 0)
        thief->count++;
}

struct victim {
    struct hilock_loop loop;
    void *timer, *watch;
    struct seen fired, ready;
};

static void on_fire_start_again(void *arg)
{
    struct victim *victim = arg;
    on_fire_count(&victim->fired);
    if (victim->fired.count == 1)
        assert_int_equal(victim->loop.watch_set(victim->watch, HILOCK_WRITABLE), 0);
    if (victim->ready.count > 0)
        memory_is_out = 0;
    victim->fired.is_inside_call = 1;
    victim->loop.timer_start(victim->timer, UINT64_C(3600000000));
    victim->fired.is_inside_call = 0;
}

/* The one case that no reservation covers: the timer fires early rather than never, each time on a later turn, so that descriptors are served;
 * and it obeys again when memory is back. */
static void stolen_place_means_early_not_never(void **state)
{
    struct event_base *base = event_base_new();
    struct victim victim = {.loop = loop_make(base)};
    struct thief thief = {.base = base};
    const struct timeval now = {0, 0};
    struct event *steal = evtimer_new(base, on_steal, &thief);
    const uint64_t start_us = victim.loop.now_us(NULL);
    int fds[2], fired;
    (void)state;
    for (int i = 0; i < 1000; i++)
        thief.others[i] = evtimer_new(base, on_busy, &thief.count);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    victim.watch = victim.loop.watch_new(victim.loop.ctx, fds[0], on_ready_count, &victim.ready);
    victim.timer = victim.loop.timer_new(victim.loop.ctx, on_fire_start_again, &victim);
    assert_int_equal(victim.loop.watch_set(victim.watch, HILOCK_READABLE), 0);
    event_add(steal, &now);
    victim.loop.timer_start(victim.timer, 20000);
    while (victim.loop.now_us(NULL) < start_us + 60000) /* so that both are due in the first turn, in this order */
        ;
    while (memory_is_out || victim.ready.count == 0)
        event_base_loop(base, EVLOOP_ONCE);
    fired = victim.fired.count;
    assert_true(thief.count > 0 && fired >= 2);
    for (int i = 0; i < 10; i++)
        event_base_loop(base, EVLOOP_ONCE);
    assert_int_equal(victim.fired.count, fired);
    event_free(steal);
    for (int i = 0; i < 1000; i++)
        event_free(thief.others[i]);
    victim.loop.timer_free(victim.timer);
    victim.loop.watch_free(victim.watch);
    victim.loop.free_ctx(victim.loop.ctx);
    close(fds[0]);
    close(fds[1]);
    event_base_free(base);
}

struct hurrier {
    struct hilock_loop *loop;
    void *timer;
};

static void on_program_event(evutil_socket_t fd, short what, void *user)
{
    const struct hurrier *hurrier = user;
    (void)fd, (void)what;
    hurrier->loop->timer_hurry(hurrier->timer);
}

/* What the program asks for in one of its own events is done in the same turn, with no question to the kernel in between. */
static void hurry_is_in_the_same_turn(void **state)
{
    struct event_base *base = event_base_new();
    struct hilock_loop loop;
    struct seen fired = {0};
    struct hurrier hurrier = {&loop, NULL};
    struct event *event;
    (void)state;
    event_base_priority_init(base, 3);
    loop = loop_make(base);
    event = event_new(base, -1, 0, on_program_event, &hurrier);
    hurrier.timer = loop.timer_new(loop.ctx, on_fire_count, &fired);
    for (int priority = 0; priority < 3; priority++) {
        event_priority_set(event, priority);
        event_active(event, EV_TIMEOUT, 1);
        event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        assert_int_equal(fired.count, priority == 0 ? 1 : fired.count);
        event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        assert_int_equal(fired.count, priority + 1);
    }
    event_free(event);
    loop.timer_free(hurrier.timer);
    loop.free_ctx(loop.ctx);
    event_base_free(base);
}

/* In the child all is freed after event_reinit; the parent's watch and timers go on. */
static void forked_child_leaves_the_parent_alone(void **state)
{
    struct event_base *base = event_base_new();
    struct hilock_loop loop = loop_make(base);
    struct seen ready = {0}, fired = {0};
    int fds[2], status;
    void *watch, *timer;
    pid_t child;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    watch = loop.watch_new(loop.ctx, fds[0], on_ready_count, &ready);
    timer = loop.timer_new(loop.ctx, on_fire_count, &fired);
    assert_int_equal(loop.watch_set(watch, HILOCK_READABLE), 0);
    loop.timer_start(timer, 10000);
    event_base_loop(base, EVLOOP_NONBLOCK);
    child = fork();
    if (child == 0) {
        const int is_reinit = event_reinit(base);
        loop.watch_free(watch);
        loop.timer_free(timer);
        loop.free_ctx(loop.ctx);
        _exit(is_reinit == 0 && events_left(base) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    while (ready.count == 0 || fired.count == 0)
        event_base_loop(base, EVLOOP_ONCE);
    loop.watch_free(watch);
    loop.timer_free(timer);
    loop.free_ctx(loop.ctx);
    close(fds[0]);
    close(fds[1]);
    event_base_free(base);
}

int main(void)
{
    const struct CMUnitTest base[] = {
        cmocka_unit_test(dispatch_runs_until_free_ctx),
        cmocka_unit_test(busy_base_does_not_starve_us),
        cmocka_unit_test(asking_again_is_no_system_call),
        cmocka_unit_test(timers_start_without_memory),
        cmocka_unit_test(stolen_place_means_early_not_never),
        cmocka_unit_test(hurry_is_in_the_same_turn),
        cmocka_unit_test(forked_child_leaves_the_parent_alone),
    };
    event_set_mem_functions(memory_malloc, memory_realloc, free);
    return cmocka_run_group_tests(base, NULL, NULL);
}
