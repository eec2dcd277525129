/* SPDX-License-Identifier: BSD-3-Clause */
/* confirm - see confirm.h. */
#include "node/confirm.h"

#include "base/contract.h"
#include "base/plant.h"

static struct hl_confirm *confirm_of(struct hl_node *link) { return (struct hl_confirm *)(void *)link; }

/* ---- WAIT ---- */

static void encode_wait(struct hl_request *request, struct hl_command *command)
{
    const struct hl_confirm *confirm = (const struct hl_confirm *)(const void *)((char *)request - offsetof(struct hl_confirm, wait));
    hl_command_begin(command, "WAIT");
    hl_command_add_number(command, confirm->replicas);
    hl_command_add_number(command, confirm->timeout_ms);
}

static int is_less(const struct hl_request *request, const struct hl_request *than)
{
    return request->replicas != than->replicas ? request->replicas < than->replicas : request->timeout_ms < than->timeout_ms;
}

static void ask_for_the_least(struct hl_confirm *confirm)
{
    struct hl_node *to = HL_PLANTED(REPLICAS_WRONG_LINK) ? confirm->node.home : &confirm->node;
    const struct hl_request *request, *least = TAILQ_FIRST(&confirm->pending);
    TAILQ_FOREACH(request, &confirm->pending, entry)
        if (is_less(request, least))
            least = request;
    confirm->replicas = least->replicas;
    confirm->timeout_ms = least->timeout_ms;
    hl_node_submit(to, &confirm->wait, confirm->timeout_ms + confirm->node.options.command_timeout_ms, HL_REQUEST_URGENT | HL_REQUEST_BLOCKS);
}

/* This WAIT asked for less, or not for as long, and has not found enough. */
static int wants_more(const struct hl_confirm *confirm, const struct hl_request *request, const struct hl_reply *reply)
{
    return reply && reply->type == HL_REPLY_INTEGER && reply->integer < request->replicas &&
           (request->replicas > confirm->replicas || request->timeout_ms > confirm->timeout_ms);
}

/* What is done may withdraw others. */
static void settle(struct hl_confirm *confirm, const struct hl_answer *answer)
{
    struct hl_request *request;
    TAILQ_INSERT_TAIL(&confirm->pending, &confirm->mark, entry);
    while ((request = TAILQ_FIRST(&confirm->pending)) != &confirm->mark) {
        TAILQ_REMOVE(&confirm->pending, request, entry);
        if (wants_more(confirm, request, answer->reply)) {
            TAILQ_INSERT_TAIL(&confirm->pending, request, entry);
            continue;
        }
        request->place = REQUEST_IDLE;
        request->ops->done(request, answer);
    }
    TAILQ_REMOVE(&confirm->pending, &confirm->mark, entry);
}

static void on_waited(struct hl_request *wait, const struct hl_answer *answer)
{
    struct hl_confirm *confirm = (struct hl_confirm *)(void *)((char *)wait - offsetof(struct hl_confirm, wait));
    settle(confirm, answer);
    if (TAILQ_EMPTY(&confirm->pending))
        hl_node_shut(&confirm->node, 0);
}

void hl_confirm_ask(struct hl_request *request, unsigned replicas, uint32_t timeout_ms)
{
    struct hl_confirm *confirm = confirm_of(request->node);
    HL_REQUIRE(request->place == REQUEST_IDLE && request->node->home); /* just answered, and asked with HL_REQUEST_CONFIRM */
    request->place = REQUEST_CONFIRMING;
    request->replicas = (uint8_t)replicas;
    request->timeout_ms = timeout_ms;
    TAILQ_INSERT_TAIL(&confirm->pending, request, entry);
    hl_node_shut(&confirm->node, 1);
}

static void go_on(struct hl_node *link)
{
    struct hl_confirm *confirm = confirm_of(link);
    if (hl_request_is_busy(&confirm->wait))
        return;
    if (TAILQ_EMPTY(&confirm->pending) && !HL_PLANTED(REPLICAS_STAYS_SHUT)) /* all were withdrawn: there is nothing to wait for */
        hl_node_shut(link, 0);
    else if (!TAILQ_EMPTY(&confirm->pending) && TAILQ_EMPTY(&link->sent))
        ask_for_the_least(confirm);
}

/* The WAIT goes on: nothing can call it back. */
static void withdraw(struct hl_request *request)
{
    TAILQ_REMOVE(&confirm_of(request->node)->pending, request, entry);
    request->place = REQUEST_IDLE;
}

/* ---- the link ---- */

static void on_up(void *arg, struct hl_node *link) { (void)arg, (void)link; }

/* A WAIT that was sent is answered "none came" right after this. */
static void on_down(void *arg, struct hl_node *link)
{
    struct hl_confirm *confirm = arg;
    (void)link;
    if (HL_PLANTED(REPLICAS_OLD_LINK) && !TAILQ_EMPTY(&confirm->pending)) {
        TAILQ_INIT(&link->sent);
        confirm->wait.place = REQUEST_IDLE;
        ask_for_the_least(confirm);
        return;
    }
    hl_node_probe(link->home);
    if (hl_node_withdraw(&confirm->wait) || !hl_request_is_busy(&confirm->wait))
        on_waited(&confirm->wait, &(struct hl_answer){NULL, 1});
}

static int on_error(void *arg, struct hl_node *link, struct hl_request *request, const struct hl_reply *error)
{
    struct hl_node *home = link->home;
    (void)arg;
    return home->events->on_error ? home->events->on_error(home->arg, home, request, error) : 0;
}

/* Whether the server is, is for its node to find out: it knows what to do then, and for how long. */
static void on_silence(void *arg, struct hl_node *link)
{
    (void)arg;
    hl_node_probe(link->home);
}

static struct hl_node *link_of(struct hl_node *node)
{
    static const struct hl_node_events events = {on_up, on_down, on_error, on_silence};
    static const struct hl_request_ops ops = {NULL, encode_wait, on_waited};
    struct hl_confirm *confirm;
    if (node->third)
        return node->third;
    confirm = hl_memory_new(&node->host->memory, sizeof *confirm);
    if (!confirm)
        return NULL;
    if (hl_node_init(&confirm->node, node->host, &node->options, &events, confirm) != 0) {
        hl_memory_free(&node->host->memory, confirm);
        return NULL;
    }
    confirm->node.home = node;
    confirm->wait.ops = &ops;
    TAILQ_INIT(&confirm->pending);
    node->third = &confirm->node;
    return &confirm->node;
}

static void free_link(struct hl_node *node)
{
    if (!node->third)
        return;
    hl_node_done(node->third);
    hl_memory_free(&node->host->memory, confirm_of(node->third));
    node->third = NULL;
}

static int is_idle(const struct hl_node *node)
{
    return !node->third || (hl_node_is_idle(node->third) && TAILQ_EMPTY(&confirm_of(node->third)->pending));
}

void hl_confirm_rest(struct hl_node *node, uint64_t unused_us)
{
    struct hl_node *link = node->third;
    if (link && link->is_started && is_idle(node) && hl_now_us(node->host) - link->used_us > unused_us)
        hl_node_rest(link);
}

const struct hl_confirm_ops hl_confirm_ops = {link_of, go_on, withdraw, is_idle, free_link};
