/* SPDX-License-Identifier: BSD-3-Clause */
/* The timers of a nest: a binary heap ordered by the time when they are due, and one timerfd for the first of them.
 *
 * All times are on CLOCK_BOOTTIME, which hilock counts by. So a timer that came due while the host was suspended
 * makes the timerfd readable on resume, without any work here, and the loop's own clock does not matter. Making a
 * timer reserves its place in the heap, so starting it needs no memory.
 *
 * The timerfd is set again only when a timer must fire before the time to which it is set, and when that time has
 * passed. Most timers are started again or stopped before they fire, and that costs no system call; at worst the
 * loop wakes up for nothing. Invariant: outside of a run the timerfd is set to no later than the time when the first
 * timer is due. */
#include "nest_timers.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define FAR_US UINT64_C(1000000000000000) /* the longest delay: 31 years */
#define NEVER_US UINT64_MAX

enum { ROOM_AT_FIRST = 16 };

uint64_t hl_nest_now_us(const void *clock)
{
    struct timespec now;
    (void)clock;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

int hl_nest_timers_begin(struct hl_nest_timers *timers)
{
    *timers = (struct hl_nest_timers){.fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC),
                                      .armed_us = NEVER_US};
    return timers->fd < 0 ? -1 : 0;
}

/* A forked child shares the timerfd with its parent, so the child only closes it, and never sets it. */
void hl_nest_timers_end(struct hl_nest_timers *timers)
{
    close(timers->fd);
    free(timers->heap);
}

/* Makes the timerfd readable now, whatever it was set to. */
static void ring(const struct hl_nest_timers *timers)
{
    static const struct itimerspec now = {.it_value = {.tv_nsec = 1}};
    (void)timerfd_settime(timers->fd, 0, &now, NULL);
}

static void set(struct hl_nest_timers *timers, uint64_t due_us)
{
    const uint64_t at_us = due_us == NEVER_US ? 0 : due_us; /* setting a timerfd to 0 stops it */
    const struct itimerspec spec = {.it_value = {(time_t)(at_us / 1000000), (long)(at_us % 1000000 * 1000)}};
    timers->armed_us = due_us;
    (void)timerfd_settime(timers->fd, TFD_TIMER_ABSTIME, &spec, NULL);
    if (atomic_load(&timers->woken))
        ring(timers);
}

/* Wakes a timer from another thread: first it stores the timer, and then it sets the timerfd. The loop's thread does
 * the reverse: it sets the timerfd, and then looks for a stored timer. So neither can overwrite the other's work
 * unnoticed. */
void hl_nest_timer_wake(void *handle)
{
    struct hl_nest_timer *timer = handle;
    atomic_store(&timer->timers->woken, timer);
    ring(timer->timers);
}

/* Sets the timerfd for the next timer. That also makes it unreadable, so it need not be read. Another thread may have
 * made it readable before its time. */
void hl_nest_timers_arm(struct hl_nest_timers *timers, uint64_t now_us, int is_rung)
{
    if (is_rung || timers->armed_us <= now_us || (timers->running > 0 && timers->heap[1]->due_us < timers->armed_us))
        set(timers, timers->running > 0 ? timers->heap[1]->due_us : NEVER_US);
}

static void put(struct hl_nest_timers *timers, struct hl_nest_timer *timer, size_t place)
{
    timers->heap[place] = timer;
    timer->place = place;
}

static void rise(struct hl_nest_timers *timers, struct hl_nest_timer *timer, size_t place)
{
    for (; place > 1 && timers->heap[place / 2]->due_us > timer->due_us; place /= 2)
        put(timers, timers->heap[place / 2], place);
    put(timers, timer, place);
}

static void sink(struct hl_nest_timers *timers, struct hl_nest_timer *timer, size_t place)
{
    for (size_t child; (child = 2 * place) <= timers->running; place = child) {
        if (child < timers->running && timers->heap[child + 1]->due_us < timers->heap[child]->due_us)
            child++;
        if (timers->heap[child]->due_us >= timer->due_us)
            break;
        put(timers, timers->heap[child], place);
    }
    put(timers, timer, place);
}

void hl_nest_timer_stop(void *handle)
{
    struct hl_nest_timer *timer = handle;
    struct hl_nest_timers *timers = timer->timers;
    const size_t place = timer->place;
    struct hl_nest_timer *last;
    if (place == 0)
        return;
    timer->place = 0;
    last = timers->heap[timers->running--];
    if (last == timer)
        return;
    if (place > 1 && timers->heap[place / 2]->due_us > last->due_us)
        rise(timers, last, place);
    else
        sink(timers, last, place);
}

static void run_until(struct hl_nest_timer *timer, uint64_t due_us)
{
    hl_nest_timer_stop(timer);
    timer->due_us = due_us;
    rise(timer->timers, timer, ++timer->timers->running);
}

void hl_nest_timers_begin_run(struct hl_nest_timers *timers, uint64_t now_us)
{
    struct hl_nest_timer *woken = atomic_exchange(&timers->woken, NULL);
    if (woken)
        run_until(woken, now_us);
}

/* A timer is due at least one microsecond after its start. A run fires the timers that were due when the run began,
 * so a timer that is started in a run waits for the next run. */
void hl_nest_timer_start(void *handle, uint64_t delay_us)
{
    struct hl_nest_timer *timer = handle;
    const uint64_t least_us = delay_us > 0 ? delay_us : 1;
    run_until(timer, hl_nest_now_us(NULL) + (least_us < FAR_US ? least_us : FAR_US));
    if (timer->due_us < timer->timers->armed_us)
        set(timer->timers, timer->due_us);
}

void hl_nest_timer_due(void *handle) { run_until(handle, hl_nest_now_us(NULL)); }

struct hl_nest_timer *hl_nest_timers_take(struct hl_nest_timers *timers, uint64_t now_us)
{
    struct hl_nest_timer *first = timers->running > 0 ? timers->heap[1] : NULL;
    if (!first || first->due_us > now_us)
        return NULL;
    hl_nest_timer_stop(first);
    return first;
}

/* Reserves a place in the heap, whose first index is 1. */
static int reserve(struct hl_nest_timers *timers)
{
    const size_t room = timers->room ? 2 * timers->room : ROOM_AT_FIRST;
    struct hl_nest_timer **heap;
    if (timers->made + 1 < timers->room)
        return 0;
    heap = realloc(timers->heap, room * sizeof(struct hl_nest_timer *));
    if (!heap)
        return -1;
    timers->heap = heap;
    timers->room = room;
    return 0;
}

struct hl_nest_timer *hl_nest_timer_new(struct hl_nest_timers *timers, hilock_fire_fn *fire, void *arg)
{
    struct hl_nest_timer *timer = reserve(timers) == 0 ? calloc(1, sizeof *timer) : NULL;
    if (!timer)
        return NULL;
    timers->made++;
    *timer = (struct hl_nest_timer){.timers = timers, .fire = fire, .arg = arg};
    return timer;
}

void hl_nest_timer_free(void *handle)
{
    struct hl_nest_timer *timer = handle, *woken = timer;
    atomic_compare_exchange_strong(&timer->timers->woken, &woken, NULL);
    hl_nest_timer_stop(timer);
    timer->timers->made--;
    free(timer);
}
