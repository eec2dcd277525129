/* SPDX-License-Identifier: BSD-3-Clause */
/* counts - may scripts count who listens to a channel? They ask PUBSUB NUMSUB by pcall, and do not say that it was refused. */
#ifndef HL_NODE_COUNTS_H
#define HL_NODE_COUNTS_H

struct hl_node;

void hl_counts_wanted(struct hl_node *node); /* a lock is here whose scripts do: asks whether they may */

#endif
