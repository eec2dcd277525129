/* SPDX-License-Identifier: BSD-3-Clause */
/* prelude - what a node is asked right behind the login, before any request: SCRIPT LOAD of every script (scripts made by EVAL may be evicted
 * by the server, loaded ones are not), where it matters its ROLE and whether it has sharded channels, INFO of the server and of its
 * memory, what it has that others have not, and TIME at the end, for the sample of its clock is best when fresh.
 * Over a third link only what matters there, and it tells no news of the server.
 * All of it leaves in one go. Invariant: a refusal of any of it is borne and told, but for a ROLE that is none of a master. */
#ifndef HL_NODE_PRELUDE_H
#define HL_NODE_PRELUDE_H

#include "base/reply.h"

struct hl_node;

enum hl_prelude_state { HL_PRELUDE_GOES_ON, HL_PRELUDE_OVER, HL_PRELUDE_NO_MASTER };

struct hl_prelude { /* what is to be answered, in order: scripts, then each step whose bit is set, the lowest first */
    unsigned scripts, steps;
};

void hl_prelude_begin(struct hl_node *node); /* the session is open. A failed send breaks it */
enum hl_prelude_state hl_prelude_answered(struct hl_node *node, const struct hl_reply *reply);
static inline int hl_prelude_is_over(const struct hl_prelude *prelude) { return !prelude->scripts && !prelude->steps; }

#endif
