/* SPDX-License-Identifier: BSD-3-Clause */
/* confirm_link - see confirm_link.h. */
#include "node/confirm_link.h"

#include "base/container.h"
#include "base/contract.h"

static struct hl_confirm_link *confirm_link_of(struct hl_node *link)
{
    return HL_CONTAINER(link, struct hl_confirm_link, node);
}

static struct hl_requests *pending_of(struct hl_confirm_link *it) { return &it->node.queues[REQUEST_CONFIRMING]; }

static void encode_wait(struct hl_request *request, struct hl_command *command)
{
    const struct hl_confirm_link *confirm_link = HL_CONTAINER(request, struct hl_confirm_link, wait);
    hl_command_begin(command, "WAIT");
    hl_command_add_number(command, confirm_link->replicas);
    hl_command_add_number(command, confirm_link->timeout_ms);
}

static void ask_for_the_least(struct hl_confirm_link *confirm_link)
{
    const struct hl_requests *pending = pending_of(confirm_link);
    const struct hl_request *request, *least = TAILQ_FIRST(pending);
    TAILQ_FOREACH(request, pending, entry)
    {
        int is_alike = request->replicas == least->replicas;
        if (is_alike ? request->timeout_ms < least->timeout_ms : request->replicas < least->replicas)
            least = request;
    }
    confirm_link->replicas = least->replicas;
    confirm_link->timeout_ms = least->timeout_ms;
    hl_node_submit(&confirm_link->node, &confirm_link->wait,
                   confirm_link->timeout_ms + confirm_link->node.options.command_timeout_ms,
                   HL_REQUEST_URGENT | HL_REQUEST_BLOCKS);
}

/* Answers the pending requests. If too few replicas confirmed, requests that asked for more replicas or more time than
 * this WAIT stay pending. Each `done` may withdraw other requests. */
static void on_waited(struct hl_request *wait, const struct hl_answer *answer)
{
    struct hl_confirm_link *confirm_link = HL_CONTAINER(wait, struct hl_confirm_link, wait);
    struct hl_requests *pending = pending_of(confirm_link);
    const struct hl_reply *reply = answer->reply;
    struct hl_request *request;
    TAILQ_INSERT_TAIL(pending, &confirm_link->mark, entry);
    while ((request = TAILQ_FIRST(pending)) != &confirm_link->mark) {
        int is_short = reply && reply->type == HL_REPLY_INTEGER && reply->integer < request->replicas;
        int wants_more = request->replicas > confirm_link->replicas || request->timeout_ms > confirm_link->timeout_ms;
        hl_node_dequeue(request);
        if (is_short && wants_more)
            hl_node_enqueue(&confirm_link->node, request, REQUEST_CONFIRMING);
        else
            request->ops->done(request, answer);
    }
    TAILQ_REMOVE(pending, &confirm_link->mark, entry);
}

void hl_confirm_link_ask(struct hl_request *request, unsigned replicas, uint32_t timeout_ms)
{
    struct hl_confirm_link *confirm_link = confirm_link_of(request->node);
    /* The request was just answered over a third link. */
    HL_REQUIRE(request->queue == REQUEST_IDLE && request->node->parent);
    request->replicas = (uint8_t)replicas;
    request->timeout_ms = timeout_ms;
    hl_node_enqueue(&confirm_link->node, request, REQUEST_CONFIRMING);
    confirm_link->node.is_urgent_only = 1;
}

void hl_confirm_link_on_reply(struct hl_node *link)
{
    struct hl_confirm_link *confirm_link = confirm_link_of(link);
    if (hl_request_is_busy(&confirm_link->wait))
        return;
    if (TAILQ_EMPTY(pending_of(confirm_link)))
        link->is_urgent_only = 0;
    else if (!hl_node_oldest(link))
        ask_for_the_least(confirm_link);
}

/* Answers the pending requests without a reply. If a WAIT was sent, on_waited does this, because the node answers the
 * WAIT next. */
static void on_down(void *arg, struct hl_node *link)
{
    struct hl_confirm_link *confirm_link = arg;
    hl_node_probe(link->parent);
    if (hl_node_withdraw(&confirm_link->wait) || !hl_request_is_busy(&confirm_link->wait))
        on_waited(&confirm_link->wait, &(struct hl_answer){NULL, 1});
}

/* Makes the parent node find out whether the server is alive; the parent then does what is needed. */
static void on_silence(void *arg)
{
    struct hl_confirm_link *confirm_link = arg;
    hl_node_probe(confirm_link->node.parent);
}

struct hl_node *hl_confirm_link_get(struct hl_node *node)
{
    static const struct hl_node_events events = {NULL, on_down, NULL, on_silence};
    static const struct hl_request_ops ops = {NULL, encode_wait, on_waited};
    struct hl_confirm_link *confirm_link = node->confirm_node ? confirm_link_of(node->confirm_node) : NULL;
    if (!confirm_link) {
        confirm_link = hl_memory_new(&node->host->memory, sizeof *confirm_link);
        if (!confirm_link ||
            hl_node_init(&confirm_link->node, node->host, &node->options, &events, confirm_link) != 0) {
            hl_memory_free(&node->host->memory, confirm_link);
            return NULL;
        }
        confirm_link->node.parent = node;
        confirm_link->node.session.leader = &node->session;
        confirm_link->wait.ops = &ops;
        node->confirm_node = &confirm_link->node;
    }
    hl_node_start(&confirm_link->node);
    return &confirm_link->node;
}

void hl_confirm_link_rest(struct hl_node *node, uint64_t unused_us)
{
    struct hl_node *link = node->confirm_node;
    if (link && hl_node_is_started(link) && hl_node_is_idle(link) &&
        hl_now_us(node->host) - link->used_at_us > unused_us)
        hl_node_rest(link);
}

void hl_confirm_link_done(struct hl_node *link)
{
    struct hl_confirm_link *confirm_link = confirm_link_of(link);
    struct hl_host *host = link->host;
    hl_node_done(link);
    hl_memory_free(&host->memory, confirm_link);
}
