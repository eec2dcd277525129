/* SPDX-License-Identifier: BSD-3-Clause */
/* refusal - ends what waits at a node for a server that is not there: each attempt met a stranger
 * (base/stranger.h). */
#ifndef HL_NODE_REFUSAL_H
#define HL_NODE_REFUSAL_H

struct hl_node;

/* Answers all that has not left with an error reply of these words. */
void hl_refusal_answer(struct hl_node *node, const char *words);

#endif
