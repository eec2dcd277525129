/* SPDX-License-Identifier: BSD-3-Clause */
/* confirm_link - a node's third link, for requests that replicas must confirm by WAIT.
 *
 * WAIT counts the replicas that have the latest write of its own connection; over another connection it would answer at
 * once and confirm nothing. It also blocks all later commands on its connection. So these requests (HL_REQUEST_CONFIRM)
 * use a node inside the node, which has its own link, login, scripts and clock, and is made for the first of them.
 *
 *   open:  requests are sent as they come
 *   shut:  requests queue, and are sent together when the link opens again. The link shuts with the first grant that
 *          must be confirmed. It opens when no request waits for confirmation any more: WAIT has answered them, or they
 *          were withdrawn
 *
 * WAIT is sent when all requests before it are answered, and covers all their grants. It asks for the lowest number of
 * replicas that one of them needs, so that no grant waits for the replicas of another; the next WAIT asks for the rest.
 * Invariant: a write is confirmed only by a WAIT over the same link. When the link is lost, the requests that wait for
 * confirmation are answered without a reply. */
#ifndef HL_NODE_CONFIRM_LINK_H
#define HL_NODE_CONFIRM_LINK_H

#include "node/node.h"

struct hl_confirm_link {
    struct hl_node node;    /* its queue CONFIRMING has the pending requests */
    struct hl_request wait; /* WAIT */
    struct hl_request mark; /* marks, in a queue, the end of the requests that are being answered */
    unsigned replicas;      /* how many replicas the WAIT asks for */
    uint32_t timeout_ms;    /* how long the WAIT may block */
};

/* Makes the third link of this node if it is missing, starts it, and returns it; NULL: there is no memory. */
struct hl_node *hl_confirm_link_get(struct hl_node *node);
/* Ends the third link and frees it. */
void hl_confirm_link_done(struct hl_node *link);
/* Call after each reply over the third link: sends WAIT when it is time. */
void hl_confirm_link_on_reply(struct hl_node *link);
/* Closes the third link if it is idle and was not used for unused_us. */
void hl_confirm_link_rest(struct hl_node *node, uint64_t unused_us);

/* Call this in the `done` of a request that has written and was answered over a third link. The request then waits for
 * the confirmation of that write: its `done` runs once more, when `replicas` replicas have the write or timeout_ms are
 * over. The answer that `done` gets is that to WAIT: how many replicas have the write. */
void hl_confirm_link_ask(struct hl_request *request, unsigned replicas, uint32_t timeout_ms);

#endif
