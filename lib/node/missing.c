/* SPDX-License-Identifier: BSD-3-Clause */
/* missing - see missing.h. */
#include "node/missing.h"

#include "node/node.h"

void hl_missing_report(struct hl_node *node, enum hl_missing_right lack, const char *what)
{
    const struct hl_fact fact = {.node = node->options.session.endpoint.name, .detail = what};
    if (what && !node->parent && !(node->reported_missing & lack)) /* a third link has nothing to add */
        hl_trace(node->host, HL_NODE_FAULT, &fact);
    node->reported_missing = what ? node->reported_missing | lack : node->reported_missing & ~(unsigned)lack;
}

int hl_missing_hear(struct hl_node *node, enum hl_missing_right lack, const char *command, const struct hl_reply *reply,
                  const char *loss)
{
    struct hl_text what;
    if (reply->type != HL_REPLY_ERROR) {
        hl_missing_report(node, lack, NULL);
        return 0;
    }
    hl_text_set(&what, "%s refused: %s%s", command, hl_host_quote(node->host, reply->bytes, reply->length).bytes, loss);
    hl_missing_report(node, lack, what.bytes);
    return 1;
}

void hl_missing_queue(struct hl_node *node, const char *quote, size_t length)
{
    struct hl_text what;
    hl_text_set(&what, "no place in a wait queue: %s: MUTEX polls", hl_host_quote(node->host, quote, length).bytes);
    hl_missing_report(node, HL_MISSING_QUEUE, what.bytes);
    node->has_no_queue = 1;
}

void hl_missing_counts(struct hl_node *node, int are_wanted)
{
    static const char loss[] = "PUBSUB NUMSUB refused: a FAIR waiter that dies holds up those behind it for 3 s";
    node->wants_counts = node->wants_counts || are_wanted;
    hl_missing_report(node, HL_MISSING_COUNTS, node->are_counts_refused && node->wants_counts ? loss : NULL);
}
