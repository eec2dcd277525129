/* SPDX-License-Identifier: BSD-3-Clause */
/* quorum - the deployment of n independent masters that decide by votes: each has the same names, and knows nothing of
 * the others. One server is a quorum of one: every key is at its one node, and nobody votes. Two addresses of one
 * server would be two votes that fail together: that is reported. Each is found by its name alone, which is resolved
 * again when its server turns out to be no master (elsewhere.h). */
#include "node/route.h"

struct quorum {
    struct hl_route route;
    unsigned count;
    struct hl_node nodes[];
};

static struct hl_node *node_of(struct hl_route *route, const struct hl_about *about)
{
    return &((struct quorum *)route)->nodes[about->master];
}

static struct hl_node *node_at(struct hl_route *route, unsigned i)
{
    struct quorum *quorum = (struct quorum *)route;
    return i < quorum->count ? &quorum->nodes[i] : NULL;
}

static void on_up(void *arg, struct hl_node *node)
{
    struct quorum *quorum = arg;
    struct hl_text what;
    for (unsigned i = 1; i < quorum->count; i++) {
        const char *run_id = quorum->nodes[i].server_info.run_id;
        unsigned twin = 0; /* the first that is the same run of the same server: at the latest, i itself */
        while (strcmp(quorum->nodes[twin].server_info.run_id, run_id) != 0)
            twin++;
        hl_text_set(&what, "is the same server as %s: both votes would be lost together; give independent servers",
                    hl_node_name(&quorum->nodes[twin]));
        hl_handshake_report(&quorum->nodes[i], HL_MISSING_TWIN, *run_id && twin < i ? what.bytes : NULL);
    }
    quorum->route.events->on_up(quorum->route.arg, node);
}

static void on_down(void *arg, struct hl_node *node)
{
    struct quorum *quorum = arg;
    quorum->route.events->on_down(quorum->route.arg, node);
}

/* The name may lead to the master by now, or one of its addresses does. */
static int on_error(void *arg, struct hl_node *node, struct hl_request *request, const struct hl_reply *error)
{
    (void)arg;
    if (!hl_elsewhere_detour(node, request, error, hl_session_addresses(&node->session)))
        return 0;
    hl_node_submit(node, request, request->timeout_ms, request->how);
    return 1;
}

static int is_up(struct hl_route *route)
{
    struct quorum *quorum = (struct quorum *)route;
    unsigned up = 0;
    for (unsigned i = 0; i < quorum->count; i++)
        up += quorum->nodes[i].is_up != 0;
    return up && up >= route->needed;
}

static void start(struct hl_route *route)
{
    struct quorum *quorum = (struct quorum *)route;
    for (unsigned i = 0; i < quorum->count; i++)
        hl_node_start(&quorum->nodes[i]);
}

static void free_route(struct hl_route *route)
{
    struct quorum *quorum = (struct quorum *)route;
    while (quorum->count)
        hl_node_done(&quorum->nodes[--quorum->count]);
    hl_memory_free(&route->host->memory, quorum);
}

struct hl_route *hl_quorum_new(struct hl_host *host, const struct hl_places *places,
                               const struct hl_node_options *node, const struct hl_route_events *events, void *arg)
{
    static const struct hl_node_events node_events = {on_up, on_down, on_error, NULL};
    static const struct hl_route_ops ops = {node_of, node_at, is_up, start, free_route, 0, 0};
    struct quorum *quorum = hl_memory_new(&host->memory, sizeof *quorum + places->count * sizeof quorum->nodes[0]);
    if (!quorum)
        return NULL;
    quorum->route = (struct hl_route){&ops, host, events, arg, .needed = (uint8_t)places->needed};
    quorum->route.masters = places->count > 1 ? (uint8_t)places->count : 0;
    for (; quorum->count < places->count; quorum->count++) {
        struct hl_node_options own = *node;
        own.session.endpoint.address = places->list[quorum->count];
        hl_address_write(own.session.endpoint.name, &places->list[quorum->count]);
        own.session.login = places->logins[quorum->count];
        own.session.is_tls = places->are_tls[quorum->count];
        if (hl_node_init(&quorum->nodes[quorum->count], host, &own, &node_events, quorum) != 0) {
            free_route(&quorum->route);
            return NULL;
        }
    }
    return &quorum->route;
}
