/* SPDX-License-Identifier: BSD-3-Clause */
/* handshake - see handshake.h. */
#include "base/plant.h"
#include "base/quote.h"
#include "node/node.h"

enum step {
    STEP_ROLE = 1,
    STEP_SHARDED = 2,
    STEP_SERVER = 4,
    STEP_MEMORY = 8,
    STEP_NATIVES = 16,
    STEP_TIME = 32,
    STEP_END = 64
};

/* ---- questions ---- */

static int send_words(struct hl_node *node, const char *word, const char *second, const char *third)
{
    struct hl_command command;
    hl_command_begin(&command, word);
    if (second)
        hl_command_add_word(&command, second);
    if (third)
        hl_command_add_word(&command, third);
    return hl_session_send(&node->session, &command);
}

static int send_natives(struct hl_node *node)
{
    struct hl_command command;
    node->options.ask_natives(&command);
    return hl_session_send(&node->session, &command);
}

static int send_step(struct hl_node *node, enum step step)
{
    switch (step) {
    case STEP_ROLE: return send_words(node, "ROLE", NULL, NULL);
    case STEP_SHARDED: return send_words(node, "PUBSUB", "SHARDNUMSUB", "0");
    case STEP_SERVER: return send_words(node, "INFO", "server", NULL);
    case STEP_MEMORY: return send_words(node, "INFO", "memory", NULL);
    case STEP_NATIVES: return send_natives(node);
    case STEP_TIME:
        node->time_sent_us = hl_now_us(node->host);
        return send_words(node, "TIME", NULL, NULL);
    case STEP_END: break;
    }
    return -1;
}

void hl_handshake_begin(struct hl_node *node)
{
    struct hl_handshake *handshake = &node->handshake;
    struct hl_command command;
    int sent = 0;
    *handshake = (struct hl_handshake){0, 0};
    if (node->options.is_sentinel)
        return;
    handshake->steps = STEP_SERVER | STEP_NATIVES | STEP_TIME | (node->options.asks_role ? STEP_ROLE : 0u);
    handshake->steps |= node->parent ? 0u : STEP_MEMORY | (node->options.asks_sharded ? STEP_SHARDED : 0u);
    for (const struct hl_script *const *script = node->options.scripts; *script && sent == 0;
         script++, handshake->scripts++) {
        hl_command_load(&command, *script);
        sent = hl_session_send(&node->session, &command);
    }
    for (unsigned step = 1; step < STEP_END && sent == 0; step <<= 1)
        if (handshake->steps & step)
            sent = send_step(node, (enum step)step);
}

/* ---- answers ---- */

static enum hl_handshake_state on_role(struct hl_node *node, const struct hl_reply *reply)
{
    const struct hl_reply *role = hl_reply_item(reply, 0, HL_REPLY_STRING);
    struct hl_text why;
    if (hl_missing_hear(node, HL_MISSING_ROLE, "ROLE", reply,
                      ": a master that was deposed is known only when it refuses a write") ||
        (role && hl_reply_is(role, "master")) || HL_PLANTED(ROLE_IGNORED))
        return HL_HANDSHAKE_GOES_ON;
    hl_text_set(&why, "it is no master: its role is %s",
                role ? hl_host_quote(node->host, role->bytes, role->length).bytes : "not told");
    hl_session_break(&node->session, why.bytes);
    return HL_HANDSHAKE_NO_MASTER;
}

static void on_info_unreadable(struct hl_node *node, const struct hl_reply *reply)
{
    struct hl_text what;
    struct hl_quoted quote = hl_host_quote(node->host, reply->bytes, reply->length);
    const char *why = reply->type == HL_REPLY_ERROR ? quote.bytes : "no uptime_in_seconds in it";
    hl_text_set(&what, "INFO refused: %s: restarts and evictions may go unnoticed%s", why,
                node->options.restart_guard_ms ? ", and restart_guard_ms counts from each connection" : "");
    hl_missing_report(node, HL_MISSING_INFO, what.bytes);
}

static void on_server(struct hl_node *node, const struct hl_reply *reply)
{
    enum hl_server_info_news news = hl_server_info_read_server(&node->server_info, reply, node->active_us,
                                                               node->earlier_us);
    struct hl_text what;
    if (news == HL_SERVER_INFO_UNREADABLE)
        on_info_unreadable(node, reply);
    else
        hl_missing_report(node, HL_MISSING_INFO, NULL);
    if (news != HL_SERVER_INFO_NEWS || node->parent)
        return;
    hl_text_set(&what, "%s restarted %u s ago or less: locks that it did not keep are free there", hl_node_name(node),
                (unsigned)((node->active_us - (uint64_t)node->server_info.started_us) / 1000000 + 1));
    hl_trace(node->host, HL_STORE_RESTARTED, &(struct hl_fact){.node = hl_node_name(node), .detail = what.bytes});
}

static void on_memory(struct hl_node *node, const struct hl_reply *reply)
{
    struct hl_text what;
    if (hl_server_info_read_memory(&node->server_info, reply) != HL_SERVER_INFO_NEWS)
        return;
    hl_text_set(&what, "maxmemory-policy is %s: the store may evict locks; set noeviction",
                hl_host_quote(node->host, node->server_info.policy, strlen(node->server_info.policy)).bytes);
    hl_trace(node->host, HL_EVICTION_RISK, &(struct hl_fact){.node = hl_node_name(node), .detail = what.bytes});
}

/* A server without sharded channels refuses, too: that is no missing right. */
static void on_sharded(struct hl_node *node, const struct hl_reply *reply)
{
    node->has_sharded = reply->type != HL_REPLY_ERROR;
    if (node->has_sharded || hl_missing_is_right(reply))
        (void)hl_missing_hear(node, HL_MISSING_SHARDED, "PUBSUB SHARDNUMSUB", reply,
                            ": messages go over plain channels, which Redisson does not hear");
}

/* A refusal is an answer too. */
static void on_natives(struct hl_node *node, const struct hl_reply *reply)
{
    node->natives = node->options.natives_told(reply);
    node->are_natives_refused = hl_missing_is_right(reply);
    if (!node->are_natives_refused)
        hl_missing_report(node, HL_MISSING_NATIVES, NULL);
}

static enum hl_handshake_state on_step(struct hl_node *node, enum step step, const struct hl_reply *reply)
{
    switch (step) {
    case STEP_ROLE: return on_role(node, reply);
    case STEP_SHARDED: on_sharded(node, reply); break;
    case STEP_SERVER: on_server(node, reply); break;
    case STEP_MEMORY: on_memory(node, reply); break;
    case STEP_NATIVES: on_natives(node, reply); break;
    case STEP_TIME:
        if (!hl_missing_hear(node, HL_MISSING_TIME, "TIME", reply,
                           ": requests carry no time after which they must not run"))
            hl_node_sample(node, reply, node->time_sent_us);
        break;
    case STEP_END: break;
    }
    return HL_HANDSHAKE_GOES_ON;
}

enum hl_handshake_state hl_handshake_answered(struct hl_node *node, const struct hl_reply *reply)
{
    struct hl_handshake *handshake = &node->handshake;
    unsigned step = handshake->steps & ~(handshake->steps - 1);
    if (handshake->scripts) {
        handshake->scripts--;
        if (reply->type == HL_REPLY_ERROR)
            (void)hl_missing_hear(node, HL_MISSING_LOAD, "SCRIPT LOAD", reply, "");
    } else {
        handshake->steps &= ~step;
        if (on_step(node, (enum step)step, reply) == HL_HANDSHAKE_NO_MASTER)
            return HL_HANDSHAKE_NO_MASTER;
    }
    return hl_handshake_is_over(handshake) ? HL_HANDSHAKE_OVER : HL_HANDSHAKE_GOES_ON;
}
