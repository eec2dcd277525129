/* SPDX-License-Identifier: BSD-3-Clause */
/* replicas - a grant that replicas must confirm before it is reported.
 *
 *   granted --> ASK_CONFIRM --enough have it--> OURS
 *                    |`--------too few--------> given back, NOT_REPLICATED, tried again while the wait lasts
 *                    `---------link lost------> the same id is asked for again (R3): that writes again, and is waited
 *                                               for again; if it never leaves, the id is released all the same
 *
 * Invariants: a grant is reported only if enough replicas have it; WAIT counts this client's writes over the link of
 * that WAIT (node/wait_link.h), so a pushed grant, which another client wrote, is asked for first; belief counts from
 * the send of the acquire (R1), however long the replicas take. */
#ifndef HL_LOCK_REPLICAS_H
#define HL_LOCK_REPLICAS_H

#include "lock/core.h"

void hl_replicas_ask(struct hl_hold *hold); /* it was just granted */
void hl_replicas_answered(struct hl_hold *hold, const struct hl_answer *answer);
int hl_replicas_are_asked(const struct hl_hold *hold); /* it is granted, and not confirmed yet. NULL: no */

#endif
