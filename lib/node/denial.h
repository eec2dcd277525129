/* SPDX-License-Identifier: BSD-3-Clause */
/* denial - after a refused login a node answers requests for a grant with that refusal at once. Waiting for the next
 * attempt would only delay the same answer, and an acquire with a shorter wait would end as "unreachable". Renewals and
 * releases wait, because the password may be corrected in time for them.
 * Invariant: denial is on only between a refused login and the end of the next attempt. */
#ifndef HL_NODE_DENIAL_H
#define HL_NODE_DENIAL_H

#include "node/node.h"

void hl_denial_init(struct hl_node *node);
void hl_denial_done(struct hl_node *node);
/* Takes the result of an attempt to log in; refusal NULL: it was not refused. */
void hl_denial_learn(struct hl_node *node, const struct hl_reply *refusal);
void hl_denial_apply(struct hl_node *node, const struct hl_request *request); /* called after the request was queued */

#endif
