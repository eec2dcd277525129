/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster - the deployment of a Redis Cluster: each key is at the server that has its hash slot.
 *
 * The route asks one server for the owners of all slots: at the start, after MOVED, and while a server with slots is
 * away. The pause between these queries grows while nothing changes. A query has two halves over one link: first
 * the config-epochs (CLUSTER NODES), then the slots (CLUSTER SLOTS). In this order the slots may be newer than the
 * epochs, but never older. If they could be older, a server that has just learnt that it was replaced would make its
 * old slots look new. servers.h decides which replies may move a slot; a MOVED moves its one slot at once.
 *
 * A request that reached the wrong server is sent again, within bounds: after MOVED and ASK to the server that they
 * name, after TRYAGAIN and CLUSTERDOWN to the same server, a moment later. If a server redirects to its own address,
 * another server is at that address now (wrong_server.h). Nothing more is read from a server that lost all its slots.
 * Invariants: there is one query at a time. Requests for a slot without a known server wait at the node
 * `unassigned`, which has no links, and so do requests that are sent again in a moment. */
#include "base/container.h"
#include "base/stranger.h"
#include "node/refusal.h"
#include "node/servers.h"
#include "node/route.h"
#include "node/words.h"

enum { HOPS_MAX = 5, AGAIN_MAX = 100, PARK_MIN_US = 5000, PARK_MAX_US = 50000,
       PAUSE_MIN_US = 100000, PAUSE_MAX_US = 500000 };

struct cluster {
    struct hl_route route;
    struct hl_servers servers;
    struct hl_node unassigned;
    unsigned seed;                  /* the seed that was tried last */
    struct hl_request query;
    void *refresh_timer, *park_timer, *rest_timer;
    uint64_t pause_us;
    struct hl_flush slots_moved;    /* waits while slots have moved in this turn */
    /* How many attempts in a row failed at a server without a cluster, while no server has given a slot table yet. */
    unsigned strangers;
    unsigned unserved_in_row;       /* how many replies in a row named no server for the waiting requests */
    int is_second_half;             /* the epochs have been read, and the slots are asked for */
    int has_table, is_refreshing, is_parking;
};

/* Starts the timer for the next query. Also called when a server is silent: another server may have its slots by
 * now, and a stopped server would execute old requests when it continues. */
static void refresh_later(void *arg)
{
    struct cluster *cluster = arg;
    if (cluster->is_refreshing)
        return;
    cluster->is_refreshing = 1;
    hl_timer_start(cluster->route.host, cluster->refresh_timer,
                   cluster->pause_us / 2 + hl_random_below(&cluster->route.host->random, cluster->pause_us / 2));
    cluster->pause_us = cluster->pause_us * 2 < PAUSE_MAX_US ? cluster->pause_us * 2 : PAUSE_MAX_US;
}

/* ---- owners of slots ---- */

/* Returns the node of the slot's owner. If no owner is known, the servers are asked for the slots again, and the
 * request waits for that at the node `unassigned`. */
static struct hl_node *node_of(struct hl_route *route, const struct hl_about *about)
{
    struct cluster *cluster = HL_CONTAINER(route, struct cluster, route);
    struct hl_server *owner = cluster->servers.owners[hl_slot_of(about->key, about->length)];
    if (!owner && cluster->has_table)
        refresh_later(cluster);
    return owner ? &owner->node : &cluster->unassigned;
}

/* Submits the waiting requests of a node again, in their order, each to the node that serves its key now. That may be
 * the same node. */
static void resubmit_all(struct cluster *cluster, struct hl_node *at)
{
    struct hl_requests taken = TAILQ_HEAD_INITIALIZER(taken);
    struct hl_request *request;
    hl_node_take(at, &taken);
    while ((request = TAILQ_FIRST(&taken)) != NULL) {
        struct hl_node *node = request->node;
        struct hl_about about;
        TAILQ_REMOVE(&taken, request, entry);
        if (request->ops->about) {
            request->ops->about(request, &about);
            node = node_of(&cluster->route, &about);
        }
        hl_node_submit(node, request, request->timeout_ms, request->how & ~(unsigned)HL_REQUEST_ASKING);
    }
}

/* Handles slots that moved, once a turn, however many MOVED came. A server that lost its last slot was replaced in a
 * failover, which may have lost writes that the server had acknowledged; nothing more is read from it. A server that
 * has its slots back has the keys of the server that had them in between. */
static void on_slots_moved(struct hl_flush *flush)
{
    struct cluster *cluster = HL_CONTAINER(flush, struct cluster, slots_moved);
    int is_failover = 0, is_moved = 0;
    for (unsigned i = 0; i < cluster->servers.count; i++) {
        struct hl_server *server = cluster->servers.list[i];
        int has_lost_all = server->is_losing && !server->slots;
        is_failover |= has_lost_all || server->is_back;
        is_moved |= server->is_losing || server->is_back;
        if (server->is_losing)
            resubmit_all(cluster, &server->node);
        if (has_lost_all)
            hl_node_break(&server->node, hl_words_slots_lost);
        server->is_losing = server->is_back = 0;
    }
    resubmit_all(cluster, &cluster->unassigned);
    if (is_failover)
        hl_trace(cluster->route.host, HL_FAILOVER,
                 &(struct hl_fact){.node = "cluster", .detail = hl_words_slots_moved});
    if (is_moved)
        cluster->route.events->on_moved(cluster->route.arg, is_failover);
    hl_servers_rest(&cluster->servers);
}

/* ---- asking ---- */

/* Starts the next seed that is not started; called while no server is up. */
static void try_seed(struct cluster *cluster)
{
    unsigned left = cluster->servers.seeds;
    do
        cluster->seed = (cluster->seed + 1) % cluster->servers.seeds;
    while (hl_node_is_started(&cluster->servers.list[cluster->seed]->node) && --left);
    hl_node_start(&cluster->servers.list[cluster->seed]->node);
}

/* Connects one more server that has slots, so that it can be asked as well: its reply may decide. */
static void ask_another(struct cluster *cluster)
{
    for (unsigned i = 0; i < cluster->servers.count; i++) {
        struct hl_server *server = cluster->servers.list[i];
        if (!server->slots || hl_node_is_started(&server->node))
            continue;
        hl_node_start(&server->node);
        return;
    }
}

static int is_unsettled(const struct cluster *cluster)
{
    if (!cluster->has_table || !hl_node_is_idle(&cluster->unassigned))
        return 1;
    for (unsigned i = 0; i < cluster->servers.count; i++) {
        const struct hl_server *server = cluster->servers.list[i];
        if (server->slots && hl_node_is_started(&server->node) && (!server->node.is_up || server->node.is_silent))
            return 1;
    }
    return 0;
}

static void encode(struct hl_request *query, struct hl_command *command)
{
    const struct cluster *cluster = query->node->arg;
    hl_command_begin(command, "CLUSTER");
    hl_command_add_word(command, cluster->is_second_half ? "SLOTS" : "NODES");
}

static void ask_half(struct cluster *cluster, int is_second_half)
{
    cluster->is_second_half = is_second_half;
    hl_node_submit(&cluster->servers.asked->node, &cluster->query, cluster->servers.options.command_timeout_ms,
                   HL_REQUEST_URGENT);
}

/* Asks the next server that is up, not the last one again, because the reply of that one may be outdated. */
static void refresh(struct cluster *cluster)
{
    if (hl_request_is_busy(&cluster->query))
        return;
    struct hl_server *asked = hl_servers_up(&cluster->servers, cluster->servers.asked);
    if (asked) {
        cluster->servers.asked = asked;
        ask_half(cluster, 0);
        return;
    }
    try_seed(cluster);
    ask_another(cluster);
    refresh_later(cluster);
}

/* After as many attempts as the url has hosts, all of which met a server without a cluster, the waiting requests are
 * answered with that. */
static void note_stranger(struct cluster *cluster, const char *name, const char *words)
{
    const struct hl_stranger *stranger = hl_stranger_named(words, strlen(words));
    hl_text_set(&cluster->unassigned.session.why, "%s: %s", name, words);
    cluster->strangers = stranger ? cluster->strangers + 1 : 0;
    if (cluster->strangers >= cluster->servers.seeds)
        hl_refusal_answer(&cluster->unassigned, words);
}

/* Checks whether the reply names a server for the waiting requests. If not, another server is tried, which may know
 * more. This is reported after as many such replies as the url has hosts, because one host may belong to another
 * cluster. */
static void report_unserved_slots(struct cluster *cluster, const struct hl_reply *reply)
{
    static const char off[] = "cluster support disabled";
    const char *source = hl_node_name(&cluster->servers.asked->node);
    unsigned unserved = 0, first = HL_SLOTS;
    struct hl_quoted quote = hl_host_quote(cluster->route.host, reply->bytes, reply->length);
    struct hl_text *why = &cluster->unassigned.session.why;
    for (unsigned slot = HL_SLOTS; slot-- > 0;)
        if (!cluster->servers.owners[slot])
            unserved++, first = slot;
    if (!cluster->has_table) {
        if (reply->type == HL_REPLY_ERROR && memmem(reply->bytes, reply->length, off, sizeof off - 1))
            note_stranger(cluster, source, hl_stranger_no_cluster.words);
        else
            hl_words_no_slot_table(why, source, reply->type == HL_REPLY_ERROR ? quote.bytes : NULL);
        try_seed(cluster);
    } else if (unserved && !hl_node_is_idle(&cluster->unassigned)) {
        hl_words_unserved(why, source, unserved, first);
        ask_another(cluster);
    } else
        return;
    cluster->unserved_in_row++;
    if (cluster->unserved_in_row == cluster->servers.seeds)
        hl_trace(cluster->route.host, HL_ROUTE_UNSETTLED,
                 &(struct hl_fact){.node = hl_node_name(&cluster->unassigned), .detail = why->bytes,
                                   .retry_us = cluster->pause_us});
}

static void on_answer(struct hl_request *query, const struct hl_answer *answer)
{
    struct cluster *cluster = query->node->arg;
    const struct hl_reply *reply = answer->reply;
    unsigned changes = 0, doubts = 0;
    if (reply && !cluster->is_second_half && hl_slots_read_epochs(&cluster->servers.epochs, reply)) {
        ask_half(cluster, 1);
        return;
    }
    if (reply && cluster->is_second_half && hl_servers_adopt(&cluster->servers, reply, &changes, &doubts))
        cluster->has_table = 1;
    if (doubts) {
        ask_another(cluster);
        refresh_later(cluster);
    }
    if (changes) {
        cluster->pause_us = PAUSE_MIN_US;
        hl_host_flush_later(cluster->route.host, &cluster->slots_moved);
        if (cluster->unserved_in_row >= cluster->servers.seeds)
            hl_node_report(&cluster->unassigned, HL_ROUTE_SETTLED, NULL);
        cluster->unserved_in_row = 0;
    }
    if (reply)
        report_unserved_slots(cluster, reply);
    if (is_unsettled(cluster))
        refresh_later(cluster);
}

static void on_refresh_timer(void *arg)
{
    struct cluster *cluster = arg;
    hl_host_enter(cluster->route.host);
    cluster->is_refreshing = 0;
    refresh(cluster);
    hl_host_leave(cluster->route.host);
}

static void on_rest_timer(void *arg)
{
    struct cluster *cluster = arg;
    hl_host_enter(cluster->route.host);
    hl_servers_rest(&cluster->servers);
    hl_timer_start(cluster->route.host, cluster->rest_timer, (uint64_t)cluster->servers.options.keepalive_ms * 1000);
    hl_host_leave(cluster->route.host);
}

/* ---- requests that reach the wrong server ---- */

/* Keeps the request for a moment, and then sends it again. Returns 1. */
static int park(struct cluster *cluster, struct hl_request *request)
{
    request->hops = 0;
    request->detours++;
    hl_node_submit(&cluster->unassigned, request, request->timeout_ms, request->how);
    if (!cluster->is_parking)
        hl_timer_start(cluster->route.host, cluster->park_timer,
                       PARK_MIN_US + hl_random_below(&cluster->route.host->random, PARK_MAX_US - PARK_MIN_US));
    cluster->is_parking = 1;
    return 1;
}

static void on_park_timer(void *arg)
{
    struct cluster *cluster = arg;
    hl_host_enter(cluster->route.host);
    cluster->is_parking = 0;
    resubmit_all(cluster, &cluster->unassigned);
    hl_host_leave(cluster->route.host);
}

/* Answers a request that servers have redirected to each other for seconds, because their views differ. The answer is a
 * passing fault ("ELSEWHERE"), so that no wait ends by it. */
static int give_up(struct cluster *cluster, struct hl_request *request, const struct hl_reply *error)
{
    struct hl_text words;
    hl_words_redirections(&words, request->detours,
                          hl_host_quote(cluster->route.host, error->bytes, error->length).bytes);
    const struct hl_reply reply = {.type = HL_REPLY_ERROR, .bytes = words.bytes, .length = strlen(words.bytes)};
    request->ops->done(request, &(struct hl_answer){&reply, 1});
    return 1;
}

/* Handles an error about the place of a key. A server may name another server for the slot (MOVED), or only for this
 * request (ASK). Returns 1 if the request was sent or kept, 0 if the error is its answer. */
static int on_error(void *arg, struct hl_node *node, struct hl_request *request, const struct hl_reply *error)
{
    struct cluster *cluster = arg;
    struct hl_server *to = NULL;
    struct hl_address address;
    unsigned slot, how = request->how & ~(unsigned)HL_REQUEST_ASKING;
    int is_moved = hl_slots_redirect(error, "MOVED", &slot, &address);
    int is_ask = !is_moved && hl_slots_redirect(error, "ASK", &slot, &address);
    int is_named = is_moved || is_ask;
    if (request->detours >= AGAIN_MAX)
        return is_named ? give_up(cluster, request, error) : 0;
    if (hl_reply_has_code(error, "TRYAGAIN")) /* a release is answered, because it can be sent in another form */
        return request->how & HL_REQUEST_URGENT ? 0 : park(cluster, request);
    if (!is_named && !hl_reply_has_code(error, "CLUSTERDOWN") && !hl_reply_has_code(error, "READONLY"))
        return 0;
    if (is_named)
        to = hl_servers_find(&cluster->servers, &address, hl_server_of(node));
    int is_to_itself = is_moved && to && &to->node == node;
    if (is_to_itself)
        hl_wrong_server_leave(node, hl_words_moved_to_itself);
    else if (!is_named)
        (void)hl_wrong_server_detour(node, request, error, AGAIN_MAX);
    if (!is_ask)
        refresh_later(cluster);
    if (!to || &to->node == node || request->hops == HOPS_MAX)
        return park(cluster, request);
    if (is_ask)
        how |= HL_REQUEST_ASKING;
    request->hops = (request->hops + 1u) & 7u;
    hl_node_report(&to->node, HL_REDIRECTED, NULL);
    hl_node_submit(&to->node, request, request->timeout_ms, how);
    if (is_moved && cluster->servers.owners[slot] != to) {
        hl_servers_give_slot(&cluster->servers, slot, to);
        hl_host_flush_later(cluster->route.host, &cluster->slots_moved);
    }
    return 1;
}

/* ---- the servers ---- */

static void on_up(void *arg, struct hl_node *node)
{
    struct cluster *cluster = arg;
    hl_server_of(node)->lost_at_us = 0;
    if (!cluster->has_table) { /* so no server has a channel yet */
        cluster->servers.is_sharded = node->has_sharded;
        for (unsigned i = 0; i < cluster->servers.count; i++)
            cluster->servers.list[i]->node.subscriptions.is_sharded = node->has_sharded;
        refresh(cluster);
    }
    cluster->route.events->on_up(cluster->route.arg, node);
}

static void on_down(void *arg, struct hl_node *node)
{
    struct cluster *cluster = arg;
    struct hl_server *server = hl_server_of(node);
    if (!server->lost_at_us)
        server->lost_at_us = hl_now_us(cluster->route.host);
    if (cluster->servers.asked == server)
        (void)hl_node_withdraw(&cluster->query); /* withdraws the half that was not sent yet */
    if (!cluster->has_table)
        note_stranger(cluster, hl_node_name(node), hl_node_why(node));
    cluster->route.events->on_down(cluster->route.arg, node);
    refresh_later(cluster);
}

static struct hl_node *node_at(struct hl_route *route, unsigned i)
{
    struct cluster *cluster = HL_CONTAINER(route, struct cluster, route);
    for (unsigned j = 0; j < cluster->servers.count; j++)
        if (hl_node_is_started(&cluster->servers.list[j]->node) && i-- == 0)
            return &cluster->servers.list[j]->node;
    return NULL;
}

static int is_up(struct hl_route *route)
{
    struct cluster *cluster = HL_CONTAINER(route, struct cluster, route);
    return cluster->has_table && hl_servers_up(&cluster->servers, NULL) != NULL;
}

static void start(struct hl_route *route)
{
    struct cluster *cluster = HL_CONTAINER(route, struct cluster, route);
    cluster->seed = (unsigned)hl_random_below(&cluster->route.host->random, cluster->servers.seeds);
    try_seed(cluster);
    hl_timer_start(cluster->route.host, cluster->rest_timer, (uint64_t)cluster->servers.options.keepalive_ms * 1000);
}

/* Also frees a route that is made in part: missing members are zero. */
static void free_route(struct hl_route *route)
{
    struct cluster *cluster = HL_CONTAINER(route, struct cluster, route);
    hl_node_done(&cluster->unassigned);
    hl_host_flush_never(route->host, &cluster->slots_moved);
    for (unsigned i = 0; i < cluster->servers.count; i++) {
        hl_node_done(&cluster->servers.list[i]->node);
        hl_memory_free(&route->host->memory, cluster->servers.list[i]);
    }
    hl_timer_free(route->host, cluster->refresh_timer);
    hl_timer_free(route->host, cluster->park_timer);
    hl_timer_free(route->host, cluster->rest_timer);
    hl_memory_free(&route->host->memory, cluster);
}

struct hl_route *hl_cluster_new(struct hl_host *host, const struct hl_endpoints *endpoints,
                                const struct hl_node_options *options, const struct hl_route_events *events, void *arg)
{
    static const struct hl_route_ops ops = {node_of, node_at, is_up, start, free_route, 1, 1};
    static const struct hl_node_events node_events = {on_up, on_down, on_error, refresh_later};
    static const struct hl_request_ops query_ops = {NULL, encode, on_answer};
    struct hl_node_options unassigned = *options;
    struct cluster *cluster = hl_memory_new(&host->memory, sizeof *cluster);
    if (!cluster)
        return NULL;
    cluster->route = (struct hl_route){&ops, host, events, arg, 0, 0};
    cluster->query.ops = &query_ops;
    cluster->slots_moved.flush = on_slots_moved;
    cluster->pause_us = PAUSE_MIN_US;
    cluster->servers.host = host;
    cluster->servers.options = *options;
    cluster->servers.options.is_lazy = cluster->servers.options.is_in_cluster = 1;
    cluster->servers.events = &node_events;
    cluster->servers.on_wrong_slot = refresh_later;
    cluster->servers.arg = cluster;
    hl_table_init(&cluster->servers.keyed, &host->memory, hl_random_next(&host->random), hl_random_next(&host->random));
    cluster->refresh_timer = hl_timer_new(host, on_refresh_timer, cluster);
    cluster->park_timer = hl_timer_new(host, on_park_timer, cluster);
    cluster->rest_timer = hl_timer_new(host, on_rest_timer, cluster);
    int is_made = cluster->refresh_timer && cluster->park_timer && cluster->rest_timer;
    for (unsigned i = 0; i < endpoints->count && is_made; i++)
        is_made = hl_servers_find(&cluster->servers, &endpoints->list[i], NULL) != NULL;
    cluster->servers.seeds = cluster->servers.count; /* a host that the url names twice counts once */
    unassigned.session.endpoint = (struct hl_endpoint){.name = "the cluster"};
    if (is_made && hl_node_init(&cluster->unassigned, host, &unassigned, &node_events, cluster) == 0)
        return &cluster->route;
    free_route(&cluster->route);
    return NULL;
}
