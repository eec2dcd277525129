/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_link - a node's third link, for requests that replicas must confirm by WAIT.
 *
 * WAIT counts the replicas that have the latest write of its own connection; over another connection it answers at once
 * and confirms nothing. It also blocks everything behind it on its connection. So these requests have a node of their
 * own in the node, with login, scripts and clock, made for the first of them (HL_REQUEST_CONFIRM).
 *
 *   open:  requests are sent as they come
 *   shut:  from the first that must be confirmed (its answer was a grant) until WAIT has answered, or until all were
 *          withdrawn before it left: the others queue, and leave together
 *
 * WAIT leaves when all requests before it are answered, and covers all their grants. It asks for the lowest number that
 * one of them wants, so that no grant waits for another's replicas; the next WAIT asks for the others.
 * Invariant: writes of a link are confirmed by a WAIT on that very link. When the link is lost, its waiting requests
 * are answered "none came". */
#ifndef HL_NODE_WAIT_LINK_H
#define HL_NODE_WAIT_LINK_H

#include "node/node.h"

struct hl_wait_link {
    struct hl_node node; /* first: it is freed as its node. Its queue CONFIRMING has the pending requests */
    struct hl_request wait, mark; /* mark: ends what is being answered */
    unsigned replicas;          /* of the pending WAIT: how many replicas, and how long it may block */
    uint32_t timeout_ms;
};

extern const struct hl_wait_link_ops hl_wait_link_ops; /* go_on: WAIT leaves if it is time */
void hl_wait_link_rest(struct hl_node *node, uint64_t unused_us); /* closes the link if it was not used for that long */

/* The request was just answered over such a link, and wrote. Its `done` runs when so many replicas have the write, or
 * when the time is over, with the answer to WAIT: how many have it. */
void hl_wait_link_ask(struct hl_request *request, unsigned replicas, uint32_t timeout_ms);

#endif
