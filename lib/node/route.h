/* SPDX-License-Identifier: BSD-3-Clause */
/* route - which node serves a key. A deployment (one server or a quorum of them, Sentinel, Cluster) is one
 * implementation of this table; the lock layer asks at every request and keeps no node of its own.
 * Nodes come and go, and a key's node may change: a slot moves, another server takes over. The route then moves unsent
 * requests to the right node, and on_moved asks its user to verify holds and open channels there.
 * Invariant: every key has a node at any time, and a node that was returned once lives as long as its route. */
#ifndef HL_NODE_ROUTE_H
#define HL_NODE_ROUTE_H

#include "node/node.h"

struct hl_route;

struct hl_route_events {
    void (*on_up)(void *arg, struct hl_node *node); /* commands flow (again): verify holds there, let waiters try */
    void (*on_down)(void *arg, struct hl_node *node);
    /* Some keys have another node now, or another server. After a failover acknowledged writes may be lost there. */
    void (*on_moved)(void *arg, int is_failover);
};

struct hl_route_ops {
    struct hl_node *(*node_of)(struct hl_route *route, const struct hl_about *about);
    struct hl_node *(*node_at)(struct hl_route *route, unsigned i); /* of those in use. NULL: there are no more */
    int (*is_up)(struct hl_route *route); /* commands can flow */
    void (*start)(struct hl_route *route);
    void (*free)(struct hl_route *route); /* nodes and links with it */
    int is_spread;  /* keys are at several servers */
    int can_forget; /* another server may take over and lack acknowledged writes */
};

struct hl_route {
    const struct hl_route_ops *ops;
    struct hl_host *host;
    const struct hl_route_events *events;
    void *arg;
    uint8_t masters, needed; /* of a quorum: how many vote, how many must agree; 0: each key has one node */
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

struct hl_endpoints { /* where a deployment is found; copied, but for logins */
    struct hl_address list[HL_ROUTE_ENDPOINTS_MAX]; /* of sentinels, of servers of the cluster, or of the masters */
    unsigned count;
    const struct hl_login *logins[HL_ROUTE_ENDPOINTS_MAX]; /* there; outlive the route */
    uint8_t are_tls[HL_ROUTE_ENDPOINTS_MAX];
    unsigned needed;    /* of a quorum: how many votes */
    const char *master; /* the sentinels' name for it */
};

/* node: of each server with locks, but for its endpoint; its login and TLS are those of a place, unless the place is a
 * sentinel's. NULL: no memory. */
typedef struct hl_route *hl_route_new_fn(struct hl_host *host, const struct hl_endpoints *endpoints,
                                         const struct hl_node_options *node, const struct hl_route_events *events,
                                         void *arg);

hl_route_new_fn hl_sentinel_new; /* the master that Sentinel names */
hl_route_new_fn hl_cluster_new;  /* a Redis Cluster */
hl_route_new_fn hl_masters_new;  /* independent masters, or one */

#endif
