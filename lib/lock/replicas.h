/* SPDX-License-Identifier: BSD-3-Clause */
/* replicas - a grant that replicas are to confirm before it is told.
 *
 *   granted --> PART_CONFIRM --enough have it--> OURS
 *                    |`--------too few--------> given back, NOT_REPLICATED, tried again while the wait lasts
 *                    `---------link lost------> the same id is asked for again (R3): that writes again, and is waited for again; if it never
 *                                               leaves, the id is released all the same
 *
 * Invariants: nobody is told of a grant that fewer replicas have than were asked for; what WAIT counted is what this client wrote over
 * the link of that WAIT (node/confirm.h), so a grant that somebody else wrote, a push, is asked for first; belief counts from the send of the
 * acquire (R1), however long the replicas took. */
#ifndef HL_LOCK_REPLICAS_H
#define HL_LOCK_REPLICAS_H

#include "lock/core.h"

void hl_replicas_ask(struct hl_hold *hold, struct hl_part *part); /* it was just granted */
void hl_replicas_answered(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer);
int hl_replicas_are_asked(const struct hl_hold *hold); /* a part of it is granted, and not confirmed yet. NULL: no */

#endif
