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
