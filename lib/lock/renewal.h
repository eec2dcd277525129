/* SPDX-License-Identifier: BSD-3-Clause */
/* renewal - renewals of a hold that is held, and what their answers prove.
 *
 * Invariants: an answer moves the deadline by what it proves, from its request's send (R1); an answer after the end
 * extends nothing (R11); error replies and silence end nothing (R5). */
#ifndef HL_LOCK_RENEWAL_H
#define HL_LOCK_RENEWAL_H

#include "lock/core.h"

uint64_t hl_renewal_due_us(const struct hl_hold *hold); /* HELD: the next; UINT64_MAX: it is not renewed */
void hl_renewal_sleep(struct hl_hold *hold);            /* HELD: until the next renewal, or the end */
void hl_renewal_begin(struct hl_hold *hold, uint64_t now_us); /* HELD: a round, or the rest of the one that is open */
int hl_renewal_is_open(const struct hl_hold *hold);           /* a round is open, its outcome unknown */
void hl_renewal_give_up(struct hl_hold *hold);                /* its time is over: unsent requests count as failed */
/* the answer to a renewal; any state */
void hl_renewal_answered(struct hl_hold *hold, const struct hl_answer *answer);
void hl_renewal_confirmed(struct hl_hold *hold); /* HELD: a request proves that it is ours, for the lease from its
                                                    send */

#endif
