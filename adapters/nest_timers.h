/* SPDX-License-Identifier: BSD-3-Clause */
/* nest_timers.h - the timers of a nest, and the one timerfd that they share. */
#ifndef HL_NEST_TIMERS_H
#define HL_NEST_TIMERS_H

#include <hilock/loop.h>
#include <stdatomic.h>

struct hl_nest_timer {
    struct hl_nest_timers *timers;
    hilock_fire_fn *fire;
    void *arg;
    uint64_t due_us; /* when the timer fires, on CLOCK_BOOTTIME */
    size_t place;    /* the timer's index in the heap, from 1; 0: the timer is stopped */
};

struct hl_nest_timers {
    int fd; /* the timerfd, which becomes readable at armed_us or soon after it */
    uint64_t armed_us;
    struct hl_nest_timer **heap; /* the running timers; the next one to fire is at index 1 */
    size_t running, made, room;
    struct hl_nest_timer *_Atomic woken; /* the timer that another thread has woken: it is due in the next run */
};

int hl_nest_timers_begin(struct hl_nest_timers *timers); /* returns 0, or -1 with errno */
void hl_nest_timers_end(struct hl_nest_timers *timers);
uint64_t hl_nest_now_us(const void *clock);

/* Makes a timer, which is stopped. NULL: no memory */
struct hl_nest_timer *hl_nest_timer_new(struct hl_nest_timers *timers, hilock_fire_fn *fire, void *arg);
void hl_nest_timer_start(void *timer, uint64_t delay_us);
void hl_nest_timer_stop(void *timer);
void hl_nest_timer_free(void *timer);
void hl_nest_timer_wake(void *timer); /* on any thread: makes the timerfd readable, and the timer due */
void hl_nest_timer_due(void *timer); /* makes the timer due, but not the timerfd readable: the adapter runs the nest */

/* Stops and returns the next timer that was due at now_us; NULL: there is none, and the timerfd is set for the next. */
struct hl_nest_timer *hl_nest_timers_take(struct hl_nest_timers *timers, uint64_t now_us);
void hl_nest_timers_begin_run(struct hl_nest_timers *timers, uint64_t now_us); /* makes the woken timer due */
/* is_rung: the timerfd was readable when the run began */
void hl_nest_timers_arm(struct hl_nest_timers *timers, uint64_t now_us, int is_rung);

#endif
