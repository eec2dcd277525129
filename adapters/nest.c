/* SPDX-License-Identifier: BSD-3-Clause */
/* A nest puts the watches and timers of one client behind one descriptor: an epoll set, which the loop watches.
 *
 * Loops differ in what a descriptor may do (how many watches it has, when its number may be used again, how an error
 * is reported), in when they free their memory, in the clock that they use, and in what may be freed inside a
 * callback. With a nest a loop has only one duty: to run the nest when its descriptor is readable. All rules of
 * loop.h are kept here, once. The price is a system call in each turn in which hilock has work.
 *
 * A run asks the kernel once, calls back for what the kernel reports, and then for the timers that were due when the
 * run began. Any callback may free any watch or timer, or the whole nest, or may turn the loop and so begin a run
 * inside the run. Therefore all runs are in a list: freeing a watch removes it from what the runs still have to do,
 * and ending the nest ends the runs. Invariant: after a callback nothing of the nest is touched unless the run is
 * not marked as over.
 *
 * A forked child shares the epoll set with its parent. The child never changes the set, and leaves it when its loop
 * first turns. */
#include "nest.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { EVENTS_MAX = 64 }; /* how many events one run takes; the kernel keeps the rest for the next turn */

struct hl_nest_run {
    struct hl_nest_run *outer;
    struct epoll_event events[EVENTS_MAX]; /* data.ptr: a watch; NULL: the timerfd, or a watch that was freed */
    int count;
    int is_over; /* the nest has ended */
};

struct watch {
    struct hl_nest *nest;
    int fd;
    unsigned interest;
    hilock_ready_fn *ready;
    void *arg;
};

static int control(const struct hl_nest *nest, int operation, int fd, uint32_t events, void *watch)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    return getpid() == nest->owner ? epoll_ctl(nest->fd, operation, fd, &event) : 0;
}

int hl_nest_begin(struct hl_nest *nest, void *outer)
{
    int error;
    *nest = (struct hl_nest){.fd = epoll_create1(EPOLL_CLOEXEC), .owner = getpid(), .outer = outer};
    if (nest->fd < 0)
        return -1;
    if (hl_nest_timers_begin(&nest->timers) == 0) {
        if (control(nest, EPOLL_CTL_ADD, nest->timers.fd, EPOLLIN, NULL) == 0)
            return 0;
        error = errno;
        hl_nest_timers_end(&nest->timers);
        errno = error;
    }
    error = errno;
    close(nest->fd);
    errno = error;
    return -1;
}

void hl_nest_end(struct hl_nest *nest)
{
    for (struct hl_nest_run *run = nest->runs; run; run = run->outer)
        run->is_over = 1;
    hl_nest_timers_end(&nest->timers);
    close(nest->fd);
}

static void *watch_new(void *ctx, int fd, hilock_ready_fn *ready, void *arg)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (watch)
        *watch = (struct watch){.nest = ctx, .fd = fd, .ready = ready, .arg = arg};
    return watch;
}

static uint32_t events_of(unsigned interest)
{
    return (interest & HILOCK_READABLE ? (uint32_t)EPOLLIN : 0) | (interest & HILOCK_WRITABLE ? (uint32_t)EPOLLOUT : 0);
}

/* A watch that waits for nothing is taken out of the set, because epoll reports errors and hang-ups of every member. */
static int watch_set(void *handle, unsigned interest)
{
    struct watch *watch = handle;
    const unsigned before = watch->interest;
    if (interest == before)
        return 0;
    watch->interest = interest;
    if (control(watch->nest,
                !before    ? EPOLL_CTL_ADD
                : interest ? EPOLL_CTL_MOD
                           : EPOLL_CTL_DEL,
                watch->fd, events_of(interest), watch) == 0 ||
        interest == 0)
        return 0;
    if (before)
        (void)control(watch->nest, EPOLL_CTL_DEL, watch->fd, 0, NULL);
    watch->interest = 0;
    return -1;
}

static void watch_free(void *handle)
{
    struct watch *watch = handle;
    (void)watch_set(watch, 0);
    for (struct hl_nest_run *run = watch->nest->runs; run; run = run->outer)
        for (int i = 0; i < run->count; i++)
            if (run->events[i].data.ptr == watch)
                run->events[i].data.ptr = NULL;
    free(watch);
}

/* Calls back for the events that the watch waits for now, because an earlier callback may have changed that. */
static unsigned ready_of(const struct watch *watch, uint32_t events)
{
    if (events & (EPOLLERR | EPOLLHUP))
        return watch->interest;
    return watch->interest &
           ((events & EPOLLIN ? (unsigned)HILOCK_READABLE : 0) | (events & EPOLLOUT ? (unsigned)HILOCK_WRITABLE : 0));
}

static void *timer_new(void *ctx, hilock_fire_fn *fire, void *arg)
{
    struct hl_nest *nest = ctx;
    return hl_nest_timer_new(&nest->timers, fire, arg);
}

static void report(struct hl_nest_run *run)
{
    for (int i = 0; i < run->count && !run->is_over; i++) {
        const struct watch *watch = run->events[i].data.ptr;
        const unsigned ready = watch ? ready_of(watch, run->events[i].events) : 0;
        if (ready)
            watch->ready(ready, watch->arg);
    }
}

/* Leaves the shared epoll set in a forked child. One timer fires, so that the client finds out that it is in a child;
 * after that the nest is silent, and takes no events from its parent. The loop may share its own epoll set with the
 * parent's loop. So the watched descriptor is not removed from that set, but made to refer to another file, which is
 * never readable. */
static void leave(struct hl_nest *nest)
{
    const struct hl_nest_timer *timer = hl_nest_timers_take(&nest->timers, UINT64_MAX);
    const int silent = eventfd(0, EFD_CLOEXEC);
    nest->is_left = 1;
    if (silent >= 0)
        (void)dup3(silent, nest->fd, O_CLOEXEC);
    close(silent);
    if (timer)
        timer->fire(timer->arg);
}

/* This is not inlined, because gcc would warn that the nest keeps the address of a local run: gcc does not see that the
 * address is removed again, or that the nest is gone. */
__attribute__((noinline)) static void begin(struct hl_nest *nest, struct hl_nest_run *run)
{
    run->outer = nest->runs;
    run->is_over = 0;
    run->count = epoll_wait(nest->fd, run->events, EVENTS_MAX, 0);
    nest->runs = run;
}

/* Removes a watch that is about to be freed from the events that the runs still have to deliver. */
static int has_rung(const struct hl_nest_run *run)
{
    for (int i = 0; i < run->count; i++)
        if (!run->events[i].data.ptr)
            return 1;
    return 0;
}

void hl_nest_run(struct hl_nest *nest)
{
    const uint64_t now_us = hl_nest_now_us(NULL);
    const struct hl_nest_timer *timer;
    struct hl_nest_run run;
    int is_rung;
    if (getpid() != nest->owner) {
        if (!nest->is_left)
            leave(nest);
        return;
    }
    begin(nest, &run);
    is_rung = has_rung(&run);
    hl_nest_timers_begin_run(&nest->timers, now_us);
    report(&run);
    while (!run.is_over && (timer = hl_nest_timers_take(&nest->timers, now_us)) != NULL)
        timer->fire(timer->arg);
    if (run.is_over)
        return;
    nest->runs = run.outer;
    hl_nest_timers_arm(&nest->timers, now_us, is_rung);
}

struct hl_nest *hl_nest_of(const struct hl_nest_timer *timer)
{
    return (struct hl_nest *)(void *)((char *)timer->timers - offsetof(struct hl_nest, timers));
}

struct hilock_loop hl_nest_table(struct hl_nest *nest)
{
    return (struct hilock_loop){
        .size = sizeof(struct hilock_loop),
        .now_us = hl_nest_now_us,
        .ctx = nest,
        .watch_new = watch_new,
        .watch_set = watch_set,
        .watch_free = watch_free,
        .timer_new = timer_new,
        .timer_start = hl_nest_timer_start,
        .timer_stop = hl_nest_timer_stop,
        .timer_free = hl_nest_timer_free,
        .timer_wake = hl_nest_timer_wake,
    };
}

hilock_status hl_nest_refuse(struct hilock_error *ret_error, hilock_status status, const char *text, const char *cause)
{
    if (ret_error)
        snprintf(ret_error->text, sizeof ret_error->text, "%s%s", text, cause);
    return status;
}

hilock_status hl_nest_open(hilock_client **ret_client, const struct hilock_loop *table,
                           const struct hilock_client_options *options, struct hilock_error *ret_error)
{
    const hilock_status status = hilock_client_open(ret_client, table, options, ret_error);
    if (status != HILOCK_OK)
        table->free_ctx(table->ctx);
    return status;
}
