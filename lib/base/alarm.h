/* SPDX-License-Identifier: BSD-3-Clause */
/* alarm - very many alarms on one timer of the loop: each costs a place in a heap, not a timer.
 *
 * A set has one function that is called for each of its alarms. Room in the heap is taken when an alarm begins, so that
 * setting it needs no memory. The timer is moved when an alarm is set to an earlier time than all others, never to a
 * later one, so the timer may fire when nothing is due. Due alarms are called between hl_host_enter and hl_host_leave,
 * a bounded batch in each turn of the loop; each may set, stop and end any alarm of the set. Invariants: an alarm is
 * never early, even if the loop's timers are; an alarm that is set during such a batch is called in a later turn,
 * however soon it is due. */
#ifndef HL_BASE_ALARM_H
#define HL_BASE_ALARM_H

#include "base/host.h"

struct hl_alarm { uint32_t index; }; /* 0: not begun; 1: stopped; else 2 + its position in the heap */

struct hl_alarm_due {
    uint64_t at_us;
    struct hl_alarm *alarm;
};

struct hl_alarms {
    struct hl_host *host;
    void *timer;
    void (*fire)(struct hl_alarm *alarm); /* called for each due alarm, which is stopped by then */
    struct hl_alarm_due *heap;            /* the first entry is the earliest alarm */
    uint32_t set, begun, room;            /* set <= begun <= room */
    uint64_t wakes_us;                    /* when the timer fires; UINT64_MAX: the timer does not run */
    /* The alarms due by this time are being called; 0: no alarm is being called. */
    uint64_t passing_us;
};

/* Returns 0, or -1 if there is no memory. */
int hl_alarms_init(struct hl_alarms *alarms, struct hl_host *host, void (*fire)(struct hl_alarm *alarm));
void hl_alarms_done(struct hl_alarms *alarms); /* all alarms must have ended; a zeroed set is allowed */

/* Takes room in the heap for a stopped alarm. Returns 0, or -1 if there is no memory. */
int hl_alarm_begin(struct hl_alarms *alarms, struct hl_alarm *alarm);
/* Stops the alarm and gives its room back. An alarm that has not begun is allowed. */
void hl_alarm_end(struct hl_alarms *alarms, struct hl_alarm *alarm);
/* Sets the alarm, or moves it if it was set. A time in the past means the next turn. Returns the time that the alarm
 * is set to. */
uint64_t hl_alarm_set(struct hl_alarms *alarms, struct hl_alarm *alarm, uint64_t at_us);
void hl_alarm_stop(struct hl_alarms *alarms, struct hl_alarm *alarm);
static inline int hl_alarm_has_begun(const struct hl_alarm *alarm) { return alarm->index != 0; }
static inline int hl_alarm_is_set(const struct hl_alarm *alarm) { return alarm->index > 1; }

#endif
