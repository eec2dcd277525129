/* SPDX-License-Identifier: BSD-3-Clause */
/* denial - a node whose latest attempt to log in was refused answers requests for a grant with that refusal at once: to
 * wait for the next attempt would only delay the same answer, and what waits for a shorter time would be told that the
 * server cannot be reached. Renewals and releases wait: the password may be mended in their time.
 * Invariant: it is on only between a refused login and the next attempt's end. */
#ifndef HL_NODE_DENIAL_H
#define HL_NODE_DENIAL_H

#include "node/node.h"

void hl_denial_init(struct hl_node *node);
void hl_denial_done(struct hl_node *node);
/* Of an attempt; NULL: it was not refused. */
void hl_denial_learn(struct hl_node *node, const struct hl_reply *refusal);
void hl_denial_apply(struct hl_node *node, const struct hl_request *request); /* it was queued */

#endif
