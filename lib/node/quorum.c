/* SPDX-License-Identifier: BSD-3-Clause */
/* quorum - the deployment of n independent masters that decide by votes: a hold has a part at each of them. Each is a deployment of one
 * server; they know nothing of each other. */
#include "node/route.h"

struct quorum {
    struct hl_route route;
    const struct hl_memory *memory;
    struct hl_route *masters[HL_MASTERS_MAX];
};

static struct hl_route *master_of(struct hl_route *route, unsigned i) { return ((struct quorum *)route)->masters[i]; }

static struct hl_node *node_of(struct hl_route *route, const struct hl_about *about)
{
    struct hl_route *master = master_of(route, about->part);
    return master->ops->node_of(master, about);
}

static struct hl_node *node_at(struct hl_route *route, unsigned i)
{
    return i < route->masters ? master_of(route, i)->ops->node_at(master_of(route, i), 0) : NULL;
}

static int is_up(struct hl_route *route) { return hl_route_can_decide(route, "", 0); }

static void start(struct hl_route *route)
{
    for (unsigned i = 0; i < route->masters; i++)
        master_of(route, i)->ops->start(master_of(route, i));
}

static void free_route(struct hl_route *route)
{
    struct quorum *quorum = (struct quorum *)route;
    while (route->masters) {
        struct hl_route *master = master_of(route, --route->masters);
        master->ops->free(master);
    }
    hl_memory_free(quorum->memory, quorum);
}

struct hl_route *hl_quorum_new(struct hl_host *host, const struct hl_quorum_options *options, const struct hl_node_options *node,
                               const struct hl_route_events *events, void *arg)
{
    static const struct hl_route_ops ops = {.node_of = node_of, .node_at = node_at, .is_up = is_up, .start = start, .free = free_route};
    struct quorum *quorum = hl_memory_new(&host->memory, sizeof *quorum);
    if (!quorum)
        return NULL;
    quorum->route.ops = &ops;
    quorum->route.needed = (uint8_t)options->needed;
    quorum->memory = &host->memory;
    for (unsigned i = 0; i < options->count; i++) {
        struct hl_node_options own = *node;
        own.session.login = options->logins[i];
        own.session.is_tls = options->are_tls[i];
        quorum->masters[i] = hl_single_new(host, &options->places[i], &own, events, arg);
        if (!quorum->masters[i]) {
            free_route(&quorum->route);
            return NULL;
        }
        quorum->route.masters++;
    }
    return &quorum->route;
}
