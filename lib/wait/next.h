/* SPDX-License-Identifier: BSD-3-Clause */
/* next - a release that also asks for the next handle. While handles of a client stand in line for a name, the command
 * that ends their hold also asks for the first of them, under an id of its own (R2): it puts that handle into the queue
 * at the store, behind all others there, or makes it the holder if there are none. So a turn of a client that always
 * wants the name costs one command.
 *
 *   take --release leaves--> asked for --answer--> the acquire goes on as if its own request had been answered
 *     |                        `--no answer, or an error: it may be at the store (R3): the release is repeated alone,
 *     |                                                    then the acquire, same id
 *     `--nothing left, or the release was none: the acquire asks by itself, behind the release (R4)
 *
 * Invariants: once the release has left, the next id counts as asked for without an answer: an acquire that gives up,
 * or got a push meanwhile, ends it as an id whose request may still run. Nothing is asked for at a store under its
 * restart guard. One release at most asks for the next one, and only the first time it leaves. */
#ifndef HL_WAIT_NEXT_H
#define HL_WAIT_NEXT_H

#include "wait/waiter.h"

void hl_next_take(struct hl_core *core, const struct hl_hold *hold); /* it is released: takes the next in line along */
struct hl_hold *hl_next_of(const struct hl_hold *hold); /* the hold that goes along; NULL: none */
/* That release was answered, or will not be. A next hold that was not asked for asks by itself from now on; one that
 * was is returned: call hl_next_answered with it after handling the release. */
struct hl_hold *hl_next_asked(const struct hl_hold *hold, const struct hl_reply *reply);
void hl_next_answered(struct hl_hold *next, const struct hl_reply *reply);

#endif
