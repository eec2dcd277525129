/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog - keeps a hold: renews it at a third of its lease, sooner after a failure, until belief in it ends.
 *
 * Invariants: an answer moves the deadline by what it proves, from its request's send (R1); an answer after the end
 * extends nothing (R11); only "not yours" ends belief before the deadline, error replies and silence never do (R5);
 * after every other end that id is released (R5); expired holds are found and reported before any other callback
 * (R6). */
#ifndef HL_HOLD_WATCHDOG_H
#define HL_HOLD_WATCHDOG_H

#include "hold/hold.h"

void hl_watchdog_keep(struct hl_hold *hold); /* ASKING, granted: HELD */
void hl_watchdog_go_on(struct hl_hold *hold); /* HELD: a new turn begins, or its terms are others */
void hl_watchdog_tick(struct hl_hold *hold);
void hl_watchdog_ask(struct hl_hold *hold); /* HELD: an extend was accepted */
void hl_watchdog_verify(struct hl_hold *hold, uint64_t within_us); /* the link is back: renew soon */
/* How long until the first hold ends that this node (NULL: any node) must renew; UINT64_MAX: there is none. Visits all
 * holds. */
uint64_t hl_watchdog_left_us(void *core, const struct hl_node *node);
void hl_watchdog_answered(struct hl_hold *hold, const struct hl_answer *answer); /* HELD: the answer to a renewal */
/* HELD and reported: reports the loss before all else, then ends it */
void hl_watchdog_lose(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason);
void hl_watchdog_end(struct hl_hold *hold, hilock_lost_reason reason); /* HELD: lost; if it was never reported, its
                                                                          owner is notified */
uint64_t hl_watchdog_sweep(struct hl_core *core); /* finds every hold that has expired; returns the time */
/* HELD: its heartbeat is out of the way: asks for what waited for it. is_ours: it proves that, for the lease from its
 * send */
void hl_watchdog_crossed(struct hl_hold *hold, int is_ours);

#endif
