/* SPDX-License-Identifier: BSD-3-Clause */
/* route - which node serves a key. A deployment (one server, Sentinel, a quorum of masters; later Cluster) is one implementation of this
 * table; the lock layer asks at every request and keeps no node of its own.
 * Nodes come and go, and a key's node may change: a slot moves, another server takes over. The route then brings what has not left
 * to the right node by itself, and tells by on_moved that holds are to be verified there and channels to be opened there.
 * Invariant: there is a node for every key at any time, and a node once named lives as long as its route. */
#ifndef HL_NODE_ROUTE_H
#define HL_NODE_ROUTE_H

#include "node/node.h"

struct hl_route;

struct hl_route_events {
    void (*on_up)(void *arg, struct hl_node *node); /* commands flow (again): verify what is held there, try what waits */
    void (*on_down)(void *arg, struct hl_node *node);
    /* Some keys have another node now, or another server serves them. What that acknowledged since since_us may be forgotten; UINT64_MAX:
     * nothing may. */
    void (*on_moved)(void *arg, uint64_t since_us);
};

struct hl_route_ops {
    struct hl_node *(*node_of)(struct hl_route *route, const struct hl_about *about);
    struct hl_node *(*node_at)(struct hl_route *route, unsigned i); /* of those in use. NULL: there are no more */
    int (*is_up)(struct hl_route *route); /* commands can flow */
    void (*start)(struct hl_route *route);
    void (*free)(struct hl_route *route); /* nodes and links with it */
    int is_spread;  /* keys are at several servers */
    int can_forget; /* another server may take over, and not know all that was acknowledged */
};

struct hl_route {
    const struct hl_route_ops *ops;
    uint8_t masters, needed; /* of a quorum: how many have a vote, and how many must say yes; 0: each key has one node, which decides */
};

static inline struct hl_node *hl_route_node(struct hl_route *route, const char *key, size_t length)
{
    return route->ops->node_of(route, &(struct hl_about){key, length, 0});
}

static inline void hl_route_submit(struct hl_route *route, struct hl_request *request, uint32_t timeout_ms, unsigned how)
{
    struct hl_about about;
    request->ops->about(request, &about);
    request->detours = 0;
    request->hops = 0;
    hl_node_submit(route->ops->node_of(route, &about), request, timeout_ms, how);
}

/* ---- of all nodes that decide about a key (route.c) ---- */

unsigned hl_route_members(const struct hl_route *route);
struct hl_node *hl_route_member(struct hl_route *route, const char *key, size_t length, unsigned i);
int hl_route_is_member(struct hl_route *route, const char *key, size_t length, const struct hl_node *node);
int hl_route_can_decide(struct hl_route *route, const char *key, size_t length); /* as many are up as are needed */
uint64_t hl_route_round_trip_us(struct hl_route *route, const char *key, size_t length); /* the quickest seen, of the slowest */
uint64_t hl_route_usual_trip_us(struct hl_route *route, const char *key, size_t length); /* the mean, of the slowest */
uint64_t hl_route_guard_left_us(struct hl_route *route, const char *key, size_t length, uint64_t now_us); /* until enough may grant; 0: they may */

/* ---- deployments ---- */

enum { HL_ROUTE_PLACES_MAX = 16, HL_MASTERS_MAX = 9 };

struct hl_place { /* copied */
    const char *path, *host; /* one of them */
    int port;
};

struct hl_sentinel_options { /* copied, but for login */
    struct hl_place places[HL_ROUTE_PLACES_MAX]; /* of sentinels: hosts */
    unsigned count;
    const char *master;
    const struct hl_login *login; /* to the sentinels; outlives the route */
};

struct hl_quorum_options { /* copied, but for logins */
    struct hl_place places[HL_MASTERS_MAX];
    const struct hl_login *logins[HL_MASTERS_MAX]; /* outlive the route */
    uint8_t are_tls[HL_MASTERS_MAX];
    unsigned count, needed;
};

/* One server. options->session.endpoint is filled here. NULL: no memory. */
struct hl_route *hl_single_new(struct hl_host *host, const struct hl_place *place, const struct hl_node_options *options,
                               const struct hl_route_events *events, void *arg);

/* The master that Sentinel names; node: of the master. NULL: no memory. */
struct hl_route *hl_sentinel_new(struct hl_host *host, const struct hl_sentinel_options *options, const struct hl_node_options *node,
                                 const struct hl_route_events *events, void *arg);

/* A Redis Cluster; places: hosts, by which it is found at first. NULL: no memory. */
struct hl_route *hl_cluster_new(struct hl_host *host, const struct hl_place *places, unsigned count, const struct hl_node_options *options,
                                const struct hl_route_events *events, void *arg);

/* Independent masters; node: of each, but for its login and TLS. NULL: no memory. */
struct hl_route *hl_quorum_new(struct hl_host *host, const struct hl_quorum_options *options, const struct hl_node_options *node,
                               const struct hl_route_events *events, void *arg);

#endif
