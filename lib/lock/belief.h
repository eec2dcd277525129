/* SPDX-License-Identifier: BSD-3-Clause */
/* belief - until when we may believe in a hold, and how that ends.
 * Invariants: only "not yours" ends it before its deadline, error replies and silence never do (R5); every other end is
 * followed by a release of that id (R5); expired holds are found and reported before any other callback (R6). */
#ifndef HL_LOCK_BELIEF_H
#define HL_LOCK_BELIEF_H

#include "lock/core.h"

uint64_t hl_belief_stood_us(const struct hl_hold *hold); /* HELD: for how long the latest grant or renewal was good */
void hl_belief_sleep_until(struct hl_hold *hold, uint64_t next_us); /* HELD: until then, or the end of belief, or the
                                                                       time of an extend */
void hl_belief_lose(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason); /* HELD and reported:
                                                                                               reports the loss first of
                                                                                               all, then ends it */
void hl_belief_end(struct hl_hold *hold, hilock_lost_reason reason); /* HELD: lost; if it was not reported yet its owner
                                                                        hears */
int hl_belief_has_ended(struct hl_hold *hold); /* HELD: looks now. 1: it is lost, and that is still to be reported, or
                                                  its owner has heard */
void hl_belief_sweep(struct hl_core *core);    /* loses every hold that has expired */

#endif
