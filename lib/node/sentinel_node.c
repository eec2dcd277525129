/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinel_node - see sentinel_node.h. It is asked when it connects, and again when the subscription is on, or a switch
 * between the two would be missed. */
#include "node/sentinel_node.h"

#include "base/plant.h"
#include "base/quote.h"

static const char switch_channel[] = "+switch-master", promoted_channel[] = "+promoted-slave";

static struct hl_sentinel_node *sentinel_node_of(struct hl_node *node)
{
    return (struct hl_sentinel_node *)(void *)node;
}

/* ---- asking ---- */

/* A list of names and values. Without the epoch the address counts only if the user may not ask for the epoch. */
static void on_epoch(struct hl_sentinel_node *sentinel_node, const struct hl_reply *reply)
{
    const struct hl_reply *name, *value;
    sentinel_node->epoch = 0;
    sentinel_node->is_dated = 0;
    sentinel_node->is_guarded = hl_missing_is_right(reply);
    if (sentinel_node->is_guarded)
        (void)hl_missing_hear(&sentinel_node->node, HL_MISSING_EPOCH, "SENTINEL MASTER", reply,
                            ": its answers are believed, though they may be old");
    else if (reply->type == HL_REPLY_ARRAY)
        hl_missing_report(&sentinel_node->node, HL_MISSING_EPOCH, NULL);
    for (size_t i = 0; reply->type == HL_REPLY_ARRAY && i + 1 < reply->count; i += 2) {
        name = hl_reply_item(reply, i, HL_REPLY_STRING);
        value = hl_reply_item(reply, i + 1, HL_REPLY_STRING);
        if (name && value && hl_reply_is(name, "config-epoch"))
            sentinel_node->is_dated = hl_reply_decimal(value->bytes, value->length, &sentinel_node->epoch) > 0;
    }
}

static void be_useless(struct hl_sentinel_node *sentinel_node, const char *why)
{
    sentinel_node->address.port = 0;
    sentinel_node->is_useless = 1;
    sentinel_node->events->on_useless(sentinel_node->arg, sentinel_node, why);
}

static void on_useless(struct hl_sentinel_node *sentinel_node, const struct hl_reply *reply)
{
    const char *node = hl_node_name(&sentinel_node->node);
    const struct hl_quoted master = hl_quote(sentinel_node->master, strlen(sentinel_node->master));
    struct hl_text why;
    if (reply->type == HL_REPLY_ERROR)
        hl_text_set(&why, "%s: %s", node, hl_host_quote(sentinel_node->node.host, reply->bytes, reply->length).bytes);
    else if (reply->type == HL_REPLY_NIL || sentinel_node->is_dated || sentinel_node->is_guarded)
        hl_text_set(&why, "%s knows no master called %s", node, master.bytes);
    else
        hl_text_set(&why, "%s gives no config-epoch of %s", node, master.bytes);
    be_useless(sentinel_node, why.bytes);
}

static void on_address(struct hl_sentinel_node *sentinel_node, const struct hl_reply *reply)
{
    const struct hl_reply *host = hl_reply_item(reply, 0, HL_REPLY_STRING);
    const struct hl_reply *port = hl_reply_item(reply, 1, HL_REPLY_STRING);
    struct hl_address *address = &sentinel_node->address;
    int is_known = host && port && hl_address_read(address, host->bytes, host->length, port->bytes, port->length) &&
                   *address->host; /* an empty one would mean the sentinel's own */
    if (!is_known || !(sentinel_node->is_dated || sentinel_node->is_guarded)) {
        on_useless(sentinel_node, reply);
        return;
    }
    sentinel_node->is_useless = 0;
    sentinel_node->told_us = hl_now_us(sentinel_node->node.host);
    sentinel_node->events->on_answered(sentinel_node->arg, sentinel_node);
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    const struct hl_sentinel_node *sentinel_node = sentinel_node_of(request->node);
    hl_command_begin(command, "SENTINEL");
    hl_command_add_word(command, sentinel_node->is_half_told ? "GET-MASTER-ADDR-BY-NAME" : "MASTER");
    hl_command_add_word(command, sentinel_node->master);
}

static void ask(struct hl_sentinel_node *sentinel_node, int is_half_told)
{
    sentinel_node->is_half_told = is_half_told;
    hl_node_submit(&sentinel_node->node, &sentinel_node->question, sentinel_node->node.options.command_timeout_ms, 0);
}

/* If one half has no answer, the question has none: it is asked again when the sentinel is back. */
static void on_answer(struct hl_request *request, const struct hl_answer *answer)
{
    static const struct hl_reply silence = {.type = HL_REPLY_ERROR, .bytes = "NOPERM", .length = 6};
    struct hl_sentinel_node *sentinel_node = sentinel_node_of(request->node);
    const struct hl_reply *reply = answer->was_sent ? answer->reply : NULL;
    if (HL_PLANTED(SILENCE_IS_UNDATED) && !reply)
        reply = &silence;
    if (!reply)
        return;
    if (!sentinel_node->is_half_told) {
        on_epoch(sentinel_node, reply);
        ask(sentinel_node, 1);
        return;
    }
    if (sentinel_node->is_news)
        hl_sentinel_node_ask(sentinel_node);
    on_address(sentinel_node, reply);
}

void hl_sentinel_node_ask(struct hl_sentinel_node *sentinel_node)
{
    sentinel_node->is_news = sentinel_node->node.is_up && hl_request_is_busy(&sentinel_node->question);
    if (sentinel_node->node.is_up && !sentinel_node->is_news)
        ask(sentinel_node, 0);
}

/* ---- listening ---- */

/* "<master> <old host> <old port> <new host> <new port>": a hint, which may be old: ask the sentinel what is true. */
static void on_message(struct hl_sentinel_node *sentinel_node, const struct hl_reply *message)
{
    size_t length = strlen(sentinel_node->master);
    if (message->length > length && memcmp(message->bytes, sentinel_node->master, length) == 0 &&
        message->bytes[length] == ' ')
        hl_sentinel_node_ask(sentinel_node);
}

static void on_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_sentinel_node *sentinel_node = arg;
    switch (event) {
    case HL_CHANNEL_ON: hl_sentinel_node_ask(sentinel_node); break;
    case HL_CHANNEL_MESSAGE: on_message(sentinel_node, message); break;
    case HL_CHANNEL_OFF:
    case HL_CHANNEL_REFUSED: break; /* that was reported; it is asked from time to time */
    }
}

static void on_promoted(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    (void)message;
    if (event == HL_CHANNEL_MESSAGE)
        hl_sentinel_node_ask(arg);
}

/* ---- life ---- */

static void on_up(void *arg, struct hl_node *node)
{
    (void)arg;
    hl_sentinel_node_ask(sentinel_node_of(node));
}

static void on_down(void *arg, struct hl_node *node)
{
    struct hl_sentinel_node *sentinel_node = arg;
    struct hl_text why;
    (void)hl_node_withdraw(&sentinel_node->question); /* the lost link may have answered half of the question */
    hl_text_set(&why, "%s: %s", hl_node_name(node), hl_node_why(node));
    be_useless(sentinel_node, why.bytes);
}

int hl_sentinel_node_init(struct hl_sentinel_node *sentinel_node, struct hl_host *host,
                          const struct hl_node_options *options, const char *master,
                          const struct hl_sentinel_node_events *events, void *arg)
{
    static const struct hl_node_events node_events = {on_up, on_down, NULL, NULL};
    static const struct hl_request_ops ops = {NULL, encode, on_answer};
    memset(sentinel_node, 0, sizeof *sentinel_node);
    sentinel_node->master = master;
    sentinel_node->events = events;
    sentinel_node->arg = arg;
    sentinel_node->question.ops = &ops;
    if (hl_node_init(&sentinel_node->node, host, options, &node_events, sentinel_node) != 0)
        return -1;
    sentinel_node->switched = hl_listener_open(&sentinel_node->node.subscription, switch_channel,
                                               sizeof switch_channel - 1, on_channel, sentinel_node);
    sentinel_node->promoted = hl_listener_open(&sentinel_node->node.subscription, promoted_channel,
                                               sizeof promoted_channel - 1, on_promoted, sentinel_node);
    if (sentinel_node->switched && sentinel_node->promoted)
        return 0;
    hl_node_done(&sentinel_node->node);
    return -1;
}
