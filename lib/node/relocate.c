/* SPDX-License-Identifier: BSD-3-Clause */
/* relocate - how routes move nodes, and the requests that wait there, when servers come and go. See node.h. */
#include "base/contract.h"
#include "node/node.h"

void hl_node_park(struct hl_node *node, struct hl_request *request)
{
    HL_REQUIRE(request->place == REQUEST_IDLE); /* it was taken out of a queue, or answered */
    request->node = node;
    request->place = REQUEST_PARKED;
    TAILQ_INSERT_TAIL(&node->deferred, request, entry);
}

static struct hl_request *take_from(struct hl_requests *queue)
{
    struct hl_request *request = TAILQ_FIRST(queue);
    if (!request)
        return NULL;
    TAILQ_REMOVE(queue, request, entry);
    request->place = REQUEST_IDLE;
    return request;
}

struct hl_request *hl_node_take_deferred(struct hl_node *node) { return take_from(&node->deferred); }

struct hl_request *hl_node_take(struct hl_node *node)
{
    struct hl_requests *const queues[] = {&node->first, &node->urgent, &node->normal, &node->deferred,
                                          node->third ? &node->third->normal : &node->deferred};
    struct hl_request *request = NULL;
    for (size_t i = 0; i < sizeof queues / sizeof *queues && !request; i++)
        request = take_from(queues[i]);
    return request;
}

/* The new server has to answer these questions for itself. */
void hl_node_move(struct hl_node *node, const struct hl_endpoint *endpoint, const char *why)
{
    node->options.session.endpoint = *endpoint;
    node->server_info = (struct hl_server_info){0};
    node->reported_missing = 0;
    node->moved_us = hl_now_us(node->host);
    if (node->is_started)
        hl_session_move(&node->session, why);
    hl_subscription_move(&node->subscription, why);
    if (node->third)
        hl_node_move(node->third, endpoint, why);
}

void hl_node_break(struct hl_node *node, const char *why)
{
    hl_session_break(&node->session, why);
    if (node->third)
        hl_session_break(&node->third->session, why);
}

/* The keep-alive belongs to no request. */
static int is_quiet(const struct hl_node *node)
{
    const struct hl_request *first = TAILQ_FIRST(&node->sent);
    return !first || (first == &node->probe && !TAILQ_NEXT(first, entry));
}

int hl_node_is_idle(const struct hl_node *node)
{
    return is_quiet(node) && TAILQ_EMPTY(&node->first) && TAILQ_EMPTY(&node->urgent) && TAILQ_EMPTY(&node->normal) &&
           TAILQ_EMPTY(&node->guarded) && TAILQ_EMPTY(&node->deferred) &&
           hl_subscription_is_idle(&node->subscription) && (!node->third || node->options.wait_link->is_idle(node));
}

void hl_node_rest(struct hl_node *node)
{
    HL_REQUIRE(hl_node_is_idle(node)); /* members.c and wait_link.c have checked it */
    if (node->third)
        hl_node_rest(node->third);
    hl_timer_stop(node->host, node->timer);
    hl_session_stop(&node->session);
    hl_subscription_rest(&node->subscription);
    if (node->is_up && !node->parent)
        hl_trace(
            node->host, HL_NODE_RESTS,
            &(struct hl_fact){.node = hl_node_name(node), .detail = "nothing here needs it: its links are closed"});
    if (hl_request_is_busy(&node->probe))
        TAILQ_REMOVE(&node->sent, &node->probe, entry);
    node->probe.place = REQUEST_IDLE;
    node->sent_count = 0;
    node->handshake = (struct hl_handshake){0, 0};
    node->due_us = 0;
    node->is_up = node->is_started = 0;
}
