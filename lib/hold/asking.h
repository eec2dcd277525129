/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - sends the requests of a hold, and gives each answer and each alarm to the part that handles its state. The
 * first request is the acquire: the name is granted, held by another, or refused, or no answer comes. If replicas must
 * confirm the grant, WAIT follows as a second request:
 *
 *   granted --> ASK_CONFIRM --enough replicas have it--> OURS
 *                    |`--------too few----------------> the id is released, NOT_REPLICATED; the acquire is sent again
 *                    |                                  with a new id while the wait lasts
 *                    `---------link lost--------------> the acquire is sent again with the same id (R3). That writes
 *                                                       the grant once more, and WAIT follows again. If this acquire is
 *                                                       never sent, the id is still released.
 *
 * Invariants: after a request without an answer the id counts as being at the store until it is released (R3). The
 * deadline counts from the send of the acquire (R1), however long the replicas take. A grant that replicas must confirm
 * is reported only if enough of them have it. WAIT counts only what this client wrote over the same link
 * (node/confirm_link.h). So after a pushed grant, which another client wrote, this client first sends an acquire. */
#ifndef HL_HOLD_ASKING_H
#define HL_HOLD_ASKING_H

#include "hold/hold.h"

int hl_asking_init(struct hl_core *core); /* call before the first hold. Returns 0, or -1 without memory */
uint64_t hl_asking_new_id(const struct hilock_lock *lock); /* returns an id that was never used before (R2) */
/* Makes the arguments of an acquire that is about to be sent, by itself or carried by a release. */
struct hl_acquire_params hl_asking_params(struct hl_hold *hold);
void hl_asking_begin(struct hl_hold *hold); /* sends an acquire, under the id that the hold has or under a new one */

#endif
