/* SPDX-License-Identifier: BSD-3-Clause */
/* handshake - see handshake.h. */
#include "base/stranger.h"
#include "node/clock.h"
#include "node/node.h"
#include "node/words.h"

void hl_handshake_report(struct hl_node *node, enum hl_missing_right lack, const char *what)
{
    const struct hl_fact fact = {.node = node->options.session.endpoint.name, .detail = what};
    if (what && !node->parent && !(node->reported_missing & lack)) /* a third link would only repeat it */
        hl_trace(node->host, HL_NODE_FAULT, &fact);
    node->reported_missing = what ? node->reported_missing | lack : node->reported_missing & ~(unsigned)lack;
}

int hl_handshake_report_error(struct hl_node *node, enum hl_missing_right lack, const char *command,
                              const struct hl_reply *reply, const char *loss)
{
    struct hl_text what;
    if (reply->type != HL_REPLY_ERROR) {
        hl_handshake_report(node, lack, NULL);
        return 0;
    }
    hl_words_refused(&what, command, hl_host_quote(node->host, reply->bytes, reply->length).bytes, loss);
    hl_handshake_report(node, lack, what.bytes);
    return 1;
}

void hl_handshake_queue_refused(struct hl_node *node, const char *quote, size_t length)
{
    struct hl_text what;
    hl_words_no_place(&what, hl_host_quote(node->host, quote, length).bytes);
    hl_handshake_report(node, HL_MISSING_QUEUE, what.bytes);
    node->has_no_queue = 1;
}

void hl_handshake_report_counts(struct hl_node *node, int are_wanted)
{
    node->wants_counts = node->wants_counts || are_wanted;
    hl_handshake_report(node, HL_MISSING_COUNTS,
                        node->are_counts_refused && node->wants_counts ? hl_words_without_counts : NULL);
}

static void on_role(struct hl_node *node, const struct hl_reply *reply)
{
    const struct hl_reply *role = hl_reply_item(reply, 0, HL_REPLY_STRING);
    struct hl_text why;
    if (hl_handshake_report_error(node, HL_MISSING_ROLE, "ROLE", reply, hl_words_without_role))
        return;
    if (role && hl_reply_is(role, "master"))
        return;
    hl_words_no_master(&why, role ? hl_host_quote(node->host, role->bytes, role->length).bytes : NULL);
    hl_wrong_server_leave(node, why.bytes);
}

/* Leaves a replica. A server that does not give its role is taken for a master. This step comes before the other two
 * INFO, so that nothing else is learnt from a server that is left. */
static void on_replication(struct hl_node *node, const struct hl_reply *reply)
{
    if (!hl_server_info_is_replica(reply))
        return;
    node->is_replica = 1;
    hl_wrong_server_leave(node, hl_words_replica);
}

static void on_server(struct hl_node *node, const struct hl_reply *reply)
{
    const struct hl_stranger *stranger = hl_stranger_of_server(node->load_refusal.bytes, reply);
    if (stranger) {
        hl_session_break(&node->session, stranger->words);
        return;
    }
    uint64_t now_us = hl_now_us(node->host);
    enum hl_server_info_news news =
        hl_server_info_read_server(&node->server_info, reply, now_us, node->old_link_reply_at_us);
    struct hl_quoted quote = hl_host_quote(node->host, reply->bytes, reply->length);
    struct hl_text what;
    const struct hl_fact fact = {.node = node->options.session.endpoint.name, .detail = what.bytes};
    if (!node->session.identity) { /* the greeting did not ask which server this is */
        hl_server_info_read_run(node->session.server_id, reply);
        hl_wrong_server_compare(hl_node_parent(node));
    }
    hl_words_refused(&what, "INFO", reply->type == HL_REPLY_ERROR ? quote.bytes : hl_words_no_uptime,
                     node->options.restart_guard_ms ? hl_words_without_info_guarded : hl_words_without_info);
    hl_handshake_report(node, HL_MISSING_INFO, news == HL_SERVER_INFO_UNREADABLE ? what.bytes : NULL);
    if (news == HL_SERVER_INFO_ANOTHER && !node->parent) {
        hl_words_server_changed(&what, fact.node);
        node->moved_at_us = now_us;
        hl_trace(node->host, HL_SERVER_CHANGED, &fact);
    }
    if (news != HL_SERVER_INFO_NEWS || node->parent)
        return;
    hl_words_restarted(&what, fact.node,
                       (unsigned)((now_us - (uint64_t)node->server_info.started_us) / 1000000 + 1));
    hl_trace(node->host, HL_STORE_RESTARTED, &fact);
}

static void on_memory(struct hl_node *node, const struct hl_reply *reply)
{
    struct hl_text what;
    const struct hl_fact fact = {.node = node->options.session.endpoint.name, .detail = what.bytes};
    if (hl_server_info_read_memory(&node->server_info, reply) != HL_SERVER_INFO_NEWS)
        return;
    hl_words_eviction(&what,
                      hl_host_quote(node->host, node->server_info.policy, strlen(node->server_info.policy)).bytes);
    hl_trace(node->host, HL_EVICTION_RISK, &fact);
}

/* A server that has no sharded channels also refuses; only NOPERM means a missing right. */
static void on_sharded(struct hl_node *node, const struct hl_reply *reply)
{
    node->has_sharded = reply->type != HL_REPLY_ERROR;
    if (node->has_sharded || hl_reply_starts(reply, "NOPERM"))
        (void)hl_handshake_report_error(node, HL_MISSING_SHARDED, "PUBSUB SHARDNUMSUB", reply,
                                        hl_words_without_sharded);
}

static void on_counts(struct hl_node *node, const struct hl_reply *reply)
{
    node->are_counts_refused = reply->type == HL_REPLY_ERROR;
    hl_handshake_report_counts(node, 0);
}

static void on_time(struct hl_node *node, const struct hl_reply *reply)
{
    const struct hl_reply *seconds = hl_reply_item(reply, 0, HL_REPLY_STRING),
                          *micros = hl_reply_item(reply, 1, HL_REPLY_STRING);
    uint64_t asked_us = node->steps[HL_HANDSHAKE_PROBE].sent_us, s, us;
    if (node->options.is_sentinel)
        return;
    node->min_rtt_us = node->mean_rtt_us = hl_now_us(node->host) - asked_us; /* a refusal takes as long as an answer */
    node->rtt_samples = 0;
    if (hl_handshake_report_error(node, HL_MISSING_TIME, "TIME", reply, hl_words_without_time))
        return;
    if (seconds && micros && hl_reply_decimal(seconds->bytes, seconds->length, &s) &&
        hl_reply_decimal(micros->bytes, micros->length, &us))
        hl_clock_learn(node, s * 1000000 + us, asked_us);
}

enum {
    STEP_ROLE, STEP_REPLICATION, STEP_SHARDED, STEP_COUNTS, STEP_SERVER, STEP_MEMORY, STEP_PROBE = HL_HANDSHAKE_PROBE
};

static const struct step {
    const char *words[4]; /* the command; NULL ends it */
    void (*on_answer)(struct hl_node *node, const struct hl_reply *reply);
} steps[HL_HANDSHAKE_STEPS] = {
    [STEP_ROLE] = {{"ROLE"}, on_role},
    [STEP_REPLICATION] = {{"INFO", "replication"}, on_replication},
    [STEP_SHARDED] = {{"PUBSUB", "SHARDNUMSUB", "0"}, on_sharded},
    [STEP_COUNTS] = {{"PUBSUB", "NUMSUB"}, on_counts},
    [STEP_SERVER] = {{"INFO", "server"}, on_server},
    [STEP_MEMORY] = {{"INFO", "memory"}, on_memory},
    [STEP_PROBE] = {{"TIME"}, on_time},
};

unsigned hl_handshake_steps(const struct hl_node *node)
{
    unsigned wanted = 1u << STEP_SERVER | 1u << STEP_PROBE;
    if (node->options.asks_role)
        wanted |= 1u << STEP_ROLE;
    else if (!node->options.is_in_cluster && !node->parent) /* not in a cluster, where a replica answers MOVED */
        wanted |= 1u << STEP_REPLICATION;
    if (!node->parent)
        wanted |= 1u << STEP_MEMORY | 1u << (node->options.is_in_cluster ? STEP_SHARDED : STEP_COUNTS);
    return wanted;
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    const char *const *words = steps[request - request->node->steps].words;
    hl_command_begin(command, request->node->options.is_sentinel ? "PING" : *words);
    while (*++words)
        hl_command_add_word(command, *words);
}

static void on_answer(struct hl_request *request, const struct hl_answer *answer)
{
    if (answer->reply)
        steps[request - request->node->steps].on_answer(request->node, answer->reply);
}

const struct hl_request_ops hl_handshake_ops = {NULL, encode, on_answer};
