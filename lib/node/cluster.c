/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster - the deployment of a Redis Cluster: a key is at the server that has its hash slot.
 *
 * The table of slots is asked for (CLUSTER SLOTS) at the start, after MOVED, and while a server that has slots is away; one question at a time,
 * not more often than a pause that grows while nothing changes. What MOVED says of one slot counts at once. A request that comes to the
 * wrong place is sent on: MOVED and ASK to where they say, TRYAGAIN and CLUSTERDOWN again after a moment, all of it within bounds.
 * A server's own word gives it no slot that another has, but where that one has been away for a while and nobody else may be left to tell:
 * a server that was stopped and goes on knows old things. Of a server that lost all its slots nothing is read any more.
 * Invariant: what waits for a slot that nobody serves, or that nobody told of yet, waits at the node `nobody`, which has no links. */
#include "base/contract.h"
#include "base/plant.h"
#include "node/members.h"
#include "node/route.h"
#include "node/slots.h"

enum { HOPS_MAX = 5, REDIRECTS_MAX = 250, AGAIN_MAX = 100, PARK_MIN_US = 5000, PARK_MAX_US = 50000, PAUSE_MIN_US = 100000, PAUSE_MAX_US = 500000, UNUSED_US = 60000000, OWN_WORD_US = 10000000 };

struct cluster {
    struct hl_route route;
    struct hl_host *host;
    const struct hl_route_events *events;
    void *arg;
    struct hl_members members;
    struct hl_node nobody;
    unsigned seed;                  /* which was tried last */
    struct hl_request question;     /* CLUSTER SLOTS */
    struct hl_member *asked;
    void *refresh_timer, *park_timer, *rest_timer;
    uint64_t pause_us, rest_us;
    struct hl_flush given;          /* slots have gone from one server to others in this turn */
    unsigned vain;                  /* answers in a row by which what waits found no server, cut when it was reported */
    int has_table, has_mode, is_refreshing, is_parking;
    uint16_t owners[HL_SLOTS], told[HL_SLOTS]; /* 1 + index of the member, 0: nobody */
};

static void refresh(struct cluster *cluster);
static void refresh_later(struct cluster *cluster);

/* ---- who has a slot ---- */

static struct hl_member *owner_of(struct cluster *cluster, unsigned slot)
{
    return cluster->owners[slot] ? cluster->members.list[cluster->owners[slot] - 1] : NULL;
}

/* A slot that the table does not have is asked for again: whoever asks for it is going to wait. */
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
        from->slots--;
        from->is_losing = 1;
        to->node.moved_us = to->node.used_us = hl_now_us(cluster->host); /* of use: what is begun there now has not been submitted yet */
    }
    to->slots++;
    cluster->owners[slot] = (uint16_t)(to->index + 1);
}

/* To the node where it belongs by now; in order. */
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

static void place_all(struct cluster *cluster, struct hl_node *from, struct hl_request *(*take)(struct hl_node *node))
{
    struct hl_requests taken = TAILQ_HEAD_INITIALIZER(taken);
    struct hl_request *request;
    while ((request = take(from)) != NULL)
        TAILQ_INSERT_TAIL(&taken, request, entry);
    while ((request = TAILQ_FIRST(&taken)) != NULL) {
        TAILQ_REMOVE(&taken, request, entry);
        place(cluster, request);
    }
}

/* Slots have gone from one server to others: looked after once a turn, however many of them say MOVED. From one that has none left now they went by a failover, which may have forgotten what it
 * acknowledged last; and nothing of it is read any more. */
static void on_given(struct hl_flush *flush)
{
    struct cluster *cluster = (struct cluster *)(void *)((char *)flush - offsetof(struct cluster, given));
    uint64_t since_us = UINT64_MAX, now_us = hl_now_us(cluster->host);
    int is_failover = 0, is_moved = 0;
    for (unsigned i = 0; i < cluster->members.count; i++) {
        struct hl_member *member = cluster->members.list[i];
        if (!member->is_losing)
            continue;
        member->is_losing = 0;
        is_moved = 1;
        place_all(cluster, &member->node, hl_node_take);
        if (member->slots)
            continue;
        is_failover = 1;
        since_us = member->lost_us && member->lost_us < since_us ? member->lost_us : since_us < now_us ? since_us : now_us;
        hl_node_break(&member->node, "another server has its slots now");
    }
    place_all(cluster, &cluster->nobody, hl_node_take);
    if (is_failover)
        hl_trace(cluster->host, HL_FAILOVER, &(struct hl_fact){.node = "cluster", .detail = "other servers have the slots of one that has none left"});
    if (is_moved && !HL_PLANTED(MOVES_UNNOTICED))
        cluster->events->on_moved(cluster->arg, since_us);
    hl_members_rest(&cluster->members, UNUSED_US);
}

/* ---- asking ---- */

static void refresh_later(struct cluster *cluster)
{
    if (cluster->is_refreshing)
        return;
    cluster->is_refreshing = 1;
    hl_timer_start(cluster->host, cluster->refresh_timer, cluster->pause_us / 2 + hl_random_below(&cluster->host->random, cluster->pause_us / 2));
    cluster->pause_us = cluster->pause_us * 2 < PAUSE_MAX_US ? cluster->pause_us * 2 : PAUSE_MAX_US;
}

/* Nobody is up: the seeds are tried, one after the other. */
static void try_seed(struct cluster *cluster)
{
    for (unsigned i = 0; i < cluster->members.seeds; i++) {
        cluster->seed = (cluster->seed + 1) % cluster->members.seeds;
        if (cluster->members.list[cluster->seed]->node.is_started)
            continue;
        hl_node_start(&cluster->members.list[cluster->seed]->node);
        return;
    }
}

/* Somebody who has slots too, and whose word may settle it: linked, it is among those who are asked. */
static void ask_another(struct cluster *cluster)
{
    for (unsigned i = 0; i < cluster->members.count; i++) {
        struct hl_member *member = cluster->members.list[i];
        if (!member->slots || member->node.is_started)
            continue;
        hl_node_start(&member->node);
        return;
    }
}

/* Once each that the url names could have answered: one of them may be none of the cluster. */
static int is_reported(const struct cluster *cluster) { return cluster->vain == cluster->members.seeds; }

static int is_unsettled(const struct cluster *cluster)
{
    if (!cluster->has_table || !hl_node_is_idle(&cluster->nobody))
        return 1;
    for (unsigned i = 0; i < cluster->members.count; i++) {
        const struct hl_member *member = cluster->members.list[i];
        if (member->slots && member->node.is_started && (!member->node.is_up || member->node.is_silent))
            return 1;
    }
    return 0;
}

static void refresh(struct cluster *cluster)
{
    if (hl_request_is_busy(&cluster->question))
        return;
    cluster->asked = hl_members_up(&cluster->members, cluster->asked); /* not the same one again, whose word may be in doubt */
    if (cluster->asked)
        hl_node_submit(&cluster->asked->node, &cluster->question, cluster->members.options.command_timeout_ms, HL_REQUEST_URGENT);
    else {
        try_seed(cluster);
        ask_another(cluster);
        refresh_later(cluster);
    }
}

static void encode_question(struct hl_request *request, struct hl_command *command)
{
    (void)request;
    hl_command_begin(command, "CLUSTER");
    hl_command_add_word(command, "SLOTS");
}

static void on_range(void *arg, unsigned from, unsigned to, const struct hl_address *master)
{
    struct cluster *cluster = arg;
    struct hl_member *member = hl_members_find(&cluster->members, master, cluster->asked);
    if (!member)
        return;
    member->is_named = 1;
    for (unsigned slot = from; slot <= to; slot++)
        cluster->told[slot] = (uint16_t)(member->index + 1);
}

static int is_believed(struct cluster *cluster, unsigned slot)
{
    const struct hl_member *owner = owner_of(cluster, slot);
    int is_own_word = cluster->told[slot] == cluster->asked->index + 1;
    return !owner || !is_own_word || HL_PLANTED(STALE_OWNER_BELIEVED) ||
           (owner->lost_us && hl_now_us(cluster->host) - owner->lost_us > OWN_WORD_US);
}

static void adopt(struct cluster *cluster)
{
    unsigned changes = 0, doubts = 0;
    for (unsigned slot = 0; slot < HL_SLOTS; slot++) {
        if (!cluster->told[slot] || cluster->told[slot] == cluster->owners[slot])
            continue;
        if (!is_believed(cluster, slot)) {
            doubts++;
            continue;
        }
        give(cluster, slot, cluster->members.list[cluster->told[slot] - 1]);
        changes++;
    }
    cluster->has_table = 1;
    if (doubts) {
        ask_another(cluster);
        refresh_later(cluster);
    }
    if (!changes)
        return;
    cluster->pause_us = PAUSE_MIN_US;
    hl_host_flush_later(cluster->host, &cluster->given);
    if (is_reported(cluster))
        hl_trace(cluster->host, HL_ROUTE_SETTLED, &(struct hl_fact){.node = hl_node_name(&cluster->nobody)});
    cluster->vain = 0;
}

/* Whatever waits has no server by this answer either: somebody else may know more. */
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
        hl_trace(cluster->host, HL_ROUTE_UNSETTLED,
                 &(struct hl_fact){.node = hl_node_name(&cluster->nobody), .detail = why, .retry_us = cluster->pause_us});
}

static void look_for_vain(struct cluster *cluster, const struct hl_reply *reply)
{
    const char *teller = hl_node_name(&cluster->asked->node);
    unsigned unserved = 0, first = HL_SLOTS;
    struct hl_text why;
    for (unsigned slot = HL_SLOTS; slot-- > 0;)
        if (!cluster->owners[slot])
            unserved++, first = slot;
    if (!cluster->has_table)
        hl_text_set(&why, "%s tells no slots: %s", teller,
                    reply->type != HL_REPLY_ERROR ? "is it part of a cluster?"
                                                  : hl_host_quote(cluster->host, reply->bytes, reply->length).bytes);
    else if (unserved && !hl_node_is_idle(&cluster->nobody))
        hl_text_set(&why, "%s knows no server for what waits: %u hash slots have none, the first is %u", teller, unserved,
                    first);
    else
        return;
    on_vain(cluster, why.bytes);
}

static void on_question_done(struct hl_request *request, const struct hl_answer *answer)
{
    struct cluster *cluster = (struct cluster *)(void *)((char *)request - offsetof(struct cluster, question));
    memset(cluster->told, 0, sizeof cluster->told);
    for (unsigned i = 0; i < cluster->members.count; i++)
        cluster->members.list[i]->is_named = 0;
    if (answer->reply && hl_slots_read(answer->reply, on_range, cluster))
        adopt(cluster);
    if (answer->reply)
        look_for_vain(cluster, answer->reply);
    if (is_unsettled(cluster))
        refresh_later(cluster);
}

static void on_refresh_timer(void *arg)
{
    struct cluster *cluster = arg;
    hl_host_enter(cluster->host);
    cluster->is_refreshing = 0;
    refresh(cluster);
    hl_host_leave(cluster->host);
}

static void on_rest_timer(void *arg)
{
    struct cluster *cluster = arg;
    hl_host_enter(cluster->host);
    hl_members_rest(&cluster->members, UNUSED_US);
    hl_timer_start(cluster->host, cluster->rest_timer, cluster->rest_us);
    hl_host_leave(cluster->host);
}

/* ---- what comes to the wrong place ---- */

static int park(struct cluster *cluster, struct hl_node *node, struct hl_request *request)
{
    request->hops = 0;
    request->detours++;
    hl_node_park(node, request);
    if (!cluster->is_parking)
        hl_timer_start(cluster->host, cluster->park_timer, PARK_MIN_US + hl_random_below(&cluster->host->random, PARK_MAX_US - PARK_MIN_US));
    cluster->is_parking = 1;
    return 1;
}

static void on_park_timer(void *arg)
{
    struct cluster *cluster = arg;
    hl_host_enter(cluster->host);
    cluster->is_parking = 0;
    place_all(cluster, &cluster->nobody, hl_node_take_parked);
    for (unsigned i = 0; i < cluster->members.count; i++)
        place_all(cluster, &cluster->members.list[i]->node, hl_node_take_parked);
    hl_host_leave(cluster->host);
}

static int send_to(struct hl_member *to, struct hl_request *request, unsigned how)
{
    request->hops = (request->hops + 1u) & 7u;
    hl_trace(to->node.host, HL_REDIRECTED, &(struct hl_fact){.node = hl_node_name(&to->node)});
    hl_node_submit(&to->node, request, request->timeout_ms, (request->how & ~(unsigned)HL_REQUEST_ASKING) | how);
    return 1;
}

static int on_moved(struct cluster *cluster, struct hl_member *at, struct hl_request *request, unsigned slot, const struct hl_address *address)
{
    struct hl_member *to = hl_members_find(&cluster->members, address, at);
    refresh_later(cluster);
    if (!to || to == at || request->hops == HOPS_MAX)
        return park(cluster, &cluster->nobody, request);
    send_to(to, request, 0);
    if (owner_of(cluster, slot) != to) {
        give(cluster, slot, to);
        hl_host_flush_later(cluster->host, &cluster->given);
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
        return to && to != at && request->hops < HOPS_MAX ? send_to(to, request, HL_PLANTED(ASK_WITHOUT_ASKING) ? 0 : HL_REQUEST_ASKING)
                                                              : park(cluster, node, request);
    }
    if (request->detours >= AGAIN_MAX)
        return 0;
    if (hl_reply_has_code(error, "TRYAGAIN")) /* a release may have another way of saying it */
        return request->how & HL_REQUEST_URGENT ? 0 : park(cluster, node, request);
    if (!hl_reply_has_code(error, "CLUSTERDOWN") && !hl_reply_has_code(error, "READONLY"))
        return 0;
    refresh_later(cluster);
    return park(cluster, node, request);
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
    cluster->events->on_up(cluster->arg, node);
}

static void on_down(void *arg, struct hl_node *node)
{
    struct cluster *cluster = arg;
    struct hl_member *member = hl_member_of(node);
    if (!member->lost_us)
        member->lost_us = hl_now_us(cluster->host);
    if (!cluster->has_table)
        hl_text_set(&cluster->nobody.session.why, "%s: %s", hl_node_name(node), hl_node_why(node));
    cluster->events->on_down(cluster->arg, node);
    refresh_later(cluster);
}

/* Another may have its slots by now, and it would go on with what was asked when it wakes. */
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
        if (cluster->members.list[j]->node.is_started && i-- == 0)
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
    cluster->seed = (unsigned)hl_random_below(&cluster->host->random, cluster->members.seeds);
    try_seed(cluster);
    hl_timer_start(cluster->host, cluster->rest_timer, cluster->rest_us);
}

static void free_memory(struct cluster *cluster)
{
    hl_host_flush_never(cluster->host, &cluster->given);
    hl_members_done(&cluster->members);
    hl_timer_free(cluster->host, cluster->refresh_timer);
    hl_timer_free(cluster->host, cluster->park_timer);
    hl_timer_free(cluster->host, cluster->rest_timer);
    hl_memory_free(&cluster->host->memory, cluster);
}

static void free_route(struct hl_route *route)
{
    hl_node_done(&((struct cluster *)route)->nobody);
    free_memory((struct cluster *)route);
}

static int make(struct cluster *cluster, const struct hl_place *places, unsigned count, const struct hl_node_options *options)
{
    static const struct hl_node_events events = {on_up, on_down, on_error, on_silence};
    struct hl_node_options nobody = *options;
    struct hl_address address;
    hl_members_init(&cluster->members, cluster->host, options, &events, on_misplaced, cluster);
    cluster->refresh_timer = hl_timer_new(cluster->host, on_refresh_timer, cluster);
    cluster->park_timer = hl_timer_new(cluster->host, on_park_timer, cluster);
    cluster->rest_timer = hl_timer_new(cluster->host, on_rest_timer, cluster);
    if (!cluster->refresh_timer || !cluster->park_timer || !cluster->rest_timer)
        return -1;
    for (unsigned i = 0; i < count; i++) {
        HL_REQUIRE(strlen(places[i].host) <= HL_ADDRESS_HOST_MAX); /* base/url.c refuses a longer one, with a zone, too */
        address = (struct hl_address){.port = places[i].port};
        memcpy(address.host, places[i].host, strlen(places[i].host));
        if (!hl_members_find(&cluster->members, &address, NULL))
            return -1;
    }
    cluster->members.seeds = cluster->members.count; /* one that was named twice is one */
    nobody.session.endpoint = (struct hl_endpoint){NULL, NULL, 0, "the cluster"};
    return hl_node_init(&cluster->nobody, cluster->host, &nobody, &events, cluster);
}

struct hl_route *hl_cluster_new(struct hl_host *host, const struct hl_place *places, unsigned count, const struct hl_node_options *options,
                                const struct hl_route_events *events, void *arg)
{
    static const struct hl_route_ops ops = {node_of, node_at, is_up, start, free_route, 1, 1};
    static const struct hl_request_ops question = {NULL, encode_question, on_question_done};
    struct cluster *cluster = hl_memory_new(&host->memory, sizeof *cluster);
    if (!cluster)
        return NULL;
    cluster->route.ops = &ops;
    cluster->host = host;
    cluster->events = events;
    cluster->arg = arg;
    cluster->question.ops = &question;
    cluster->given.flush = on_given;
    cluster->pause_us = PAUSE_MIN_US;
    cluster->rest_us = (uint64_t)options->keepalive_ms * 1000;
    if (make(cluster, places, count, options) == 0)
        return &cluster->route;
    free_memory(cluster);
    return NULL;
}
