/* SPDX-License-Identifier: BSD-3-Clause */
/* ender - ends the command's family before the deadline of the lock: it sends TERM some time before, and KILL
 * shortly before. Holder and guard have one ender each, and read the same page, so if one of them is killed or
 * stopped, the other ends the family. The one that comes first sends TERM; both send KILL.
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
    uint64_t kill_at_us; /* when to send KILL; 0: no end has begun */
};

int ender_begin(struct ender *ender, struct page *page, pid_t spared); /* spared: the guard, if this is the holder's
                                                                          (family.h). Returns 0, or -1 with errno */
void ender_come_first(void); /* asks for a high priority; call it after the last fork */
void ender_end(struct ender *ender); /* legal in any state, also for an ender of all zeroes */
int ender_turn(struct ender *ender); /* does what is due, and sets the timer. Returns 1 when an end had begun and no
                                        process is left */
void ender_hasten(struct ender *ender); /* begins the end now, with the same two steps; call ender_turn after it */
void ender_kill(struct ender *ender);   /* sends KILL at once */

#endif
