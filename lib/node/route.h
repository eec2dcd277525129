/* SPDX-License-Identifier: BSD-3-Clause */
/* route - finds the node that serves a key. Each deployment (one server or a quorum of them, Sentinel, Cluster) is one
 * implementation of this interface. The lock layers ask the route for the node at every request, and keep no node
 * themselves.
 * The node of a key may change: a slot moves, or another server takes over. The route then moves requests that are not
 * sent yet to the right node, and on_moved lets the lock layers verify holds and open channels there.
 * Invariant: every key has a node at any time, and a node that was returned once lives as long as its route. */
#ifndef HL_NODE_ROUTE_H
#define HL_NODE_ROUTE_H

#include "node/node.h"

struct hl_route;

struct hl_route_events {
    void (*on_up)(void *arg, struct hl_node *node); /* the node is up (again): verify its holds, let waiters try */
    void (*on_down)(void *arg, struct hl_node *node);
    /* Some keys have another node now, or their node has another server. After a failover the new server may lack
     * acknowledged writes. */
    void (*on_moved)(void *arg, int is_failover);
};

struct hl_route_ops {
    struct hl_node *(*node_of)(struct hl_route *route, const struct hl_about *about);
    /* Returns the i-th node in use; NULL: there are no more. */
    struct hl_node *(*node_at)(struct hl_route *route, unsigned i);
    int (*is_up)(struct hl_route *route); /* commands can be sent */
    void (*start)(struct hl_route *route);
    void (*free)(struct hl_route *route); /* also frees its nodes and links */
    int is_spread;  /* the keys are spread over several servers */
    int can_forget; /* a server that lacks acknowledged writes may take over */
};

struct hl_route {
    const struct hl_route_ops *ops;
    struct hl_host *host;
    const struct hl_route_events *events;
    void *arg;
    uint8_t masters, needed; /* in a quorum: how many masters vote, and how many must agree. masters 0: no quorum */
};

static inline struct hl_node *hl_route_node(struct hl_route *route, const struct hl_about *about)
{
    return route->ops->node_of(route, about);
}

static inline void hl_route_submit(struct hl_route *route, struct hl_request *request, uint32_t timeout_ms,
                                   unsigned how)
{
    struct hl_about about;
    request->ops->about(request, &about);
    request->detours = 0;
    request->hops = 0;
    hl_node_submit(route->ops->node_of(route, &about), request, timeout_ms, how);
}

/* ---- deployments ---- */

enum { HL_ROUTE_ENDPOINTS_MAX = 16, HL_MASTERS_MAX = 9 };

struct hl_endpoints { /* where a deployment is found; the route copies all but the logins */
    struct hl_address list[HL_ROUTE_ENDPOINTS_MAX]; /* the sentinels, the cluster servers or the masters */
    unsigned count;
    const struct hl_login *logins[HL_ROUTE_ENDPOINTS_MAX]; /* one for each address; they outlive the route */
    uint8_t are_tls[HL_ROUTE_ENDPOINTS_MAX];
    unsigned needed;    /* how many votes a quorum needs */
    const char *master; /* the sentinels' name for the master */
};

/* Makes a route; returns NULL if there is no memory. `node` has the options of each server that keeps locks, all but
 * the endpoint. hl_masters_new takes the login and TLS from the endpoints; at hl_sentinel_new the logins there are
 * those of the sentinels. */
typedef struct hl_route *hl_route_new_fn(struct hl_host *host, const struct hl_endpoints *endpoints,
                                         const struct hl_node_options *node, const struct hl_route_events *events,
                                         void *arg);

hl_route_new_fn hl_sentinel_new; /* the master that Sentinel names */
hl_route_new_fn hl_cluster_new;  /* a Redis Cluster */
hl_route_new_fn hl_masters_new;  /* independent masters, or one */

#endif
