/* SPDX-License-Identifier: BSD-3-Clause */
/* push - handles a message of the store to a waiter with a place in the queue: the waiter was granted the name, or
 * there is news.
 *
 *   granted --usable--> GRANTED, for a window; the watchdog makes it a lease
 *      |----not usable, or too short for this lock--> a heartbeat at once: its answer is "granted", with a whole lease
 *      `----its window is over--> this client stood still: the waiter lost its turn, and all places of this client for
 *                                 the name send a heartbeat
 *
 * Invariants. The deadline of a pushed grant is the sum of three times, minus a margin (R1): when this client sent the
 * request whose number the grant carries; how long the server measured from that request to the grant; and the window.
 * It never counts from the arrival of the push. A push is used only if both links of the node that pushed, that of
 * commands and that of subscriptions, have been up since that request; otherwise a heartbeat must confirm the grant. An
 * answer to a heartbeat that the store executed before the grant changes nothing for the hold. But if a heartbeat is
 * answered "granted" with another token, the hold ends: the pushed grant had lapsed, and the heartbeat took the lock
 * anew. */
#ifndef HL_LOCK_PUSH_H
#define HL_LOCK_PUSH_H

#include "lock/place.h"
#include "wire/push.h"

void hl_push_arrived(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push);
/* The hold is held by a pushed grant. Handles the answer to a heartbeat that was sent before that push came. */
void hl_push_stale_answer(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer);

#endif
