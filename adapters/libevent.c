/* SPDX-License-Identifier: BSD-3-Clause */
/* hilock's loop table over libevent: watches, timers and a clock. Names are resolved in libevent_resolve.c.
 *
 * Priority: everything gets priority 0 of the base, so that a busy program cannot starve renewals and losses.
 *
 * Timers: each timer is one libevent timer event. Starting a timer must not need memory, so a timer never leaves
 * libevent's heap: a stopped timer is armed for a time far in the future. If another event has taken the heap place
 * of a timer that is just firing, and the heap cannot grow, the timer fires early, which loop.h allows, instead of
 * never.
 *
 * Suspend: libevent uses CLOCK_MONOTONIC, which stands still while the host is suspended. So each timer stores when
 * it is due on CLOCK_BOOTTIME, and a timerfd on that clock ticks every second. After a suspend of a second or more
 * the tick comes at once on resume, otherwise within a second of the resume. When a tick finds that the two clocks
 * have moved apart, this adapter starts all of its timers on the base again, each with the time that is left until
 * it is due. That is right for timers that were started after the resume, too, and harmless where it was not needed.
 * So starting a timer costs no system call, and no list of timers is kept. The timerfd also keeps
 * event_base_dispatch() running while a client is open.
 *
 * Another thread wakes the loop through this timerfd, too: setting it is one system call, which touches nothing of
 * the base. */
#include "libevent_resolve.h"

#include <hilock/adapters/libevent.h>
#include <hilock/loop.h>

#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define FAR_US UINT64_C(1000000000000000) /* 31 years: for a stopped timer, and the longest delay of a started one */
#define NEVER_US UINT64_MAX

enum { TICK_S = 1, APART_US = 2000 };

struct loop {
    struct event_base *base;
    struct event tick;
    int timerfd;
    pid_t owner;
    int64_t suspended_us; /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC at the latest tick */
    struct timer *_Atomic woken; /* the timer that another thread has woken: it fires after the next tick */
};

struct watch {
    struct event readable, writable; /* two events, so that asking for the second one is a single epoll_ctl() */
    hilock_ready_fn *ready;
    void *arg;
};

struct timer {
    struct event event;
    struct loop *loop;
    uint64_t due_us; /* when the timer fires, on CLOCK_BOOTTIME; NEVER_US: it is stopped */
    hilock_fire_fn *fire;
    void *arg;
};

static uint64_t clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static uint64_t now_us(const void *clock)
{
    (void)clock;
    return clock_us(CLOCK_BOOTTIME);
}

static void event_begin(struct event *event, struct event_base *base, int fd, short what, event_callback_fn callback,
                        void *arg)
{
    event_assign(event, base, fd, what, callback, arg);
    event_priority_set(event, 0);
}

static void event_end(struct event *event)
{
    event_del(event);
    event_debug_unassign(event);
}

/* The callback ready() may free the watch, so nothing of the watch is touched after it. */
static void on_readable(evutil_socket_t fd, short what, void *user)
{
    struct watch *watch = user;
    (void)fd, (void)what;
    watch->ready(HILOCK_READABLE, watch->arg);
}

static void on_writable(evutil_socket_t fd, short what, void *user)
{
    struct watch *watch = user;
    (void)fd, (void)what;
    watch->ready(HILOCK_WRITABLE, watch->arg);
}

static void *watch_new(void *ctx, int fd, hilock_ready_fn *ready, void *arg)
{
    const struct loop *loop = ctx;
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    event_begin(&watch->readable, loop->base, fd, EV_READ | EV_PERSIST, on_readable, watch);
    event_begin(&watch->writable, loop->base, fd, EV_WRITE | EV_PERSIST, on_writable, watch);
    watch->ready = ready;
    watch->arg = arg;
    return watch;
}

/* libevent remembers what was asked for, so asking for the same again costs no system call. */
static int event_ask(struct event *event, unsigned is_asked)
{
    return is_asked ? event_add(event, NULL) : event_del(event);
}

static int watch_set(void *handle, unsigned interest)
{
    struct watch *watch = handle;
    if (event_ask(&watch->readable, interest & HILOCK_READABLE) == 0 &&
        event_ask(&watch->writable, interest & HILOCK_WRITABLE) == 0)
        return 0;
    event_del(&watch->readable);
    event_del(&watch->writable);
    return -1;
}

static void watch_free(void *handle)
{
    struct watch *watch = handle;
    event_end(&watch->readable);
    event_end(&watch->writable);
    free(watch);
}

static struct timeval span(uint64_t span_us)
{
    return (struct timeval){(time_t)(span_us / 1000000), (suseconds_t)(span_us % 1000000)};
}

/* Arms the libevent event. This fails only if the event is not in the heap and the heap cannot grow. */
static int timer_park(struct timer *timer)
{
    const struct timeval far = span(FAR_US);
    timer->due_us = NEVER_US;
    return event_add(&timer->event, &far);
}

/* Arms the timer far in the future before it calls fire(), because fire() may free the timer or start it again. */
static void on_timer(evutil_socket_t fd, short what, void *user)
{
    struct timer *timer = user;
    (void)fd, (void)what;
    (void)timer_park(timer);
    timer->fire(timer->arg);
}

static void *timer_new(void *ctx, hilock_fire_fn *fire, void *arg)
{
    struct loop *loop = ctx;
    struct timer *timer = calloc(1, sizeof *timer);
    if (!timer)
        return NULL;
    event_begin(&timer->event, loop->base, -1, 0, on_timer, timer);
    timer->loop = loop;
    timer->fire = fire;
    timer->arg = arg;
    if (timer_park(timer) != 0) {
        event_end(&timer->event);
        free(timer);
        return NULL;
    }
    return timer;
}

/* Without memory, makes the timer active instead of arming it. libevent would run an active event in this same turn,
 * and for ever if fire() starts the timer again, so the loop is made to end this turn first. */
static void timer_arm(struct timer *timer, uint64_t delay_us)
{
    const struct timeval delay = span(delay_us);
    if (event_add(&timer->event, &delay) == 0)
        return;
    event_active(&timer->event, EV_TIMEOUT, 1);
    event_base_loopcontinue(event_get_base(&timer->event));
}

static void timer_start(void *handle, uint64_t delay_us)
{
    struct timer *timer = handle;
    if (delay_us > FAR_US)
        delay_us = FAR_US;
    timer->due_us = now_us(NULL) + delay_us;
    timer_arm(timer, delay_us);
}

/* Activating an event costs no system call, and is enough: a turn runs callbacks until none is active. */
static void timer_hurry(void *handle)
{
    struct timer *timer = handle;
    event_active(&timer->event, EV_TIMEOUT, 1);
}

static void timer_stop(void *handle)
{
    struct timer *timer = handle;
    if (timer_park(timer) != 0)
        event_del(&timer->event);
}

/* Wakes the timer from another thread, which must not touch the base. It makes the tick come at once, and the tick
 * activates the timer. */
static void timer_wake(void *handle)
{
    static const struct itimerspec now = {.it_interval = {.tv_sec = TICK_S}, .it_value = {.tv_nsec = 1}};
    struct timer *timer = handle;
    atomic_store(&timer->loop->woken, timer);
    (void)timerfd_settime(timer->loop->timerfd, 0, &now, NULL);
}

static void timer_free(void *handle)
{
    struct timer *timer = handle;
    struct timer *woken = timer;
    atomic_compare_exchange_strong(&timer->loop->woken, &woken, NULL);
    event_end(&timer->event);
    free(timer);
}

struct timers {
    struct timer **list;
    size_t count, room;
};

static int timers_collect(const struct event_base *base, const struct event *event, void *arg)
{
    struct timers *timers = arg;
    struct timer *timer = event_get_callback_arg(event);
    (void)base;
    if (event_get_callback(event) != on_timer || timer->due_us == NEVER_US)
        return 0;
    if (timers->count == timers->room) {
        const size_t room = timers->room ? 2 * timers->room : 64;
        struct timer **list = realloc(timers->list, room * sizeof *list);
        if (!list)
            return -1;
        timers->list = list;
        timers->room = room;
    }
    timers->list[timers->count++] = timer;
    return 0;
}

/* Restarts the timers in two steps, because libevent forbids changes while it visits its events. */
static int timers_restart(struct event_base *base)
{
    struct timers timers = {NULL, 0, 0};
    const int status = event_base_foreach_event(base, timers_collect, &timers);
    const uint64_t now = now_us(NULL);
    for (size_t i = 0; status == 0 && i < timers.count; i++) {
        const uint64_t due = timers.list[i]->due_us;
        timer_arm(timers.list[i], due > now ? due - now : 0);
    }
    free(timers.list);
    return status;
}

/* Returns CLOCK_BOOTTIME minus CLOCK_MONOTONIC. CLOCK_BOOTTIME is read first, so an interruption between the two makes
 * the result too small, and never too large. At worst the next tick then restarts the timers needlessly. */
static int64_t time_suspended_us(void)
{
    const uint64_t boottime_us = clock_us(CLOCK_BOOTTIME);
    return (int64_t)(boottime_us - clock_us(CLOCK_MONOTONIC));
}

/* Silences the tick in a forked child. Reading the timerfd there would take the tick from the parent, and deleting
 * the event would remove it from an epoll set that both may share. So the descriptor is first made to refer to
 * another file, which is never readable. */
static void tick_leave(struct loop *loop)
{
    const int silent = eventfd(0, EFD_CLOEXEC);
    if (silent >= 0 && dup3(silent, loop->timerfd, O_CLOEXEC) >= 0)
        event_del(&loop->tick);
    close(silent);
}

static void on_tick(evutil_socket_t fd, short what, void *user)
{
    struct loop *loop = user;
    struct timer *woken;
    int64_t suspended_us;
    uint64_t ticks;
    (void)what;
    if (getpid() != loop->owner) {
        tick_leave(loop);
        return;
    }
    if (read(fd, &ticks, sizeof ticks) < 0)
        return;
    woken = atomic_exchange(&loop->woken, NULL);
    if (woken)
        event_active(&woken->event, EV_TIMEOUT, 1);
    suspended_us = time_suspended_us();
    if (suspended_us - loop->suspended_us > APART_US && timers_restart(loop->base) != 0)
        return; /* no memory for the list: the next tick tries again */
    loop->suspended_us = suspended_us;
}

static int tick_open(struct loop *loop)
{
    const struct itimerspec second = {.it_interval = {.tv_sec = TICK_S}, .it_value = {.tv_sec = TICK_S}};
    loop->suspended_us = time_suspended_us();
    loop->timerfd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (loop->timerfd < 0)
        return -1;
    event_begin(&loop->tick, loop->base, loop->timerfd, EV_READ | EV_PERSIST, on_tick, loop);
    if (timerfd_settime(loop->timerfd, 0, &second, NULL) == 0 && event_add(&loop->tick, NULL) == 0)
        return 0;
    event_debug_unassign(&loop->tick);
    close(loop->timerfd);
    return -1;
}

static void *resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg)
{
    const struct loop *loop = ctx;
    return hl_libevent_resolve(loop->base, host, done, arg);
}

/* After event_reinit() a forked child has an epoll set of its own, but still its parent's timerfd: the child closes
 * that descriptor, and never sets the timer. */
static void free_ctx(void *ctx)
{
    struct loop *loop = ctx;
    event_end(&loop->tick);
    close(loop->timerfd);
    free(loop);
}

static hilock_status refuse(struct hilock_error *ret_error, hilock_status status, const char *text, const char *cause)
{
    if (ret_error)
        snprintf(ret_error->text, sizeof ret_error->text, "%s%s", text, cause);
    return status;
}

static hilock_status loop_fill(struct hilock_loop *ret_loop, struct event_base *base, struct hilock_error *ret_error)
{
    struct loop *loop;
    if (!base)
        return refuse(ret_error, HILOCK_INVALID, "base is NULL: pass the event_base that this client's thread turns",
                      "");
    loop = calloc(1, sizeof *loop);
    if (!loop)
        return refuse(ret_error, HILOCK_NO_MEMORY, "no memory for the loop table: free some, and open again", "");
    loop->base = base;
    loop->owner = getpid();
    if (tick_open(loop) != 0) {
        free(loop);
        return refuse(ret_error, HILOCK_NO_MEMORY,
                      "cannot watch a timerfd, which notices a suspend: raise the limit of open files, or close some: ",
                      strerror(errno));
    }
    *ret_loop = (struct hilock_loop){
        .size = sizeof *ret_loop,
        .now_us = now_us,
        .ctx = loop,
        .watch_new = watch_new,
        .watch_set = watch_set,
        .watch_free = watch_free,
        .timer_new = timer_new,
        .timer_start = timer_start,
        .timer_stop = timer_stop,
        .timer_free = timer_free,
        .resolve = resolve,
        .resolve_cancel = hl_libevent_resolve_cancel,
        .free_ctx = free_ctx,
        .timer_hurry = timer_hurry,
        .timer_wake = timer_wake,
    };
    return HILOCK_OK;
}

hilock_status hilock_libevent_loop(struct hilock_loop *ret_loop, struct event_base *base)
{
    return ret_loop ? loop_fill(ret_loop, base, NULL) : HILOCK_INVALID;
}

hilock_status hilock_client_open_libevent(hilock_client **ret_client, struct event_base *base,
                                          const struct hilock_client_options *options, struct hilock_error *ret_error)
{
    struct hilock_loop loop;
    hilock_status status = loop_fill(&loop, base, ret_error);
    if (status != HILOCK_OK)
        return status;
    status = hilock_client_open(ret_client, &loop, options, ret_error);
    if (status != HILOCK_OK)
        loop.free_ctx(loop.ctx);
    return status;
}
