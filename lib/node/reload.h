/* SPDX-License-Identifier: BSD-3-Clause */
/* reload - loads a script again that a server has forgotten, and repeats the requests that need it. Not for ever: a
 * user may lack the right to load.
 * One load serves all requests that miss the script meanwhile: a link keeps its order, so they run after it. */
#ifndef HL_NODE_RELOAD_H
#define HL_NODE_RELOAD_H

#include "base/text.h"
#include "node/request.h"

enum { HL_RELOADS_MAX = 3, HL_SCRIPTS_MAX = 16 };

struct hl_reload {
    const struct hl_script *sent[HL_SCRIPTS_MAX]; /* unanswered loads, in order, each script once. The library has
                                                     fewer */
    unsigned count;
    struct hl_text refusal; /* of the latest load: the server's error; "" */
};

int hl_reload_is_due(struct hl_request *request, const struct hl_reply *reply); /* 1: counted; send it again */
/* Right before the request. 0; -1: the session breaks. */
int hl_reload_send(struct hl_node *node, struct hl_request *request, const struct hl_script *script);
void hl_reload_answered(struct hl_node *node, const struct hl_reply *reply); /* of the oldest load */
/* The script is missing because the user may not load it: the asker gets the refusal of the load. */
struct hl_reply hl_reload_told(const struct hl_node *node, const struct hl_request *request,
                               const struct hl_reply *reply);

#endif
