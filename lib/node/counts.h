/* SPDX-License-Identifier: BSD-3-Clause */
/* counts - may scripts count the listeners of a channel? They ask PUBSUB NUMSUB by pcall, and do not report a
 * refusal. */
#ifndef HL_NODE_COUNTS_H
#define HL_NODE_COUNTS_H

struct hl_node;

void hl_counts_wanted(struct hl_node *node); /* a lock here has scripts that count: asks for the right */

#endif
