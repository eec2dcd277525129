/* SPDX-License-Identifier: BSD-3-Clause */
/* masters - the deployment of n independent masters that decide by votes: each has the same lock names, and none is
 * connected to the others. A single server is the case of one master: every key is at its one node, and there are no
 * votes. Two addresses of one server would be two votes that fail together: that is reported. A master is found by
 * its name alone, which is resolved again when the server turns out not to be a master (wrong_server.h). */
#include "base/container.h"
#include "node/route.h"
#include "node/words.h"

struct masters {
    struct hl_route route;
    unsigned count;
    struct hl_node nodes[];
};

static struct hl_node *node_of(struct hl_route *route, const struct hl_about *about)
{
    return &HL_CONTAINER(route, struct masters, route)->nodes[about->master];
}

static struct hl_node *node_at(struct hl_route *route, unsigned i)
{
    struct masters *masters = HL_CONTAINER(route, struct masters, route);
    return i < masters->count ? &masters->nodes[i] : NULL;
}

static void on_up(void *arg, struct hl_node *node)
{
    struct masters *masters = arg;
    struct hl_text what;
    for (unsigned i = 1; i < masters->count; i++) {
        const char *run_id = masters->nodes[i].server_info.run_id;
        unsigned same = 0; /* the first master with this run id, which may be i itself */
        while (strcmp(masters->nodes[same].server_info.run_id, run_id) != 0)
            same++;
        hl_words_same_server(&what, hl_node_name(&masters->nodes[same]));
        hl_handshake_report(&masters->nodes[i], HL_MISSING_SAME_SERVER, *run_id && same < i ? what.bytes : NULL);
    }
    masters->route.events->on_up(masters->route.arg, node);
}

static void on_down(void *arg, struct hl_node *node)
{
    struct masters *masters = arg;
    masters->route.events->on_down(masters->route.arg, node);
}

/* Leaves a read-only server, because the name, or another of its addresses, may lead to the master by now. The request
 * is submitted again, and waits for the new link. */
static int on_error(void *arg, struct hl_node *node, struct hl_request *request, const struct hl_reply *error)
{
    (void)arg;
    if (!hl_wrong_server_detour(node, request, error, hl_session_addresses(&node->session)))
        return 0;
    hl_node_submit(node, request, request->timeout_ms, request->how);
    return 1;
}

static int is_up(struct hl_route *route)
{
    struct masters *masters = HL_CONTAINER(route, struct masters, route);
    unsigned up = 0;
    for (unsigned i = 0; i < masters->count; i++)
        up += masters->nodes[i].is_up != 0;
    return up && up >= route->needed;
}

static void start(struct hl_route *route)
{
    struct masters *masters = HL_CONTAINER(route, struct masters, route);
    for (unsigned i = 0; i < masters->count; i++)
        hl_node_start(&masters->nodes[i]);
}

static void free_route(struct hl_route *route)
{
    struct masters *masters = HL_CONTAINER(route, struct masters, route);
    while (masters->count)
        hl_node_done(&masters->nodes[--masters->count]);
    hl_memory_free(&route->host->memory, masters);
}

struct hl_route *hl_masters_new(struct hl_host *host, const struct hl_endpoints *endpoints,
                                const struct hl_node_options *node, const struct hl_route_events *events, void *arg)
{
    static const struct hl_node_events node_events = {on_up, on_down, on_error, NULL};
    static const struct hl_route_ops ops = {node_of, node_at, is_up, start, free_route, 0, 0};
    struct masters *masters =
        hl_memory_new(&host->memory, sizeof *masters + endpoints->count * sizeof masters->nodes[0]);
    if (!masters)
        return NULL;
    masters->route = (struct hl_route){&ops, host, events, arg, .needed = (uint8_t)endpoints->needed};
    masters->route.masters = endpoints->count > 1 ? (uint8_t)endpoints->count : 0;
    for (; masters->count < endpoints->count; masters->count++) {
        struct hl_node_options own = *node;
        own.session.endpoint.address = endpoints->list[masters->count];
        hl_address_write(own.session.endpoint.name, &endpoints->list[masters->count]);
        own.session.login = endpoints->logins[masters->count];
        own.session.is_tls = endpoints->are_tls[masters->count];
        if (hl_node_init(&masters->nodes[masters->count], host, &own, &node_events, masters) != 0) {
            free_route(&masters->route);
            return NULL;
        }
    }
    return &masters->route;
}
