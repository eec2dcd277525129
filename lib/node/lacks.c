/* SPDX-License-Identifier: BSD-3-Clause */
/* lacks - see lacks.h. */
#include "node/lacks.h"

#include "node/node.h"

void hl_lacks_tell(struct hl_node *node, enum hl_lack lack, const char *what)
{
    if (what && !node->home && !(node->told_lacks & lack)) /* a further link to the same server has nothing to add */
        hl_node_fault(node, what);
    node->told_lacks = what ? node->told_lacks | lack : node->told_lacks & ~(unsigned)lack;
}

int hl_lacks_is_right(const struct hl_reply *reply) { return reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "NOPERM"); }

int hl_lacks_hear(struct hl_node *node, enum hl_lack lack, const char *command, const struct hl_reply *reply, const char *loss)
{
    struct hl_text what;
    if (reply->type != HL_REPLY_ERROR) {
        hl_lacks_tell(node, lack, NULL);
        return 0;
    }
    hl_text_set(&what, "%s refused: %s%s", command, hl_host_quote(node->host, reply->bytes, reply->length).bytes, loss);
    hl_lacks_tell(node, lack, what.bytes);
    return 1;
}

void hl_lacks_natives_wanted(struct hl_node *node)
{
    node = hl_node_home(node);
    if (node->are_natives_refused)
        hl_lacks_tell(node, HL_LACK_NATIVES, "COMMAND INFO refused: releases and renewals of SIMPLE locks cost the server a script each");
}

/* ---- PUBSUB NUMSUB is said inside of scripts, by pcall: they do not tell that it was refused ---- */

static void encode_counts(struct hl_request *request, struct hl_command *command)
{
    (void)request;
    hl_command_begin(command, "PUBSUB");
    hl_command_add_word(command, "NUMSUB");
}

static void on_counts(struct hl_request *request, const struct hl_answer *answer)
{
    if (answer->reply && answer->was_sent)
        (void)hl_lacks_hear(request->node, HL_LACK_COUNTS, "PUBSUB NUMSUB", answer->reply, ": a FAIR waiter that dies holds up those behind it for 3 s");
}

const struct hl_request_ops hl_lacks_counts_ops = {NULL, encode_counts, on_counts};

/* In a cluster each server was asked for its sharded ones as it came. */
void hl_lacks_counts_wanted(struct hl_node *node)
{
    if (!node->options.asks_sharded && !hl_request_is_busy(&node->counts))
        hl_node_submit(node, &node->counts, node->options.command_timeout_ms, 0);
}
