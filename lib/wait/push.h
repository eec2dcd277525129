/* SPDX-License-Identifier: BSD-3-Clause */
/* push - handles a message of the store to a waiter with a place in the queue: the waiter was granted the name, or
 * there is news.
 *
 *   granted --usable--> GRANTED, for a window; the watchdog makes it a lease
 *      |----not usable, or too little for this lock--> a heartbeat at once: {granted}, with the whole lease
 *      `----its window is over--> this client stood still: the waiter lost its turn, and all places of this client for
 *                                 the name ask
 *
 * Invariants. The deadline of a pushed grant counts from the send of the question that the grant names, plus the time
 * that the server measured since, with a margin on both (R1). It never counts from the arrival of the push. A push is
 * used only if that question went over links that are still up, to the node that pushed; otherwise a heartbeat must
 * confirm the grant. The answer to a heartbeat that ran before the grant never ends the hold. */
#ifndef HL_WAIT_PUSH_H
#define HL_WAIT_PUSH_H

#include "wait/place.h"

void hl_push_arrived(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push);
/* the hold is HELD; handles the answer to a heartbeat that was sent before the push came */
void hl_push_stale_answer(struct hl_hold *hold, const struct hl_answer *answer);

#endif
