/* SPDX-License-Identifier: BSD-3-Clause */
/* carried - a release that carries the next handle's acquire. If handles of a client stand in line for a name, the
 * command that ends their hold also acquires for the head of the line, under an id of its own (R2). It puts that handle
 * into the queue at the store, behind all others there, or makes it the holder if there are none. So a client that
 * always wants the name needs one command for each turn.
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
 * Invariants: one release at most carries a given acquire, and only the first time that this release is sent. A release
 * carries no acquire to a store under its restart guard, and none if it must also remove a place. Each attached acquire
 * is answered or sent back once. */
#ifndef HL_HOLD_CARRIED_H
#define HL_HOLD_CARRIED_H

#include "hold/hold.h"

/* The release that hl_ending_begin_release is about to begin shall carry the acquire of the hold `next`, for which
 * nothing was sent yet. */
void hl_carried_attach(struct hl_hold *next);
/* The release of this hold is about to be sent: adds the acquire that it carries, if there is one. */
void hl_carried_add_params(const struct hl_hold *hold, struct hl_release_params *params);
/* The release of this hold is over; reply NULL: it got no answer, or is not sent at all. If the reply also answers the
 * acquire, returns the hold of that acquire and its answer: the caller handles its own part of the reply first, and
 * then calls hl_request_answer_carried. NULL: the acquire was sent back, or there was none. */
struct hl_hold *hl_carried_take(struct hl_hold *hold, const struct hl_reply *reply, struct hl_reply *ret_said);

#endif
