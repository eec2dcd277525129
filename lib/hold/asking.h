/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - sends the requests of a hold, and gives each answer and each alarm to the part that handles its state. The
 * first request asks for the name: the name is granted, held by another, or refused, or no answer comes. If replicas
 * must confirm the grant, a second request asks about them:
 *
 *   granted --> ASK_CONFIRM --enough replicas have it--> OURS
 *                    |`--------too few----------------> given back, NOT_REPLICATED; tried again while the wait lasts
 *                    `---------link lost--------------> the same id is asked for again (R3). That writes once more, and
 *                                                       WAIT follows again. If the request is never sent, the id is
 *                                                       still released.
 *
 * Invariants: after a silence the id counts as being at the store until it is released (R3). The deadline counts from
 * the send of the acquire (R1), however long the replicas take. A grant that replicas must confirm is reported only if
 * enough of them have it. WAIT counts only what this client wrote over the same link (node/confirm_link.h), so a pushed
 * grant, which another client wrote, is asked for first. */
#ifndef HL_HOLD_ASKING_H
#define HL_HOLD_ASKING_H

#include "hold/hold.h"

int hl_asking_init(struct hl_core *core); /* call before the first hold. 0, or -1 without memory */
uint64_t hl_asking_new_id(const struct hilock_lock *lock); /* an id that was never used before (R2) */
void hl_asking_begin(struct hl_hold *hold); /* sends an acquire, under the id that the hold has or under a new one */

#endif
