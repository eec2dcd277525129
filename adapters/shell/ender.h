/* SPDX-License-Identifier: BSD-3-Clause */
/* ender - ends the family before the deadline: TERM a while before it, KILL a little before it. Holder and guard have
 * one each, and read the same page: so if one of them is killed or stopped, the other does it. TERM is sent once, by
 * the one that comes first; KILL by both.
 *
 * Invariant: an end that has begun is never withdrawn, even if the deadline moves; it can only come sooner. */
#ifndef SHELL_ENDER_H
#define SHELL_ENDER_H

#include "family.h"
#include "page.h"

struct ender {
    struct page *page;
    struct family family;
    int timer;           /* a timerfd on CLOCK_BOOTTIME: readable when ender_turn is due */
    uint64_t kill_at_us; /* 0: no end has begun */
};

int ender_begin(struct ender *ender, struct page *page, pid_t spared); /* for the holder: spare the guard (family.h). 0,
                                                                          or -1 and errno */
void ender_come_first(void); /* asks the system to serve this process before others: call it when it forks no more */
void ender_end(struct ender *ender); /* in any state; all zero is allowed */
int ender_turn(struct ender *ender); /* does what is due, and sets the timer. 1: an end had begun, and no process is
                                        left */
void ender_hasten(struct ender *ender); /* begins the end now, in the same two steps: then call ender_turn */
void ender_kill(struct ender *ender);   /* kills at once */

#endif
