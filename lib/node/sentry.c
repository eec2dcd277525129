/* SPDX-License-Identifier: BSD-3-Clause */
/* sentry - see sentry.h. It is asked when it comes, and when the subscription is on: a switch between the two would not be heard. */
#include "node/sentry.h"

#include "base/plant.h"
#include "base/quote.h"

static const char switch_channel[] = "+switch-master", promoted_channel[] = "+promoted-slave";

static struct hl_sentry *sentry_of(struct hl_node *node) { return (struct hl_sentry *)(void *)node; }

/* A host that is "as you reached me" is none: it would be the sentinel's. */
static int read_address(struct hl_address *ret, const char *host, size_t host_length, const char *port, size_t port_length)
{
    return hl_address_read(ret, host, host_length, port, port_length) && *ret->host;
}

/* ---- asking ---- */

/* A list of names and values. Only a user who may not ask for the epoch is let off: its address is taken as it is. */
static void on_epoch(struct hl_sentry *sentry, const struct hl_reply *reply)
{
    const struct hl_reply *name, *value;
    sentry->epoch = 0;
    sentry->is_dated = 0;
    sentry->is_barred = hl_lacks_is_right(reply);
    if (sentry->is_barred)
        (void)hl_lacks_hear(&sentry->node, HL_LACK_EPOCH, "SENTINEL MASTER", reply,
                            ": what it says is believed, though it may be old");
    else if (reply->type == HL_REPLY_ARRAY)
        hl_lacks_tell(&sentry->node, HL_LACK_EPOCH, NULL);
    for (size_t i = 0; reply->type == HL_REPLY_ARRAY && i + 1 < reply->count; i += 2) {
        name = hl_reply_item(reply, i, HL_REPLY_STRING);
        value = hl_reply_item(reply, i + 1, HL_REPLY_STRING);
        if (name && value && hl_reply_is(name, "config-epoch"))
            sentry->is_dated = hl_reply_decimal(value->bytes, value->length, &sentry->epoch) > 0;
    }
}

static void be_useless(struct hl_sentry *sentry, const char *why)
{
    sentry->address.port = 0;
    sentry->is_useless = 1;
    sentry->events->on_useless(sentry->arg, sentry, why);
}

static void on_useless(struct hl_sentry *sentry, const struct hl_reply *reply)
{
    const char *node = hl_node_name(&sentry->node);
    const struct hl_quoted master = hl_quote(sentry->master, strlen(sentry->master));
    struct hl_text why;
    if (reply->type == HL_REPLY_ERROR)
        hl_text_set(&why, "%s: %s", node, hl_host_quote(sentry->node.host, reply->bytes, reply->length).bytes);
    else if (reply->type == HL_REPLY_NIL || sentry->is_dated || sentry->is_barred)
        hl_text_set(&why, "%s knows no master called %s", node, master.bytes);
    else
        hl_text_set(&why, "%s tells no config-epoch of %s", node, master.bytes);
    be_useless(sentry, why.bytes);
}

static void on_address(struct hl_sentry *sentry, const struct hl_reply *reply)
{
    const struct hl_reply *host = hl_reply_item(reply, 0, HL_REPLY_STRING);
    const struct hl_reply *port = hl_reply_item(reply, 1, HL_REPLY_STRING);
    int is_known = host && port && read_address(&sentry->address, host->bytes, host->length, port->bytes, port->length);
    if (!is_known || !(sentry->is_dated || sentry->is_barred)) {
        on_useless(sentry, reply);
        return;
    }
    sentry->is_useless = 0;
    sentry->told_us = hl_now_us(sentry->node.host);
    sentry->events->on_told(sentry->arg, sentry);
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    const struct hl_sentry *sentry = sentry_of(request->node);
    hl_command_begin(command, "SENTINEL");
    hl_command_add_word(command, sentry->is_half_told ? "GET-MASTER-ADDR-BY-NAME" : "MASTER");
    hl_command_add_word(command, sentry->master);
}

static void ask(struct hl_sentry *sentry, int is_half_told)
{
    sentry->is_half_told = is_half_told;
    hl_node_submit(&sentry->node, &sentry->question, sentry->node.options.command_timeout_ms, 0);
}

/* Without an answer to one half there is none to the other: it is asked again when it comes. */
static void on_answer(struct hl_request *request, const struct hl_answer *answer)
{
    static const struct hl_reply silence = {.type = HL_REPLY_ERROR, .bytes = "NOPERM", .length = 6};
    struct hl_sentry *sentry = sentry_of(request->node);
    const struct hl_reply *reply = answer->was_sent ? answer->reply : NULL;
    if (HL_PLANTED(SILENCE_IS_UNDATED) && !reply)
        reply = &silence;
    if (!reply)
        return;
    if (!sentry->is_half_told) {
        on_epoch(sentry, reply);
        ask(sentry, 1);
        return;
    }
    if (sentry->is_news)
        hl_sentry_ask(sentry);
    on_address(sentry, reply);
}

void hl_sentry_ask(struct hl_sentry *sentry)
{
    sentry->is_news = sentry->node.is_up && hl_request_is_busy(&sentry->question);
    if (sentry->node.is_up && !sentry->is_news)
        ask(sentry, 0);
}

/* ---- listening ---- */

/* "<master> <old host> <old port> <new host> <new port>": a hint, which may have been on its way for long. What is true it is asked. */
static void on_message(struct hl_sentry *sentry, const struct hl_reply *message)
{
    size_t length = strlen(sentry->master);
    if (message->length > length && memcmp(message->bytes, sentry->master, length) == 0 && message->bytes[length] == ' ')
        hl_sentry_ask(sentry);
}

static void on_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_sentry *sentry = arg;
    switch (event) {
    case HL_CHANNEL_ON: hl_sentry_ask(sentry); break;
    case HL_CHANNEL_MESSAGE: on_message(sentry, message); break;
    case HL_CHANNEL_OFF:
    case HL_CHANNEL_REFUSED: break; /* which was told; it is asked from time to time */
    }
}

static void on_promoted(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    (void)message;
    if (event == HL_CHANNEL_MESSAGE)
        hl_sentry_ask(arg);
}

/* ---- life ---- */

static void on_up(void *arg, struct hl_node *node)
{
    (void)arg;
    hl_sentry_ask(sentry_of(node));
}

static void on_down(void *arg, struct hl_node *node)
{
    struct hl_sentry *sentry = arg;
    struct hl_text why;
    (void)hl_node_withdraw(&sentry->question); /* half of it may have been answered over the link that is lost */
    hl_text_set(&why, "%s: %s", hl_node_name(node), hl_node_why(node));
    be_useless(sentry, why.bytes);
}

int hl_sentry_init(struct hl_sentry *sentry, struct hl_host *host, const struct hl_node_options *options, const char *master,
                   const struct hl_sentry_events *events, void *arg)
{
    static const struct hl_node_events node_events = {on_up, on_down, NULL, NULL};
    static const struct hl_request_ops ops = {NULL, encode, on_answer};
    memset(sentry, 0, sizeof *sentry);
    sentry->master = master;
    sentry->events = events;
    sentry->arg = arg;
    sentry->question.ops = &ops;
    if (hl_node_init(&sentry->node, host, options, &node_events, sentry) != 0)
        return -1;
    sentry->switched = hl_listener_open(&sentry->node.subscription, switch_channel, sizeof switch_channel - 1, on_channel, sentry);
    sentry->promoted = hl_listener_open(&sentry->node.subscription, promoted_channel, sizeof promoted_channel - 1, on_promoted, sentry);
    if (sentry->switched && sentry->promoted)
        return 0;
    hl_node_done(&sentry->node);
    return -1;
}

void hl_sentry_start(struct hl_sentry *sentry) { hl_node_start(&sentry->node); }

void hl_sentry_done(struct hl_sentry *sentry) { hl_node_done(&sentry->node); }
