/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - the requests of a hold; each answer and each alarm goes to the machine of its state. The first asks for its
 * name: that is granted, held by another, refused, or silence. A grant that replicas must confirm is asked about again:
 *
 *   granted --> ASK_CONFIRM --enough have it--> OURS
 *                    |`--------too few--------> given back, NOT_REPLICATED, tried again while the wait lasts
 *                    `---------link lost------> the same id is asked for again (R3): that writes again, and is waited
 *                                               for again; if it never leaves, the id is still released
 *
 * Invariants: after a silence the id counts as being at the store until it is released (R3); belief counts from the
 * send of the acquire (R1), however long the replicas take; such a grant is reported only if enough replicas have it;
 * WAIT counts this client's writes over the link of that WAIT (node/wait_link.h), so a pushed grant, which another
 * client wrote, is asked for first. */
#ifndef HL_HOLD_ASKING_H
#define HL_HOLD_ASKING_H

#include "hold/hold.h"

int hl_asking_init(struct hl_core *core); /* before the first hold. 0, or -1: no memory */
uint64_t hl_asking_new_id(const struct hilock_lock *lock); /* a fresh one (R2) */
void hl_asking_begin(struct hl_hold *hold); /* asks, under the id that it has or a new one */

#endif
