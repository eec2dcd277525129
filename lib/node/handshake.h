/* SPDX-License-Identifier: BSD-3-Clause */
/* handshake - the questions to a node right after the login, before any request: SCRIPT LOAD of every script (the
 * server may evict scripts made by EVAL, not loaded ones); where it matters, its ROLE and whether it has sharded
 * channels, or may count listeners; INFO of the server and of its memory; and TIME at the end, because a sample of its
 * clock is best when fresh. A third link asks only what matters there, and reports no news of the server. All questions
 * leave together.
 * Invariant: the server may refuse any of them, which is reported; only a ROLE other than master ends the link. */
#ifndef HL_NODE_HANDSHAKE_H
#define HL_NODE_HANDSHAKE_H

#include "base/reply.h"

struct hl_node;

struct hl_handshake { /* answers to come, in order: scripts, then each step whose bit is set, the lowest first */
    unsigned scripts, steps;
};

void hl_handshake_begin(struct hl_node *node); /* the session is open. A failed send breaks it */
int hl_handshake_is_answered(struct hl_node *node, const struct hl_reply *reply); /* 1: this was the last answer, and
                                                                                     the session goes on */
static inline int hl_handshake_is_over(const struct hl_handshake *handshake)
{
    return !handshake->scripts && !handshake->steps;
}

#endif
