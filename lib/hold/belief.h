/* SPDX-License-Identifier: BSD-3-Clause */
/* belief - until when we may believe in a hold, and how that ends.
 * Invariants: only "not yours" ends it before its deadline, error replies and silence never do (R5); after every other
 * end that id is released (R5); expired holds are found and reported before any other callback (R6). */
#ifndef HL_HOLD_BELIEF_H
#define HL_HOLD_BELIEF_H

#include "hold/hold.h"

uint64_t hl_belief_stood_us(const struct hl_hold *hold); /* HELD: the time that the latest grant or renewal gave */
void hl_belief_sleep_until(struct hl_hold *hold, uint64_t next_us); /* HELD: then, or until the end of belief */
/* HELD and reported: reports the loss before all else, then ends it */
void hl_belief_lose(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason);
void hl_belief_end(struct hl_hold *hold, hilock_lost_reason reason); /* HELD: lost; if it was never reported, its owner
                                                                        is notified */
int hl_belief_has_ended(struct hl_hold *hold); /* HELD: checks now. 1: it is lost; a report is pending, or its owner was
                                                  notified */
uint64_t hl_belief_sweep(struct hl_core *core); /* finds every hold that has expired; returns the time */

#endif
