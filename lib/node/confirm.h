/* SPDX-License-Identifier: BSD-3-Clause */
/* confirm - a node's third link: what replicas are to confirm is asked over it, and then WAIT.
 *
 * WAIT counts replicas that have what its own connection wrote last: over any other it answers at once and confirms nothing. And it blocks
 * what comes behind it on its connection, which must be nobody else's. So there is a node in the node, with a login, scripts and a clock of
 * its own, made when the first request wants it (HL_REQUEST_CONFIRM).
 *
 *   open:  requests are sent as they come
 *   shut:  from the first that is to be confirmed (its answer was a grant) until WAIT has answered, or before it left all were withdrawn: the
 *          others queue, and leave together
 *
 * WAIT leaves when all that was sent before is answered, and is for all that was granted by then. It asks for the least that any of them wants, so that nobody waits for another's
 * replicas; who wants more is asked for by the next one.
 * Invariant: what was written over a link is confirmed by a WAIT on that very link. When it is lost, whoever is to be confirmed is answered
 * "none came". */
#ifndef HL_NODE_CONFIRM_H
#define HL_NODE_CONFIRM_H

#include "node/node.h"

struct hl_confirm {
    struct hl_node node; /* first: found from it */
    struct hl_request wait, mark; /* mark: ends what is being answered */
    struct hl_requests pending; /* CONFIRMING */
    unsigned replicas;          /* what the WAIT under way asks for, and for how long it blocks */
    uint32_t timeout_ms;
};

extern const struct hl_confirm_ops hl_confirm_ops; /* go_on: WAIT leaves if it is time */
void hl_confirm_rest(struct hl_node *node, uint64_t unused_us); /* closes it if it was not used for so long */

/* The request was just answered over such a link, and wrote: when so many replicas have that, or after the time, its `done` runs with the
 * answer to WAIT: how many have. */
void hl_confirm_ask(struct hl_request *request, unsigned replicas, uint32_t timeout_ms);

#endif
