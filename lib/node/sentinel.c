/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinel - the deployment of one master that Sentinel names: every key is at one node, whose address changes.
 *
 * It listens to all sentinels of the url, and asks them: when they come, when the master is lost, silent, not a master
 * or read-only, and from time to time. It follows a switch at once: it closes every link to the old master, so that
 * nothing more is read from it. Config-epochs decide which sentinel to believe; they grow with every failover: a
 * sentinel that was away, and a master that was stopped and goes on, know an older one. A newer epoch is a switch, even
 * to the address that we know: this client has missed the master between. A message about a switch has no epoch, so its
 * sender is asked. Sentinels of one epoch that name different masters are compared, so that no two of them can send us
 * back and forth. If most sentinels still know only older epochs long after they should know ours, they were set up
 * from scratch.
 * Invariant: requests wait in the one node while no master is known. */
#include <stdio.h>

#include "base/plant.h"
#include "node/route.h"
#include "node/sentinel_node.h"

enum { SEEK_US = 500000, HEARD_US = 10000000, READONLY_MAX = 5 }; /* HEARD: by then all sentinels know of a switch */

struct sentinel {
    struct hl_route route;
    struct hl_node node; /* the master */
    void *timer;         /* the sentinels are asked again */
    uint64_t keepalive_us;
    uint64_t epoch, epoch_us;  /* us: since when that one */
    char *master;
    struct hl_sentinel_node *sentinel_nodes[HL_ROUTE_PLACES_MAX];
    unsigned count;
    int is_reported; /* "no sentinel knows the master" was reported */
};

static const struct hl_address *known(const struct sentinel *sentinel) { return hl_node_address(&sentinel->node); }

/* ---- asking ---- */

static void ask_all(struct sentinel *sentinel)
{
    for (unsigned i = 0; i < sentinel->count; i++)
        hl_sentinel_node_ask(sentinel->sentinel_nodes[i]);
}

static void watch(struct sentinel *sentinel)
{
    hl_timer_start(sentinel->route.host, sentinel->timer, sentinel->node.is_up ? sentinel->keepalive_us : SEEK_US);
}

static void seek(struct sentinel *sentinel)
{
    ask_all(sentinel);
    watch(sentinel);
}

static void on_timer(void *arg)
{
    struct sentinel *sentinel = arg;
    hl_host_enter(sentinel->route.host);
    seek(sentinel);
    hl_host_leave(sentinel->route.host);
}

/* ---- which sentinel to believe ---- */

/* A newer epoch is another master, even at the address that we know: that server was a replica meanwhile, and has the
 * keys of the master before it, which may have missed its last writes. */
static int is_newer(const struct sentinel *sentinel, const struct hl_sentinel_node *sentinel_node)
{
    return sentinel_node->is_dated && sentinel_node->epoch > sentinel->epoch;
}

static void follow(struct sentinel *sentinel, const struct hl_address *to)
{
    struct hl_text from, what, why;
    char name[HL_ADDRESS_TEXT_MAX];
    int is_first = !known(sentinel)->port;
    int is_same = hl_address_is_same(known(sentinel), to);
    hl_text_set(&from, "%.120s", is_same ? "another server" : hl_node_name(&sentinel->node));
    hl_text_set(&why, "%s was the master before", from.bytes);
    hl_address_write(name, to);
    hl_text_set(&what, "%s took over from %s", name, from.bytes);
    if (!is_first)
        hl_trace(sentinel->route.host, HL_FAILOVER, &(struct hl_fact){.node = name, .detail = what.bytes});
    hl_node_move(&sentinel->node, to, why.bytes);
    if (is_first)
        sentinel->node.moved_us = 0;
    else
        sentinel->route.events->on_moved(sentinel->route.arg, 1);
    watch(sentinel);
}

/* More than half of all sentinels answer, and none of them knows an epoch as high as ours. For a while that is normal:
 * one of them reports a switch first. */
static int are_set_up_anew(const struct sentinel *sentinel)
{
    uint64_t since_us = HL_PLANTED(ANEW_AT_ONCE) ? 0 : sentinel->epoch_us + HEARD_US;
    unsigned lower = 0, others = 0;
    for (unsigned i = 0; i < sentinel->count; i++) {
        const struct hl_sentinel_node *sentinel_node = sentinel->sentinel_nodes[i];
        lower += sentinel_node->address.port && sentinel_node->epoch < sentinel->epoch &&
                 sentinel_node->told_us >= since_us;
        others += sentinel_node->address.port && sentinel_node->epoch >= sentinel->epoch;
    }
    return !others && lower > sentinel->count / 2;
}

static int do_most_name(const struct sentinel *sentinel, const struct hl_address *address)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sentinel->count; i++)
        count += hl_address_is_same(&sentinel->sentinel_nodes[i]->address, address) != 0;
    return count > sentinel->count / 2;
}

/* Without a failover a sentinel names another master if it uses another address for the same one, or was set up by
 * hand. Follow it if most agree, or if the master is away; then pause, because the others go on naming the other
 * one. */
static int is_disputed(const struct sentinel *sentinel, const struct hl_sentinel_node *sentinel_node)
{
    if (is_newer(sentinel, sentinel_node) || !known(sentinel)->port ||
        hl_address_is_same(known(sentinel), &sentinel_node->address) ||
        do_most_name(sentinel, &sentinel_node->address))
        return 0;
    return (sentinel_node->is_dated && sentinel->node.is_up) ||
           hl_now_us(sentinel->route.host) - sentinel->node.moved_us < SEEK_US;
}

static void on_answered(void *arg, struct hl_sentinel_node *sentinel_node)
{
    struct sentinel *sentinel = arg;
    int is_news = is_newer(sentinel, sentinel_node) && !HL_PLANTED(RETURN_UNNOTICED);
    int is_old = sentinel_node->is_dated && sentinel_node->epoch < sentinel->epoch && !are_set_up_anew(sentinel);
    if ((is_old || is_disputed(sentinel, sentinel_node)) && !HL_PLANTED(STALE_SENTINEL_BELIEVED))
        return;
    if (sentinel_node->is_dated && sentinel_node->epoch != sentinel->epoch) {
        sentinel->epoch = sentinel_node->epoch;
        sentinel->epoch_us = hl_now_us(sentinel->route.host);
    }
    if (is_news || !hl_address_is_same(known(sentinel), &sentinel_node->address))
        follow(sentinel, &sentinel_node->address);
}

/* All sentinels that can be asked were asked. */
static int are_useless(const struct sentinel *sentinel)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sentinel->count; i++)
        count += sentinel->sentinel_nodes[i]->is_useless != 0;
    return count == sentinel->count;
}

static void on_useless(void *arg, struct hl_sentinel_node *sentinel_node, const char *why)
{
    struct sentinel *sentinel = arg;
    (void)sentinel_node;
    if (known(sentinel)->port)
        return;
    hl_text_set(&sentinel->node.session.why, "%s", why);
    if (sentinel->is_reported || !are_useless(sentinel))
        return;
    sentinel->is_reported = 1;
    hl_trace(sentinel->route.host, HL_ROUTE_UNSETTLED,
             &(struct hl_fact){.node = hl_node_name(&sentinel->node), .detail = why, .retry_us = SEEK_US});
}

/* ---- the master's node ---- */

static void on_up(void *arg, struct hl_node *node)
{
    struct sentinel *sentinel = arg;
    watch(sentinel);
    sentinel->route.events->on_up(sentinel->route.arg, node);
}

static void on_down(void *arg, struct hl_node *node)
{
    struct sentinel *sentinel = arg;
    sentinel->route.events->on_down(sentinel->route.arg, node);
    seek(sentinel);
}

static void on_silence(void *arg, struct hl_node *node)
{
    (void)node;
    ask_all(arg);
}

/* The master was demoted and did nothing: the request waits for the next master. */
static int on_error(void *arg, struct hl_node *node, struct hl_request *request, const struct hl_reply *error)
{
    (void)arg;
    if (HL_PLANTED(READONLY_IGNORED) || request->detours == READONLY_MAX || !hl_reply_has_code(error, "READONLY"))
        return 0;
    request->detours++;
    hl_node_break(node, "it is read-only: no master any more"); /* on_down follows: the sentinels are asked */
    hl_node_submit(node, request, request->timeout_ms, request->how);
    return 1;
}

/* ---- the route ---- */

static struct hl_node *node_of(struct hl_route *route, const struct hl_about *about)
{
    (void)about;
    return &((struct sentinel *)route)->node;
}

static struct hl_node *node_at(struct hl_route *route, unsigned i)
{
    return i == 0 ? &((struct sentinel *)route)->node : NULL;
}

static int is_up(struct hl_route *route) { return ((struct sentinel *)route)->node.is_up; }

static void start(struct hl_route *route)
{
    struct sentinel *sentinel = (struct sentinel *)route;
    hl_node_start(&sentinel->node);
    for (unsigned i = 0; i < sentinel->count; i++)
        hl_node_start(&sentinel->sentinel_nodes[i]->node);
    watch(sentinel);
}

static void free_memory(struct sentinel *sentinel)
{
    const struct hl_memory *memory = &sentinel->route.host->memory;
    hl_timer_free(sentinel->route.host, sentinel->timer);
    hl_memory_free(memory, sentinel->master);
    hl_memory_free(memory, sentinel);
}

static void free_route(struct hl_route *route)
{
    struct sentinel *sentinel = (struct sentinel *)route;
    hl_node_done(&sentinel->node);
    for (unsigned i = 0; i < sentinel->count; i++) {
        hl_node_done(&sentinel->sentinel_nodes[i]->node);
        hl_memory_free(&route->host->memory, sentinel->sentinel_nodes[i]);
    }
    free_memory(sentinel);
}

/* ---- its making ---- */

static int add_sentinel_node(struct sentinel *sentinel, const struct hl_address *address,
                             const struct hl_node_options *options)
{
    static const struct hl_sentinel_node_events events = {on_answered, on_useless};
    struct hl_sentinel_node *sentinel_node = hl_memory_new(&sentinel->route.host->memory, sizeof *sentinel_node);
    struct hl_node_options own = *options;
    char text[HL_ADDRESS_TEXT_MAX];
    hl_address_write(text, address);
    own.session.endpoint.address = *address;
    snprintf(own.session.endpoint.name, sizeof own.session.endpoint.name, "sentinel %.256s", text);
    if (sentinel_node &&
        hl_sentinel_node_init(sentinel_node, sentinel->route.host, &own, sentinel->master, &events, sentinel) == 0) {
        sentinel->sentinel_nodes[sentinel->count++] = sentinel_node;
        return 0;
    }
    hl_memory_free(&sentinel->route.host->memory, sentinel_node);
    return -1;
}

static int make_master(struct sentinel *sentinel, const char *master, const struct hl_node_options *node)
{
    static const struct hl_node_events events = {on_up, on_down, on_error, on_silence};
    struct hl_node_options own = *node;
    sentinel->master = hl_memory_copy(&sentinel->route.host->memory, master, strlen(master));
    sentinel->timer = hl_timer_new(sentinel->route.host, on_timer, sentinel);
    if (!sentinel->master || !sentinel->timer)
        return -1;
    own.session.endpoint = (struct hl_endpoint){.name = ""};
    snprintf(own.session.endpoint.name, sizeof own.session.endpoint.name, "master %.100s", master);
    own.asks_role = 1;
    return hl_node_init(&sentinel->node, sentinel->route.host, &own, &events, sentinel);
}

struct hl_route *hl_sentinel_new(struct hl_host *host, const struct hl_sentinel_options *options,
                                 const struct hl_node_options *node, const struct hl_route_events *events, void *arg)
{
    static const struct hl_route_ops ops = {node_of, node_at, is_up, start, free_route, 0, 1};
    struct hl_node_options sentinels = *node;
    struct sentinel *sentinel = hl_memory_new(&host->memory, sizeof *sentinel);
    if (!sentinel)
        return NULL;
    sentinel->route = (struct hl_route){&ops, host, events, arg, 0, 0};
    sentinel->keepalive_us = (uint64_t)node->keepalive_ms * 1000;
    sentinels.is_sentinel = 1;
    sentinels.session.login = options->login;
    if (make_master(sentinel, options->master, node) != 0) {
        free_memory(sentinel);
        return NULL;
    }
    for (unsigned i = 0; i < options->count; i++)
        if (add_sentinel_node(sentinel, &options->places[i], &sentinels) != 0) {
            free_route(&sentinel->route);
            return NULL;
        }
    return &sentinel->route;
}
