/* SPDX-License-Identifier: BSD-3-Clause */
/* renewal - rounds of renewals of a hold that is held, and what their answers prove.
 *
 * A round asks every part once; it is over when as many said yes as are needed, failed when they no longer can. Who owes the answer to an
 * earlier round is not asked, and counts in none.
 * Invariants: a part's deadline moves by what the answer to its own request proves, from that request's send (R1), whatever becomes of
 * the round; what comes after the end extends nothing (R11); error replies and silence end nothing (R5). */
#ifndef HL_LOCK_RENEWAL_H
#define HL_LOCK_RENEWAL_H

#include "lock/core.h"

uint64_t hl_renewal_due_us(const struct hl_hold *hold); /* HELD: the next; UINT64_MAX: it is not renewed */
void hl_renewal_sleep(struct hl_hold *hold);            /* HELD: until then, or the end */
void hl_renewal_begin(struct hl_hold *hold, uint64_t now_us); /* HELD: a round, or what is still to be asked of the one that is open */
int hl_renewal_is_open(const struct hl_hold *hold);           /* some of a round are under way, and its outcome is not known */
void hl_renewal_give_up(struct hl_hold *hold);                /* its time is over: what never left counts as failed */
void hl_renewal_answered(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer); /* of a renewal; any state */
void hl_renewal_joined(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer); /* HELD: of an acquire: a late vote, or a master healed */
void hl_renewal_confirmed(struct hl_hold *hold, struct hl_part *part); /* HELD: a request says that it is ours, for the lease from its send */

#endif
