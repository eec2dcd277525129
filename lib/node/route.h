/* SPDX-License-Identifier: BSD-3-Clause */
/* route - which node serves a key. A deployment (one server; later Sentinel, Cluster, a quorum of masters) is one implementation of this
 * table; the lock layer asks at every request and keeps no node of its own. */
#ifndef HL_NODE_ROUTE_H
#define HL_NODE_ROUTE_H

#include "node/node.h"

struct hl_route;

struct hl_route_ops {
    struct hl_node *(*node_of)(struct hl_route *route, const char *key, size_t length);
    struct hl_node *(*node_at)(struct hl_route *route, unsigned i); /* NULL: there are no more */
    void (*start)(struct hl_route *route);
    void (*free)(struct hl_route *route); /* nodes and links with it */
};

struct hl_route { const struct hl_route_ops *ops; };

struct hl_place { /* copied */
    const char *path, *host; /* one of them */
    int port;
};

/* One server. options->session.endpoint is filled here. NULL: no memory. */
struct hl_route *hl_single_new(struct hl_host *host, const struct hl_place *place, const struct hl_node_options *options,
                               const struct hl_node_events *events, void *arg);

#endif
