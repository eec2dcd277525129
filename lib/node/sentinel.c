/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinel - the deployment of one master that Sentinel names: every key is at one node, whose address changes.
 *
 * The route listens to all sentinels of the url. It asks a sentinel when that connects, and all of them from time to
 * time and when the master is lost, is silent, or turns out not to be a master. At a switch it closes every link to the
 * old master, so that nothing more is read from it. Config-epochs, which grow with every failover, decide which
 * sentinel counts: a sentinel that was away still has an older epoch. A newer epoch is a switch, even if it names the
 * address that is known already: then the client has missed the master in between. If sentinels with the same epoch
 * name different masters, their answers are compared, so that they cannot send the client back and forth.
 *
 * A query to a sentinel has two halves over one link: first the config-epoch (SENTINEL MASTER), then the address
 * (SENTINEL GET-MASTER-ADDR-BY-NAME). In this order the address may be newer than the epoch, but never older. (The
 * reply to SENTINEL MASTER has an address, too, but until the switch that is the old address with the new epoch.) A
 * half without an answer ends the query. A message is only a hint to ask its sender, because it has no epoch and may
 * come late and out of order. The sentinel that leads a failover publishes the promotion (+promoted-slave) up to
 * seconds before all sentinels publish the switch, and gives the new address from then on. Replies are hostile (R9): an
 * impossible address counts as none. Invariant: requests wait at the one node while no master is known. */
#include <stdio.h>

#include "base/container.h"
#include "base/stranger.h"
#include "node/refusal.h"
#include "node/route.h"
#include "node/words.h"

enum { SEEK_US = 500000, HEARD_US = 10000000, READONLY_MAX = 5 }; /* after HEARD_US all sentinels know of a switch */

struct sentinel {
    struct hl_node node;
    struct hl_request query;
    struct deployment *deployment;
    int is_second_half;          /* the epoch has been read, and the address is asked for */
    uint64_t epoch;              /* its config-epoch; 0: there was no failover yet */
    struct hl_address address;   /* the master's address, as given over the present link; port 0: unknown */
    uint64_t answered_at_us;     /* when the sentinel last gave the address */
    const char *stranger;        /* our text about the stranger at its address; NULL: there is no stranger */
    int is_unusable;             /* the sentinel gave no address, or could not be reached */
    int is_to_ask_again;         /* the sentinel is asked again as soon as it has answered */
};

struct deployment {
    struct hl_route route;
    struct hl_node node; /* the master */
    void *timer;         /* asks the sentinels again */
    uint64_t epoch;           /* the config-epoch that counts */
    uint64_t epoch_since_us;  /* since when that epoch counts */
    char *master;             /* the sentinels' name for the master */
    unsigned count;
    struct sentinel sentinels[];
};

static const struct hl_address *known(const struct deployment *deployment)
{
    return hl_node_address(&deployment->node);
}

/* ---- asking ---- */

static void encode(struct hl_request *request, struct hl_command *command)
{
    const struct sentinel *sentinel = request->node->arg;
    hl_command_begin(command, "SENTINEL");
    hl_command_add_word(command, sentinel->is_second_half ? "GET-MASTER-ADDR-BY-NAME" : "MASTER");
    hl_command_add_word(command, sentinel->deployment->master);
}

static void ask_half(struct sentinel *sentinel, int is_second_half)
{
    sentinel->is_second_half = is_second_half;
    hl_node_submit(&sentinel->node, &sentinel->query, sentinel->node.options.command_timeout_ms, 0);
}

/* Asks a sentinel, after its pending query if there is one. One that is away is asked when it connects. */
static void ask(struct sentinel *sentinel)
{
    sentinel->is_to_ask_again = sentinel->node.is_up && hl_request_is_busy(&sentinel->query);
    if (sentinel->node.is_up && !sentinel->is_to_ask_again)
        ask_half(sentinel, 0);
}

static void ask_all(void *arg)
{
    struct deployment *deployment = arg;
    for (unsigned i = 0; i < deployment->count; i++)
        ask(&deployment->sentinels[i]);
}

static void watch(struct deployment *deployment)
{
    uint64_t keepalive_us = (uint64_t)deployment->node.options.keepalive_ms * 1000;
    hl_timer_start(deployment->route.host, deployment->timer, deployment->node.is_up ? keepalive_us : SEEK_US);
}

static void on_timer(void *arg)
{
    struct deployment *deployment = arg;
    hl_host_enter(deployment->route.host);
    ask_all(deployment);
    watch(deployment);
    hl_host_leave(deployment->route.host);
}

/* ---- which sentinel to believe ---- */

static void follow(struct deployment *deployment, const struct hl_address *to)
{
    const char *from =
        hl_address_is_same(known(deployment), to) ? hl_words_another_server : hl_node_name(&deployment->node);
    int is_first = !known(deployment)->port;
    struct hl_text what, why;
    char name[HL_ADDRESS_TEXT_MAX];
    hl_address_write(name, to);
    hl_words_took_over(&what, name, from);
    hl_words_master_before(&why, from);
    hl_node_move(&deployment->node, to, why.bytes);
    if (is_first)
        deployment->node.moved_at_us = 0;
    else {
        hl_trace(deployment->route.host, HL_FAILOVER, &(struct hl_fact){.node = name, .detail = what.bytes});
        deployment->route.events->on_moved(deployment->route.arg, 1);
    }
    watch(deployment);
}

/* Returns 1 if the sentinels were set up from scratch: none that answers has an epoch as high as ours, and more than
 * half of them have answered with a lower one. Just after a switch the other sentinels still have a lower epoch than
 * the one that reported the switch, and that one may have become silent since. So only answers that came HEARD_US
 * after our epoch count. */
static int are_set_up_anew(const struct deployment *deployment)
{
    uint64_t since_us = deployment->epoch_since_us + HEARD_US;
    unsigned lower = 0;
    for (unsigned i = 0; i < deployment->count; i++) {
        const struct sentinel *sentinel = &deployment->sentinels[i];
        if (sentinel->address.port && sentinel->epoch >= deployment->epoch)
            return 0;
        lower += sentinel->address.port && sentinel->answered_at_us >= since_us;
    }
    return lower > deployment->count / 2;
}

/* Returns 1 if the sentinel must not be followed now, because it names another address than we know, and there was no
 * failover. Perhaps that is another address of the same server, or the sentinel was set up by hand. Such a sentinel is
 * followed only if most sentinels agree, or if the master is away. After a change because the master was away the next
 * change has to wait for SEEK_US: the other sentinels still name the address before, and would lead us back to it at
 * once. */
static int is_disputed(const struct sentinel *sentinel)
{
    const struct deployment *deployment = sentinel->deployment;
    unsigned agree = 0;
    for (unsigned i = 0; i < deployment->count; i++)
        agree += hl_address_is_same(&deployment->sentinels[i].address, &sentinel->address) != 0;
    if (!known(deployment)->port || hl_address_is_same(known(deployment), &sentinel->address) ||
        agree > deployment->count / 2)
        return 0;
    return deployment->node.is_up || hl_now_us(deployment->route.host) - deployment->node.moved_at_us < SEEK_US;
}

static void believe(const struct sentinel *sentinel)
{
    struct deployment *deployment = sentinel->deployment;
    /* A newer epoch means another master, even at the known address. The server there was replaced for a while, and
     * was a replica. So it has the keys of the master that replaced it, and these may lack the last writes from before
     * that. */
    int is_newer = sentinel->epoch > deployment->epoch;
    int is_old = sentinel->epoch < deployment->epoch && !are_set_up_anew(deployment);
    int is_stale = is_old || (!is_newer && is_disputed(sentinel));
    if (is_stale)
        return;
    if (sentinel->epoch != deployment->epoch) {
        deployment->epoch = sentinel->epoch;
        deployment->epoch_since_us = hl_now_us(deployment->route.host);
    }
    if (is_newer || !hl_address_is_same(known(deployment), &sentinel->address))
        follow(deployment, &sentinel->address);
}

/* ---- a sentinel's answers ---- */

/* Marks a sentinel that cannot be reached, or that has no such master. When all sentinels are marked, that is reported
 * once. */
static void mark_unusable(struct sentinel *sentinel, const char *why)
{
    struct deployment *deployment = sentinel->deployment;
    int was_unusable = sentinel->is_unusable;
    unsigned strangers = 0;
    sentinel->address.port = 0;
    sentinel->is_unusable = 1;
    if (known(deployment)->port)
        return;
    hl_text_set(&deployment->node.session.why, "%s", why);
    for (unsigned i = 0; i < deployment->count; i++)
        strangers += deployment->sentinels[i].stranger != NULL;
    if (strangers == deployment->count)
        hl_refusal_answer(&deployment->node, sentinel->stranger);
    for (unsigned i = 0; i < deployment->count; i++)
        if (was_unusable || !deployment->sentinels[i].is_unusable)
            return;
    hl_trace(deployment->route.host, HL_ROUTE_UNSETTLED,
             &(struct hl_fact){.node = hl_node_name(&deployment->node), .detail = why, .retry_us = SEEK_US});
}

/* Reads the epoch from a list of names and values. */
static int read_epoch(struct sentinel *sentinel, const struct hl_reply *reply)
{
    for (size_t i = 0; reply->type == HL_REPLY_ARRAY && i + 1 < reply->count; i += 2) {
        const struct hl_reply *name = hl_reply_item(reply, i, HL_REPLY_STRING);
        const struct hl_reply *value = hl_reply_item(reply, i + 1, HL_REPLY_STRING);
        if (name && value && hl_reply_is(name, "config-epoch"))
            return hl_reply_decimal(value->bytes, value->length, &sentinel->epoch) > 0;
    }
    return 0;
}

/* Refuses an empty host, which would mean the sentinel's own. */
static int read_address(struct sentinel *sentinel, const struct hl_reply *reply)
{
    const struct hl_reply *host = hl_reply_item(reply, 0, HL_REPLY_STRING);
    const struct hl_reply *port = hl_reply_item(reply, 1, HL_REPLY_STRING);
    uint64_t number;
    if (!host || !port || hl_reply_decimal(port->bytes, port->length, &number) != port->length)
        return 0;
    return hl_address_read(&sentinel->address, host->bytes, host->length, number) && *sentinel->address.host;
}

/* Without an answer to one half nothing is learnt, and the sentinel is asked again when its link is back. */
static void on_answer(struct hl_request *request, const struct hl_answer *answer)
{
    struct sentinel *sentinel = request->node->arg;
    const char *node = hl_node_name(&sentinel->node), *name = sentinel->deployment->master;
    const struct hl_reply *reply = answer->reply;
    struct hl_text why;
    if (!reply)
        return;
    if (!sentinel->is_second_half && read_epoch(sentinel, reply)) {
        ask_half(sentinel, 1);
        return;
    }
    if (sentinel->is_second_half && read_address(sentinel, reply)) {
        sentinel->answered_at_us = hl_now_us(sentinel->node.host);
        sentinel->stranger = NULL;
        believe(sentinel);
    } else {
        int is_unknown = reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "ERR unknown command");
        sentinel->stranger = is_unknown ? hl_stranger_no_sentinel.words : NULL;
        if (is_unknown)
            hl_text_set(&why, "%s: %s", node, sentinel->stranger);
        else if (reply->type == HL_REPLY_ERROR)
            hl_text_set(&why, "%s: %s", node, hl_host_quote(sentinel->node.host, reply->bytes, reply->length).bytes);
        else
            hl_words_no_answer_of(&why, node, sentinel->is_second_half ? "address" : "config-epoch",
                                  hl_text_quote(name, strlen(name)).bytes);
        mark_unusable(sentinel, why.bytes);
    }
    if (sentinel->is_to_ask_again)
        ask(sentinel);
}

/* Asks the sentinel after a message. The message may be about another master; the answer shows that. The sentinel is
 * also asked when the subscription is on, because a switch before that would be missed. A refused or lost subscription
 * is reported elsewhere; the sentinel is then asked from time to time. */
static void on_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    (void)message;
    if (event == HL_CHANNEL_ON || event == HL_CHANNEL_MESSAGE)
        ask(arg);
}

static void on_sentinel_up(void *arg, struct hl_node *node)
{
    (void)node;
    ask(arg);
}

static void on_sentinel_down(void *arg, struct hl_node *node)
{
    struct sentinel *sentinel = arg;
    struct hl_text why;
    (void)hl_node_withdraw(&sentinel->query); /* withdraws the second half, which must not go over another link */
    hl_text_set(&why, "%s: %s", hl_node_name(node), hl_node_why(node));
    const struct hl_stranger *stranger = hl_stranger_named(hl_node_why(node), strlen(hl_node_why(node)));
    sentinel->stranger = stranger ? stranger->words : NULL;
    mark_unusable(sentinel, why.bytes);
}

/* ---- the master's node ---- */

static void on_up(void *arg, struct hl_node *node)
{
    struct deployment *deployment = arg;
    watch(deployment);
    deployment->route.events->on_up(deployment->route.arg, node);
}

static void on_down(void *arg, struct hl_node *node)
{
    struct deployment *deployment = arg;
    deployment->route.events->on_down(deployment->route.arg, node);
    ask_all(deployment);
    watch(deployment);
}

/* Leaves a read-only server and submits the request again. on_down follows, which asks the sentinels. */
static int on_error(void *arg, struct hl_node *node, struct hl_request *request, const struct hl_reply *error)
{
    (void)arg;
    if (!hl_wrong_server_detour(node, request, error, READONLY_MAX))
        return 0;
    hl_node_submit(node, request, request->timeout_ms, request->how);
    return 1;
}

static struct hl_node *node_of(struct hl_route *route, const struct hl_about *about)
{
    (void)about;
    return &HL_CONTAINER(route, struct deployment, route)->node;
}

static struct hl_node *node_at(struct hl_route *route, unsigned i)
{
    return i == 0 ? &HL_CONTAINER(route, struct deployment, route)->node : NULL;
}

static int is_up(struct hl_route *route) { return HL_CONTAINER(route, struct deployment, route)->node.is_up; }

static void start(struct hl_route *route)
{
    struct deployment *deployment = HL_CONTAINER(route, struct deployment, route);
    hl_node_start(&deployment->node);
    for (unsigned i = 0; i < deployment->count; i++)
        hl_node_start(&deployment->sentinels[i].node);
    watch(deployment);
}

/* Also frees a route that is made in part: missing members are zero. */
static void free_route(struct hl_route *route)
{
    struct deployment *deployment = HL_CONTAINER(route, struct deployment, route);
    hl_node_done(&deployment->node);
    for (unsigned i = 0; i < deployment->count; i++)
        hl_node_done(&deployment->sentinels[i].node);
    hl_timer_free(route->host, deployment->timer);
    hl_memory_free(&route->host->memory, deployment->master);
    hl_memory_free(&route->host->memory, deployment);
}

/* Returns 0 if there is no memory. */
static int add_sentinel(struct deployment *deployment, const struct hl_endpoints *endpoints,
                        const struct hl_node_options *options)
{
    static const struct hl_node_events events = {on_sentinel_up, on_sentinel_down, NULL, NULL};
    static const struct hl_request_ops ops = {NULL, encode, on_answer};
    struct sentinel *sentinel = &deployment->sentinels[deployment->count];
    struct hl_subscriptions *subscriptions = &sentinel->node.subscriptions;
    struct hl_node_options own = *options;
    char text[HL_ADDRESS_TEXT_MAX];
    own.is_sentinel = 1;
    own.session.login = endpoints->logins[deployment->count];
    own.session.endpoint.address = endpoints->list[deployment->count];
    hl_address_write(text, &own.session.endpoint.address);
    snprintf(own.session.endpoint.name, sizeof own.session.endpoint.name, "sentinel %.256s", text);
    sentinel->deployment = deployment;
    sentinel->query.ops = &ops;
    if (hl_node_init(&sentinel->node, deployment->route.host, &own, &events, sentinel) != 0)
        return 0;
    deployment->count++;
    return hl_listener_open(subscriptions, "+switch-master", strlen("+switch-master"), on_channel, sentinel) &&
           hl_listener_open(subscriptions, "+promoted-slave", strlen("+promoted-slave"), on_channel, sentinel);
}

struct hl_route *hl_sentinel_new(struct hl_host *host, const struct hl_endpoints *endpoints,
                                 const struct hl_node_options *node, const struct hl_route_events *events, void *arg)
{
    static const struct hl_route_ops ops = {node_of, node_at, is_up, start, free_route, 0, 1};
    static const struct hl_node_events node_events = {on_up, on_down, on_error, ask_all};
    struct hl_node_options own = *node;
    struct deployment *deployment =
        hl_memory_new(&host->memory, sizeof *deployment + endpoints->count * sizeof deployment->sentinels[0]);
    if (!deployment)
        return NULL;
    deployment->route = (struct hl_route){&ops, host, events, arg, 0, 0};
    deployment->master = hl_memory_copy(&host->memory, endpoints->master, strlen(endpoints->master));
    deployment->timer = hl_timer_new(host, on_timer, deployment);
    own.session.endpoint = (struct hl_endpoint){.name = ""};
    snprintf(own.session.endpoint.name, sizeof own.session.endpoint.name, "master %.100s", endpoints->master);
    own.asks_role = 1;
    int is_made = deployment->master && deployment->timer &&
                  hl_node_init(&deployment->node, host, &own, &node_events, deployment) == 0;
    while (is_made && deployment->count < endpoints->count)
        is_made = add_sentinel(deployment, endpoints, node);
    if (is_made)
        return &deployment->route;
    free_route(&deployment->route);
    return NULL;
}
