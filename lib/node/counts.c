/* SPDX-License-Identifier: BSD-3-Clause */
/* counts - see counts.h. */
#include "node/counts.h"

#include "node/node.h"

static void encode_counts(struct hl_request *request, struct hl_command *command)
{
    (void)request;
    hl_command_begin(command, "PUBSUB");
    hl_command_add_word(command, "NUMSUB");
}

static void on_counts(struct hl_request *request, const struct hl_answer *answer)
{
    if (answer->reply && answer->was_sent)
        (void)hl_missing_hear(request->node, HL_MISSING_COUNTS, "PUBSUB NUMSUB", answer->reply,
                            ": a FAIR waiter that dies holds up those behind it for 3 s");
}

/* In a cluster each server was asked for its sharded ones when it was added. */
void hl_counts_wanted(struct hl_node *node)
{
    static const struct hl_request_ops ops = {NULL, encode_counts, on_counts};
    if (node->options.asks_sharded || hl_request_is_busy(&node->counts))
        return;
    node->counts.ops = &ops;
    hl_node_submit(node, &node->counts, node->options.command_timeout_ms, 0);
}
