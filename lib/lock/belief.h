/* SPDX-License-Identifier: BSD-3-Clause */
/* belief - until when we may believe in a hold, and how that ends.
 * Invariants: only "not yours" ends it before its deadline, error replies and silence never do (R5); every other end is followed by a release
 * of that id (R5); expired holds are found and reported before any other callback (R6). */
#ifndef HL_LOCK_BELIEF_H
#define HL_LOCK_BELIEF_H

#include "lock/core.h"

uint64_t hl_belief_stood_us(const struct hl_hold *hold); /* HELD: for how long what was granted, or renewed, last */
void hl_belief_sleep_until(struct hl_hold *hold, uint64_t next_us); /* HELD: then, or when belief ends, or an extend is to be answered */
void hl_belief_lose(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason); /* HELD and told: told first of all, then ended */
void hl_belief_end(struct hl_hold *hold, hilock_lost_reason reason); /* HELD: lost, or if nobody was told of it, its owner hears */
int hl_belief_has_ended(struct hl_hold *hold); /* HELD: looks now. 1: it is lost, which is not told yet, or its owner has heard */
void hl_belief_sweep(struct hl_core *core);    /* loses every hold that has expired */

#endif
