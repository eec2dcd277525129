/* SPDX-License-Identifier: BSD-3-Clause */
/* lacks - the rights that a server's user may lack and be served all the same. What is lost by it is told once, not on every connect: again only
 * when the user had the right in between, or when the node is another server.
 *
 * Two are looked for only where they matter: a program without SIMPLE locks does not need COMMAND INFO, nor one without FAIR locks PUBSUB (counts.h). */
#ifndef HL_NODE_LACKS_H
#define HL_NODE_LACKS_H

#include "base/reply.h"

struct hl_node;

enum hl_lack { /* bits of told */
    HL_LACK_NAME = 1,     /* CLIENT SETNAME */
    HL_LACK_LOAD = 2,     /* SCRIPT LOAD */
    HL_LACK_ROLE = 4,
    HL_LACK_SHARDED = 8,  /* PUBSUB SHARDNUMSUB */
    HL_LACK_INFO = 16,
    HL_LACK_TIME = 32,
    HL_LACK_NATIVES = 64, /* COMMAND INFO */
    HL_LACK_NATIVE = 128, /* a native command itself */
    HL_LACK_COUNTS = 256, /* PUBSUB NUMSUB */
    HL_LACK_EPOCH = 512,  /* SENTINEL MASTER */
    HL_LACK_TWIN = 1024   /* of a quorum: a server of its own (quorum.c) */
};

/* what NULL: the user has that right. */
void hl_lacks_tell(struct hl_node *node, enum hl_lack lack, const char *what);
/* "<command> refused: <the server's words><loss>", if the reply is an error. 1: it was. */
int hl_lacks_hear(struct hl_node *node, enum hl_lack lack, const char *command, const struct hl_reply *reply, const char *loss);
int hl_lacks_is_right(const struct hl_reply *reply); /* an error, and about a right */

void hl_lacks_natives_wanted(struct hl_node *node); /* a lock is here that native commands could serve */

#endif
