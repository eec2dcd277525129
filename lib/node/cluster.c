/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster - the deployment of a Redis Cluster: a key is at the server that has its hash slot.
 *
 * It asks for the table of slots (topology.h) at the start, after MOVED, and while a server with slots is away: one
 * question at a time, with a pause that grows while nothing changes. MOVED is believed at once for its one slot. A
 * request that reached the wrong server is sent again, within bounds: after MOVED and ASK to the server that they name,
 * after TRYAGAIN and CLUSTERDOWN to the same one, a moment later. A server that was stopped and goes on has old
 * knowledge: topology.h decides which answers may move a slot from one server to another. Nothing more is read from a
 * server that lost all its slots.
 * Invariant: requests for a slot that no server has, as far as we know, wait at the node `nobody`, which has no links,
 * and so do those that are sent again in a moment. */
#include "base/plant.h"
#include "node/members.h"
#include "node/route.h"
#include "node/topology.h"

enum { HOPS_MAX = 5, REDIRECTS_MAX = 250, AGAIN_MAX = 100, PARK_MIN_US = 5000, PARK_MAX_US = 50000,
       PAUSE_MIN_US = 100000, PAUSE_MAX_US = 500000, UNUSED_US = 60000000 };

struct cluster {
    struct hl_route route;
    struct hl_members members;
    struct hl_node nobody;
    unsigned seed;                  /* the one tried last */
    struct hl_topology topology;
    void *refresh_timer, *park_timer, *rest_timer;
    uint64_t pause_us, rest_us;
    struct hl_flush given;          /* in this turn slots have moved */
    unsigned vain;                  /* answers in a row that named no server for waiting requests; stops at the count
                                       that was reported */
    int has_table, has_mode, is_refreshing, is_parking;
    uint16_t owners[HL_SLOTS];      /* 1 + index of the member, 0: none */
};

static void refresh(struct cluster *cluster);
static void refresh_later(struct cluster *cluster);

/* ---- owners of slots ---- */

static struct hl_member *owner_of(struct cluster *cluster, unsigned slot)
{
    return cluster->owners[slot] ? cluster->members.list[cluster->owners[slot] - 1] : NULL;
}

/* If the table lacks the slot, ask for the table again: the request has to wait for that. */
static struct hl_node *node_of(struct hl_route *route, const struct hl_about *about)
{
    struct cluster *cluster = (struct cluster *)route;
    struct hl_member *owner = owner_of(cluster, hl_slot_of(about->key, about->length));
    if (!owner && cluster->has_table)
        refresh_later(cluster);
    return owner ? &owner->node : &cluster->nobody;
}

static void give(struct cluster *cluster, unsigned slot, struct hl_member *to)
{
    struct hl_member *from = owner_of(cluster, slot);
    if (from) {
        hl_topology_succeed(&cluster->topology, from, to);
        from->slots--;
        from->is_losing = 1;
        /* in use: a request that goes there now has not been submitted yet */
        to->node.moved_us = to->node.used_us = hl_now_us(cluster->route.host);
    }
    to->slots++;
    to->seen_epoch = 0;
    cluster->owners[slot] = (uint16_t)(to->index + 1);
}

/* Submits the request again, to the node that serves it now. place_all keeps the order. */
static void place(struct cluster *cluster, struct hl_request *request)
{
    struct hl_about about;
    struct hl_node *node = request->node;
    request->how = (uint8_t)(request->how & ~(unsigned)HL_REQUEST_ASKING);
    if (request->ops->about) {
        request->ops->about(request, &about);
        node = node_of(&cluster->route, &about);
    }
    hl_node_submit(node, request, request->timeout_ms, request->how);
}

static void place_all(struct cluster *cluster, struct hl_node *at)
{
    struct hl_requests taken = TAILQ_HEAD_INITIALIZER(taken);
    struct hl_request *request;
    while ((request = hl_node_take(at)) != NULL)
        TAILQ_INSERT_TAIL(&taken, request, entry);
    while ((request = TAILQ_FIRST(&taken)) != NULL) {
        TAILQ_REMOVE(&taken, request, entry);
        place(cluster, request);
    }
}

/* Slots have gone from one server to others: handled once a turn, however many servers say MOVED. A server that has
 * none left lost them in a failover, which may have forgotten the last writes it acknowledged; nothing more is read
 * from it. One that has them back has the keys of the server between. */
static void on_given(struct hl_flush *flush)
{
    struct cluster *cluster = (struct cluster *)(void *)((char *)flush - offsetof(struct cluster, given));
    int is_failover = 0, is_moved = 0;
    for (unsigned i = 0; i < cluster->members.count; i++) {
        struct hl_member *member = cluster->members.list[i];
        is_failover |= member->is_back;
        is_moved |= member->is_back;
        member->is_back = 0;
        if (!member->is_losing)
            continue;
        member->is_losing = 0;
        is_moved = 1;
        place_all(cluster, &member->node);
        if (member->slots)
            continue;
        is_failover = 1;
        hl_node_break(&member->node, "another server has its slots now");
    }
    place_all(cluster, &cluster->nobody);
    if (is_failover)
        hl_trace(cluster->route.host, HL_FAILOVER,
                 &(struct hl_fact){.node = "cluster",
                                   .detail = "a server has lost all of its slots to others, or has them back"});
    if (is_moved && !HL_PLANTED(MOVES_UNNOTICED))
        cluster->route.events->on_moved(cluster->route.arg, is_failover);
    hl_members_rest(&cluster->members, UNUSED_US);
}

/* ---- asking ---- */

static void refresh_later(struct cluster *cluster)
{
    if (cluster->is_refreshing)
        return;
    cluster->is_refreshing = 1;
    hl_timer_start(cluster->route.host, cluster->refresh_timer,
                   cluster->pause_us / 2 + hl_random_below(&cluster->route.host->random, cluster->pause_us / 2));
    cluster->pause_us = cluster->pause_us * 2 < PAUSE_MAX_US ? cluster->pause_us * 2 : PAUSE_MAX_US;
}

/* No server is up: try the seeds one after the other. */
static void try_seed(struct cluster *cluster)
{
    for (unsigned i = 0; i < cluster->members.seeds; i++) {
        cluster->seed = (cluster->seed + 1) % cluster->members.seeds;
        if (hl_node_is_started(&cluster->members.list[cluster->seed]->node))
            continue;
        hl_node_start(&cluster->members.list[cluster->seed]->node);
        return;
    }
}

/* Links another server with slots, so that it is asked too: its answer may decide. */
static void ask_another(struct cluster *cluster)
{
    for (unsigned i = 0; i < cluster->members.count; i++) {
        struct hl_member *member = cluster->members.list[i];
        if (!member->slots || hl_node_is_started(&member->node))
            continue;
        hl_node_start(&member->node);
        return;
    }
}

/* Reported after as many answers as the url has names: one of them may belong to another cluster. */
static int is_reported(const struct cluster *cluster) { return cluster->vain == cluster->members.seeds; }

static int is_unsettled(const struct cluster *cluster)
{
    if (!cluster->has_table || !hl_node_is_idle(&cluster->nobody))
        return 1;
    for (unsigned i = 0; i < cluster->members.count; i++) {
        const struct hl_member *member = cluster->members.list[i];
        if (member->slots && hl_node_is_started(&member->node) && (!member->node.is_up || member->node.is_silent))
            return 1;
    }
    return 0;
}

static void refresh(struct cluster *cluster)
{
    struct hl_member *asked;
    if (hl_topology_is_asked(&cluster->topology))
        return;
    asked = hl_members_up(&cluster->members, cluster->topology.asked); /* not the same one again: its answer may be
                                                                          outdated */
    if (asked) {
        hl_topology_ask(&cluster->topology, asked);
        return;
    }
    try_seed(cluster);
    ask_another(cluster);
    refresh_later(cluster);
}

static void adopt(struct cluster *cluster)
{
    unsigned changes = 0, doubts = 0;
    for (unsigned slot = 0; slot < HL_SLOTS; slot++) {
        unsigned told = cluster->topology.slots[slot];
        struct hl_member *to = told ? cluster->members.list[told - 1] : NULL;
        if (!to || told == cluster->owners[slot])
            continue;
        if (!hl_topology_believes(&cluster->topology, owner_of(cluster, slot), to)) {
            doubts++;
            continue;
        }
        give(cluster, slot, to);
        changes++;
    }
    changes += hl_topology_keep_epochs(&cluster->topology);
    cluster->has_table = 1;
    if (doubts) {
        ask_another(cluster);
        refresh_later(cluster);
    }
    if (!changes)
        return;
    cluster->pause_us = PAUSE_MIN_US;
    hl_host_flush_later(cluster->route.host, &cluster->given);
    if (is_reported(cluster))
        hl_node_report(&cluster->nobody, HL_ROUTE_SETTLED, NULL);
    cluster->vain = 0;
}

/* This answer, too, names no server for the waiting requests; another server may know more. */
static void on_vain(struct cluster *cluster, const char *why)
{
    hl_text_set(&cluster->nobody.session.why, "%s", why);
    if (!cluster->has_table)
        try_seed(cluster);
    else
        ask_another(cluster);
    if (is_reported(cluster))
        return;
    cluster->vain++;
    if (is_reported(cluster))
        hl_trace(cluster->route.host, HL_ROUTE_UNSETTLED,
                 &(struct hl_fact){.node = hl_node_name(&cluster->nobody), .detail = why,
                                   .retry_us = cluster->pause_us});
}

static void look_for_vain(struct cluster *cluster, const struct hl_reply *reply)
{
    const char *teller = hl_node_name(&cluster->topology.asked->node);
    unsigned unserved = 0, first = HL_SLOTS;
    struct hl_quoted quote = hl_host_quote(cluster->route.host, reply->bytes, reply->length);
    struct hl_text why;
    for (unsigned slot = HL_SLOTS; slot-- > 0;)
        if (!cluster->owners[slot])
            unserved++, first = slot;
    if (!cluster->has_table)
        hl_text_set(&why, "%s tells no slots: %s", teller,
                    reply->type == HL_REPLY_ERROR ? quote.bytes : "is it part of a cluster?");
    else if (unserved && !hl_node_is_idle(&cluster->nobody))
        hl_text_set(&why, "%s names no server for %u hash slots, the first is %u: locks there have to wait", teller,
                    unserved, first);
    else
        return;
    on_vain(cluster, why.bytes);
}

static void on_answered(void *arg, const struct hl_reply *reply, int has_slots)
{
    struct cluster *cluster = arg;
    if (has_slots)
        adopt(cluster);
    if (reply)
        look_for_vain(cluster, reply);
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
    hl_members_rest(&cluster->members, UNUSED_US);
    hl_timer_start(cluster->route.host, cluster->rest_timer, cluster->rest_us);
    hl_host_leave(cluster->route.host);
}

/* ---- requests that reach the wrong server ---- */

/* It is sent again in a moment. */
static int park(struct cluster *cluster, struct hl_request *request)
{
    request->hops = 0;
    request->detours++;
    hl_node_submit(&cluster->nobody, request, request->timeout_ms, request->how);
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
    place_all(cluster, &cluster->nobody);
    hl_host_leave(cluster->route.host);
}

static int send_to(struct hl_member *to, struct hl_request *request, unsigned how)
{
    request->hops = (request->hops + 1u) & 7u;
    hl_node_report(&to->node, HL_REDIRECTED, NULL);
    hl_node_submit(&to->node, request, request->timeout_ms, (request->how & ~(unsigned)HL_REQUEST_ASKING) | how);
    return 1;
}

static int on_moved(struct cluster *cluster, struct hl_member *at, struct hl_request *request, unsigned slot,
                    const struct hl_address *address)
{
    struct hl_member *to = hl_members_find(&cluster->members, address, at);
    refresh_later(cluster);
    if (!to || to == at || request->hops == HOPS_MAX)
        return park(cluster, request);
    send_to(to, request, 0);
    if (owner_of(cluster, slot) != to) {
        give(cluster, slot, to);
        hl_host_flush_later(cluster->route.host, &cluster->given);
    }
    return 1;
}

static int on_error(void *arg, struct hl_node *node, struct hl_request *request, const struct hl_reply *error)
{
    struct cluster *cluster = arg;
    struct hl_member *at = hl_member_of(node), *to;
    struct hl_address address;
    unsigned slot;
    if (request->detours >= REDIRECTS_MAX)
        return 0;
    if (hl_slots_redirect(error, "MOVED", &slot, &address))
        return on_moved(cluster, at, request, slot, &address);
    if (hl_slots_redirect(error, "ASK", &slot, &address)) {
        to = hl_members_find(&cluster->members, &address, at);
        return to && to != at && request->hops < HOPS_MAX
               ? send_to(to, request, HL_PLANTED(ASK_WITHOUT_ASKING) ? 0 : HL_REQUEST_ASKING)
               : park(cluster, request);
    }
    if (request->detours >= AGAIN_MAX)
        return 0;
    if (hl_reply_has_code(error, "TRYAGAIN")) /* a release may have another form */
        return request->how & HL_REQUEST_URGENT ? 0 : park(cluster, request);
    if (!hl_reply_has_code(error, "CLUSTERDOWN") && !hl_reply_has_code(error, "READONLY"))
        return 0;
    refresh_later(cluster);
    return park(cluster, request);
}

/* ---- the servers ---- */

static void on_up(void *arg, struct hl_node *node)
{
    struct cluster *cluster = arg;
    hl_member_of(node)->lost_us = 0;
    if (!cluster->has_mode)
        hl_members_shard(&cluster->members, node->has_sharded);
    cluster->has_mode = 1;
    if (!cluster->has_table)
        refresh(cluster);
    cluster->route.events->on_up(cluster->route.arg, node);
}

static void on_down(void *arg, struct hl_node *node)
{
    struct cluster *cluster = arg;
    struct hl_member *member = hl_member_of(node);
    if (!member->lost_us)
        member->lost_us = hl_now_us(cluster->route.host);
    hl_topology_lose(&cluster->topology, member);
    if (!cluster->has_table)
        hl_text_set(&cluster->nobody.session.why, "%s: %s", hl_node_name(node), hl_node_why(node));
    cluster->route.events->on_down(cluster->route.arg, node);
    refresh_later(cluster);
}

/* Another server may have its slots by now, and a stopped one would run old requests when it wakes. */
static void on_silence(void *arg, struct hl_node *node)
{
    (void)node;
    refresh_later(arg);
}

static void on_misplaced(void *arg) { refresh_later(arg); }

/* ---- the route ---- */

static struct hl_node *node_at(struct hl_route *route, unsigned i)
{
    struct cluster *cluster = (struct cluster *)route;
    for (unsigned j = 0; j < cluster->members.count; j++)
        if (hl_node_is_started(&cluster->members.list[j]->node) && i-- == 0)
            return &cluster->members.list[j]->node;
    return NULL;
}

static int is_up(struct hl_route *route)
{
    struct cluster *cluster = (struct cluster *)route;
    return cluster->has_table && hl_members_up(&cluster->members, NULL) != NULL;
}

static void start(struct hl_route *route)
{
    struct cluster *cluster = (struct cluster *)route;
    cluster->seed = (unsigned)hl_random_below(&cluster->route.host->random, cluster->members.seeds);
    try_seed(cluster);
    hl_timer_start(cluster->route.host, cluster->rest_timer, cluster->rest_us);
}

static void free_memory(struct cluster *cluster)
{
    hl_host_flush_never(cluster->route.host, &cluster->given);
    hl_members_done(&cluster->members);
    hl_timer_free(cluster->route.host, cluster->refresh_timer);
    hl_timer_free(cluster->route.host, cluster->park_timer);
    hl_timer_free(cluster->route.host, cluster->rest_timer);
    hl_memory_free(&cluster->route.host->memory, cluster);
}

static void free_route(struct hl_route *route)
{
    hl_node_done(&((struct cluster *)route)->nobody);
    free_memory((struct cluster *)route);
}

static int make(struct cluster *cluster, const struct hl_places *places, const struct hl_node_options *options)
{
    static const struct hl_node_events events = {on_up, on_down, on_error, on_silence};
    struct hl_node_options nobody = *options;
    hl_members_init(&cluster->members, cluster->route.host, options, &events, on_misplaced, cluster);
    hl_topology_init(&cluster->topology, &cluster->members, on_answered, cluster);
    cluster->refresh_timer = hl_timer_new(cluster->route.host, on_refresh_timer, cluster);
    cluster->park_timer = hl_timer_new(cluster->route.host, on_park_timer, cluster);
    cluster->rest_timer = hl_timer_new(cluster->route.host, on_rest_timer, cluster);
    if (!cluster->refresh_timer || !cluster->park_timer || !cluster->rest_timer)
        return -1;
    for (unsigned i = 0; i < places->count; i++)
        if (!hl_members_find(&cluster->members, &places->list[i], NULL))
            return -1;
    cluster->members.seeds = cluster->members.count; /* without those that are named twice */
    nobody.session.endpoint = (struct hl_endpoint){.name = "the cluster"};
    return hl_node_init(&cluster->nobody, cluster->route.host, &nobody, &events, cluster);
}

struct hl_route *hl_cluster_new(struct hl_host *host, const struct hl_places *places,
                                const struct hl_node_options *options, const struct hl_route_events *events, void *arg)
{
    static const struct hl_route_ops ops = {node_of, node_at, is_up, start, free_route, 1, 1};
    struct cluster *cluster = hl_memory_new(&host->memory, sizeof *cluster);
    if (!cluster)
        return NULL;
    cluster->route = (struct hl_route){&ops, host, events, arg, 0, 0};
    cluster->given.flush = on_given;
    cluster->pause_us = PAUSE_MIN_US;
    cluster->rest_us = (uint64_t)options->keepalive_ms * 1000;
    if (make(cluster, places, options) == 0)
        return &cluster->route;
    free_memory(cluster);
    return NULL;
}
