/* SPDX-License-Identifier: BSD-3-Clause */
/* quorum - the deployment of n independent masters that decide by votes: each has the same names. Each is a deployment
 * of one server and knows nothing of the others. Two addresses of one server would be two votes that fail together:
 * that is reported. */
#include "node/route.h"

struct quorum {
    struct hl_route route;
    const struct hl_memory *memory;
    const struct hl_route_events *events;
    void *arg;
    struct hl_route *masters[HL_MASTERS_MAX];
};

static struct hl_route *master_of(struct hl_route *route, unsigned i) { return ((struct quorum *)route)->masters[i]; }

static struct hl_node *node_of(struct hl_route *route, const struct hl_about *about)
{
    struct hl_route *master = master_of(route, about->master);
    return master->ops->node_of(master, about);
}

static struct hl_node *node_at(struct hl_route *route, unsigned i)
{
    return i < route->masters ? master_of(route, i)->ops->node_at(master_of(route, i), 0) : NULL;
}

/* The first master before it that is the same run of the same server; NULL: none is known. */
static struct hl_node *twin_of(struct hl_route *route, unsigned at)
{
    const struct hl_node *node = node_at(route, at);
    for (unsigned i = 0; i < at && *node->server_info.run_id; i++)
        if (strcmp(node_at(route, i)->server_info.run_id, node->server_info.run_id) == 0)
            return node_at(route, i);
    return NULL;
}

static void look_for_twins(struct hl_route *route)
{
    struct hl_text what;
    for (unsigned i = 1; i < route->masters; i++) {
        const struct hl_node *twin = twin_of(route, i);
        if (twin)
            hl_text_set(&what, "is the same server as %s: both votes would be lost together; give independent servers",
                        hl_node_name(twin));
        hl_missing_report(node_at(route, i), HL_MISSING_TWIN, twin ? what.bytes : NULL);
    }
}

static void on_up(void *arg, struct hl_node *node)
{
    struct quorum *quorum = arg;
    look_for_twins(&quorum->route);
    quorum->events->on_up(quorum->arg, node);
}

static void on_down(void *arg, struct hl_node *node)
{
    struct quorum *quorum = arg;
    quorum->events->on_down(quorum->arg, node);
}

static int is_up(struct hl_route *route)
{
    unsigned up = 0;
    for (unsigned i = 0; i < route->masters; i++)
        up += node_at(route, i)->is_up != 0;
    return up >= route->needed;
}

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

struct hl_route *hl_quorum_new(struct hl_host *host, const struct hl_quorum_options *options,
                               const struct hl_node_options *node, const struct hl_route_events *events, void *arg)
{
    static const struct hl_route_events own_events = {on_up, on_down, NULL}; /* one server is never another */
    static const struct hl_route_ops ops = {
        .node_of = node_of, .node_at = node_at, .is_up = is_up, .start = start, .free = free_route};
    struct quorum *quorum = hl_memory_new(&host->memory, sizeof *quorum);
    if (!quorum)
        return NULL;
    quorum->route.ops = &ops;
    quorum->route.needed = (uint8_t)options->needed;
    quorum->memory = &host->memory;
    quorum->events = events;
    quorum->arg = arg;
    for (unsigned i = 0; i < options->count; i++) {
        struct hl_node_options own = *node;
        own.session.login = options->logins[i];
        own.session.is_tls = options->are_tls[i];
        quorum->masters[i] = hl_single_new(host, &options->places[i], &own, &own_events, quorum);
        if (!quorum->masters[i]) {
            free_route(&quorum->route);
            return NULL;
        }
        quorum->route.masters++;
    }
    return &quorum->route;
}
