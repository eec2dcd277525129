/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - sends the acquires of a hold, and handles the answers to them. The acquire is its first request: the name is
 * granted, held by another, or refused, or no answer comes. If replicas must confirm the grant, WAIT follows as a
 * second request:
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
 * (node/confirm_link.h). So after a pushed grant, which another client wrote, this client first sends an acquire.
 *
 * An acquire can also go with a release. If handles of a client stand in line for a name, the command that ends their
 * hold also acquires for the head of the line, under an id of its own (R2). It puts that handle into the queue at the
 * store, behind all others there, or makes it the holder if there are none. So a client that always wants the name
 * needs one command for each turn.
 *
 *   attached --the release is sent--> carried --answer--> the acquire goes on as if its own request was answered
 *     |                                  `--no answer, or an error: the acquire may be at the store (R3). The release
 *     |                                     is repeated alone, and then the acquire is sent with the same id.
 *     `--the release needs no command any more, or the reply shows that it carried nothing: the acquire is sent by
 *        itself, later (R4)
 *
 * The request of the next hold is under way from the first of these states on, like any request. So nothing else is
 * sent for its id before the answer to the release is there, even if its waiter gives up, or a push grants it the name.
 *
 * Invariants: one release at most carries a given acquire, and a release that is repeated carries none. A release
 * carries no acquire to a store under its restart guard, and none if it must also remove a place. Each attached acquire
 * is answered or sent back once. */
#ifndef HL_HOLD_ASKING_H
#define HL_HOLD_ASKING_H

#include "hold/hold.h"

/* Returns an id that was never used before (R2). */
static inline uint64_t hl_asking_new_id(const struct hilock_lock *lock)
{
    return ++*(hl_lock_is_voted(lock) ? &lock->attempt->id_last : &hl_lock_core(lock)->id_last);
}
/* Sends an acquire, under the id that the hold has or under a new one. Nothing of the hold may be under way. */
void hl_asking_send(struct hl_hold *hold, enum hl_stage stage);
/* A push granted the name to this hold, which is acquiring: takes back a heartbeat that was not sent yet, and gives the
 * grant to the acquire that the hold serves. */
void hl_asking_use_push(struct hl_hold *hold, uint64_t token, uint64_t deadline_us, uint32_t window_ms);

/* ---- a release that carries an acquire ---- */

/* The release that is about to begin shall carry the acquire of the hold `next`, for which nothing was sent yet. */
void hl_asking_attach(struct hl_hold *next);
/* The release of this hold is about to be sent: adds the acquire that it carries, if there is one. */
void hl_asking_add_carried(const struct hl_hold *hold, struct hl_release_params *params);
/* The release of this hold is over; reply NULL: it got no answer, or is not sent at all. If the reply also answers the
 * acquire, returns the hold of that acquire and its answer: the caller handles its own part of the reply first, and
 * then calls hl_request_answer_carried. NULL: the acquire was sent back, or there was none. */
struct hl_hold *hl_asking_take_carried(struct hl_hold *hold, const struct hl_reply *reply, struct hl_reply *ret_said);

/* ---- for the table of life.c ---- */

/* Makes the arguments of an acquire that is about to be sent, by itself or carried by a release. */
struct hl_acquire_params hl_asking_params(struct hl_hold *hold);
void hl_asking_on_answer(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer);
void hl_asking_on_silence(struct hl_hold *hold, const struct hl_answer *answer);
/* the answer to WAIT, or that there is none */
void hl_asking_on_wait(struct hl_hold *hold, const struct hl_response *fault, const struct hl_answer *answer);
void hl_asking_on_no_wait(struct hl_hold *hold, const struct hl_answer *answer);

#endif
