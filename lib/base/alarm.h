/* SPDX-License-Identifier: BSD-3-Clause */
/* alarm - very many alarms on one timer of the loop: each costs a place in a heap, not a timer.
 *
 * A set has one function that is called for each of its alarms. Room in the heap is taken when an alarm begins, so that
 * setting it needs no memory. The timer is moved when an alarm is set to an earlier time than all others, never to a
 * later one: it may fire for nothing. Due alarms are called between hl_host_enter and hl_host_leave, a bounded batch in
 * each turn of the loop; each may set, stop and end any alarm of the set. Invariants: an alarm is never early, even if
 * the loop's timers are; an alarm that is set during such a batch is called in a later turn, however soon it is due. */
#ifndef HL_BASE_ALARM_H
#define HL_BASE_ALARM_H

#include "base/host.h"

struct hl_alarm { uint32_t index; }; /* 0: not begun; 1: stopped; else in the heap, from 2 on */

struct hl_alarm_due {
    uint64_t at_us;
    struct hl_alarm *alarm;
};

struct hl_alarms {
    struct hl_host *host;
    void *timer;
    void (*fire)(struct hl_alarm *alarm); /* it is stopped by then */
    struct hl_alarm_due *heap;            /* the earliest first */
    uint32_t set, begun, room;            /* set <= begun <= room */
    uint64_t wakes_us;                    /* when the timer fires; UINT64_MAX: it does not run */
    uint64_t passing_us;                  /* alarms due by then are being called; 0: none are */
};

/* 0; -1: no memory */
int hl_alarms_init(struct hl_alarms *alarms, struct hl_host *host, void (*fire)(struct hl_alarm *alarm));
void hl_alarms_done(struct hl_alarms *alarms); /* legal on a zeroed set; all alarms have ended */

int hl_alarm_begin(struct hl_alarms *alarms, struct hl_alarm *alarm); /* stopped. 0; -1: no memory */
void hl_alarm_end(struct hl_alarms *alarms, struct hl_alarm *alarm);  /* legal on one that has not begun */
/* replaces what was set; a time in the past: on the next turn. Returns the time that is set */
uint64_t hl_alarm_set(struct hl_alarms *alarms, struct hl_alarm *alarm, uint64_t at_us);
void hl_alarm_stop(struct hl_alarms *alarms, struct hl_alarm *alarm);
static inline int hl_alarm_has_begun(const struct hl_alarm *alarm) { return alarm->index != 0; }

#endif
