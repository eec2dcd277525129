/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - writes the requests of a hold, sends its acquires, and handles the answers to them. The acquire is its first
 * request: the name is granted, held by another, or refused, or no answer comes. If replicas must confirm the grant,
 * WAIT follows as a second request:
 *
 *   granted --> CONFIRMING --enough replicas have it--> OURS
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

uint64_t hl_asking_new_id(const struct hilock_lock *lock); /* returns an id that was never used before (R2) */
/* Makes the arguments of an acquire that is about to be sent, by itself or carried by a release. */
struct hl_acquire_params hl_asking_params(struct hl_hold *hold);
/* Sends an acquire, under the id that the hold has or under a new one, unless one is under way. */
void hl_asking_begin(struct hl_hold *hold);
/* A push granted the name to this hold, which is acquiring: takes back a heartbeat that was not sent yet, and gives the
 * grant to the acquire that the hold serves. */
void hl_asking_use_push(struct hl_hold *hold, uint64_t token, uint64_t deadline_us, uint32_t window_ms);

/* ---- for the table of life.c ---- */

void hl_asking_about(const struct hl_request *request, struct hl_about *ret);
void hl_asking_encode(struct hl_request *request, struct hl_command *command);
void hl_asking_on_answer(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer);
void hl_asking_on_silence(struct hl_hold *hold, const struct hl_answer *answer);
/* the answer to WAIT, or that there is none */
void hl_asking_on_wait(struct hl_hold *hold, const struct hl_response *fault, const struct hl_answer *answer);
void hl_asking_on_no_wait(struct hl_hold *hold, const struct hl_answer *answer);

#endif
