/* SPDX-License-Identifier: BSD-3-Clause */
/* refusal - ends the requests that wait at a node whose every attempt met a stranger (base/stranger.h). */
#ifndef HL_NODE_REFUSAL_H
#define HL_NODE_REFUSAL_H

struct hl_node;

/* Answers all requests that are not sent yet with an error reply of this text. */
void hl_refusal_answer(struct hl_node *node, const char *words);

#endif
