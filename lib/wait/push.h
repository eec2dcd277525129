/* SPDX-License-Identifier: BSD-3-Clause */
/* push - a message of the store to a waiter with a place in the queue: it was granted the name, or there is news.
 *
 *   granted --usable--> GRANTED, for a window: the watchdog makes it a lease
 *      |----not usable, or too little for this lock--> heartbeat at once, which answers {granted} with the whole lease
 *      `----its window is over--> this client stood still: it lost its turn, and all of its places for the name ask
 *
 * Invariants. The deadline of a pushed grant counts from the send of the question that it names, plus the time that the
 * server measured since, with a margin on both (R1): never from the arrival of the push. A push is believed only if
 * that question went over links that are still up, to the node that pushed; otherwise a heartbeat must confirm it. The
 * answer to a heartbeat that ran before the grant never ends the hold. */
#ifndef HL_WAIT_PUSH_H
#define HL_WAIT_PUSH_H

#include "wait/place.h"

void hl_push_arrived(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push);
/* HELD: the answer to a heartbeat from before the push */
void hl_push_stale_answer(struct hl_hold *hold, const struct hl_answer *answer);

#endif
