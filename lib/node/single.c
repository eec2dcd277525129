/* SPDX-License-Identifier: BSD-3-Clause */
/* single - the deployment of one server: every key is at its one node. */
#include <stdio.h>

#include "node/route.h"

struct single {
    struct hl_route route;
    struct hl_host *host;
    struct hl_node node;
    const struct hl_route_events *events;
    void *arg;
    char *address, *name;
};

static struct hl_node *node_of(struct hl_route *route, const struct hl_about *about)
{
    (void)about;
    return &((struct single *)route)->node;
}

static struct hl_node *node_at(struct hl_route *route, unsigned i)
{
    return i == 0 ? &((struct single *)route)->node : NULL;
}

static int is_up(struct hl_route *route) { return ((struct single *)route)->node.is_up; }

static void start(struct hl_route *route) { hl_node_start(&((struct single *)route)->node); }

static void on_up(void *arg, struct hl_node *node)
{
    struct single *single = arg;
    single->events->on_up(single->arg, node);
}

static void on_down(void *arg, struct hl_node *node)
{
    struct single *single = arg;
    single->events->on_down(single->arg, node);
}

static void free_memory(struct single *single)
{
    const struct hl_memory *memory = &single->host->memory;
    hl_memory_free(memory, single->address);
    hl_memory_free(memory, single->name);
    hl_memory_free(memory, single);
}

static void free_route(struct hl_route *route)
{
    struct single *single = (struct single *)route;
    hl_node_done(&single->node);
    free_memory(single);
}

static char *name_of(const struct hl_memory *memory, const struct hl_place *place)
{
    size_t room = (place->path ? strlen(place->path) : strlen(place->host)) + 16;
    char *name = hl_memory_new(memory, room);
    if (name && place->path)
        snprintf(name, room, "%s", place->path);
    else if (name)
        snprintf(name, room, strchr(place->host, ':') ? "[%s]:%d" : "%s:%d", place->host, place->port);
    return name;
}

struct hl_route *hl_single_new(struct hl_host *host, const struct hl_place *place,
                               const struct hl_node_options *options, const struct hl_route_events *events, void *arg)
{
    static const struct hl_node_events node_events = {on_up, on_down, NULL, NULL};
    static const struct hl_route_ops ops = {node_of, node_at, is_up, start, free_route, 0, 0};
    const char *address = place->path ? place->path : place->host;
    struct hl_node_options own = *options;
    struct single *single = hl_memory_new(&host->memory, sizeof *single);
    if (!single)
        return NULL;
    single->route.ops = &ops;
    single->host = host;
    single->events = events;
    single->arg = arg;
    single->address = hl_memory_copy(&host->memory, address, strlen(address));
    single->name = name_of(&host->memory, place);
    own.session.endpoint = (struct hl_endpoint){place->path ? single->address : NULL,
                                                place->path ? NULL : single->address, place->port, single->name};
    if (single->address && single->name && hl_node_init(&single->node, host, &own, &node_events, single) == 0)
        return &single->route;
    free_memory(single);
    return NULL;
}
