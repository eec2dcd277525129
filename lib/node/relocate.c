/* SPDX-License-Identifier: BSD-3-Clause */
/* relocate - how routes move nodes, and the requests that wait there, when servers come and go. See node.h. */
#include "base/contract.h"
#include "node/node.h"

void hl_node_take(struct hl_node *node, struct hl_requests *ret)
{
    struct hl_request *request;
    for (unsigned place = REQUEST_FIRST; place <= REQUEST_NORMAL; place++)
        while ((request = TAILQ_FIRST(&node->queues[place])) != NULL) {
            hl_node_dequeue(request);
            TAILQ_INSERT_TAIL(ret, request, entry);
        }
    if (node->third)
        hl_node_take(node->third, ret);
}

/* The new server has to answer these questions for itself. */
void hl_node_move(struct hl_node *node, const struct hl_address *address, const char *why)
{
    node->options.session.endpoint.address = *address;
    hl_address_write(node->options.session.endpoint.name, address);
    node->server_info = (struct hl_server_info){0};
    node->reported_missing = 0;
    node->moved_us = hl_now_us(node->host);
    hl_session_move(&node->session, why);
    hl_session_move(&node->subscription.session, why);
    if (node->third)
        hl_node_move(node->third, address, why);
}

void hl_node_break(struct hl_node *node, const char *why)
{
    hl_session_break(&node->session, why);
    if (node->third)
        hl_session_break(&node->third->session, why);
}

/* The keep-alive and the handshake belong to nobody. */
int hl_node_is_idle(const struct hl_node *node)
{
    const struct hl_request *sent = hl_node_oldest(node);
    if (sent && node->is_up && (sent != &node->steps[HL_HANDSHAKE_PROBE] || TAILQ_NEXT(sent, entry)))
        return 0;
    for (unsigned place = REQUEST_FIRST; place < REQUEST_SENT; place++)
        if (!TAILQ_EMPTY(&node->queues[place]))
            return 0;
    return hl_subscription_is_idle(&node->subscription) && (!node->third || hl_node_is_idle(node->third));
}

void hl_node_rest(struct hl_node *node)
{
    HL_REQUIRE(hl_node_is_idle(node)); /* members.c and wait_link.c have checked it */
    if (node->third)
        hl_node_rest(node->third);
    hl_session_stop(&node->session);
    hl_subscription_rest(&node->subscription);
    if (node->is_up && !node->parent)
        hl_node_report(node, HL_NODE_RESTS, "nothing here needs it: its links are closed");
    while (!TAILQ_EMPTY(&node->queues[REQUEST_SENT]))
        hl_node_dequeue(TAILQ_FIRST(&node->queues[REQUEST_SENT]));
    node->is_up = 0;
}
