/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong_server - see wrong_server.h. */
#include "node/wrong_server.h"

#include "node/node.h"
#include "node/slots.h"
#include "node/words.h"

enum { LASTING_US = 5000000, LINKS = 3 };

static int is_read_only(const struct hl_reply *reply)
{
    return reply->type == HL_REPLY_ERROR && hl_reply_has_code(reply, "READONLY");
}

const char *hl_wrong_server_check(struct hl_node *node, const struct hl_reply *reply)
{
    int is_error = reply->type == HL_REPLY_ERROR;
    int is_unready = is_error && (hl_reply_has_code(reply, "LOADING") || hl_reply_has_code(reply, "MASTERDOWN"));
    if (!is_unready) {
        node->unready_since_us = 0;
        return is_read_only(reply) ? hl_words_read_only : NULL;
    }
    if (!node->unready_since_us)
        node->unready_since_us = hl_now_us(node->host);
    if (hl_now_us(node->host) - node->unready_since_us >= LASTING_US)
        return hl_words_unready;
    return NULL;
}

void hl_wrong_server_leave(struct hl_node *node, const char *why)
{
    node->unready_since_us = 0;
    hl_session_leave(&node->session, why);
    hl_session_leave(&node->subscriptions.session, why);
    if (node->confirm_node)
        hl_session_leave(&node->confirm_node->session, why);
}

int hl_wrong_server_detour(struct hl_node *node, struct hl_request *request, const struct hl_reply *error,
                           unsigned most)
{
    if (!is_read_only(error) || request->detours >= most)
        return 0;
    request->detours++;
    hl_wrong_server_leave(node, hl_words_read_only);
    return 1;
}

/* Returns 1 if the link is open and it is known which server it reached. */
static int is_known(const struct hl_session *link)
{
    return link && hl_session_is_open(link) && *link->server_id;
}

void hl_wrong_server_compare(struct hl_node *node)
{
    struct hl_session *confirm_node = node->confirm_node ? &node->confirm_node->session : NULL, *latest = NULL;
    struct hl_session *const links[LINKS] = {&node->session, &node->subscriptions.session, confirm_node};
    static const char *const words[LINKS] = {"commands", "subscriptions", "confirmed requests"};
    struct hl_text why;
    for (unsigned i = 0; i < LINKS; i++)
        if (is_known(links[i]) && (!latest || links[i]->opened_us >= latest->opened_us))
            latest = links[i];
    for (unsigned i = 0; i < LINKS; i++) {
        if (!is_known(links[i]) || strcmp(links[i]->server_id, latest->server_id) == 0)
            continue;
        hl_words_links_apart(&why, words[i]);
        hl_trace(node->host, HL_LINKS_APART,
                 &(struct hl_fact){.node = node->options.session.endpoint.name, .detail = why.bytes});
        hl_session_leave(links[i], why.bytes);
    }
}

static void on_subscribed(void *node) { hl_wrong_server_compare(node); }

/* Makes each link ask which server it has reached. Outside of a cluster the command link need not ask, because its
 * handshake has INFO. A sentinel has no locks, so its links do not ask. */
void hl_wrong_server_watch(struct hl_node *node)
{
    static const struct hl_identity_query run = {{"INFO", "server"}, hl_server_info_read_run};
    static const struct hl_identity_query myself = {{"CLUSTER", "NODES"}, hl_slots_read_myself};
    struct hl_subscriptions *subscriptions = &node->subscriptions;
    if (node->options.is_in_cluster)
        node->session.identity = subscriptions->session.identity = &myself;
    else if (!node->options.is_sentinel)
        subscriptions->session.identity = &run;
    subscriptions->session.leader = &node->session;
    subscriptions->on_open = on_subscribed;
    subscriptions->open_arg = node;
}

struct hl_reply hl_wrong_server_words(const struct hl_node *node, const char *why, struct hl_text *room)
{
    const struct hl_session *session = &node->session;
    int is_vain = node->is_replica && session->is_at_wrong_server &&
                  session->wrong_servers >= hl_session_addresses(session);
    hl_text_set(room, "%s%s", is_vain ? "ELSEWHERE " : "", is_vain ? why : "");
    return (struct hl_reply){.type = HL_REPLY_ERROR, .bytes = room->bytes, .length = strlen(room->bytes)};
}
