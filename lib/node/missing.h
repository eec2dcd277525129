/* SPDX-License-Identifier: BSD-3-Clause */
/* missing - optional rights of a server's user. The loss that a missing right means is reported once, not on every
 * connect: again only if the user had the right in between, or the node is another server.
 *
 * PUBSUB NUMSUB matters to those programs only whose scripts count listeners. They ask by pcall, and do not report a
 * refusal: so the handshake asks for it, too. */
#ifndef HL_NODE_MISSING_H
#define HL_NODE_MISSING_H

#include "base/reply.h"

struct hl_node;

enum hl_missing_right { /* bits of those reported */
    HL_MISSING_NAME = 1,     /* CLIENT SETNAME */
    HL_MISSING_LOAD = 2,     /* SCRIPT LOAD */
    HL_MISSING_ROLE = 4,
    HL_MISSING_SHARDED = 8,  /* PUBSUB SHARDNUMSUB */
    HL_MISSING_INFO = 16,
    HL_MISSING_TIME = 32,
    HL_MISSING_COUNTS = 256, /* PUBSUB NUMSUB */
    HL_MISSING_TWIN = 1024,  /* of a quorum: each server is a server of its own (quorum.c) */
    HL_MISSING_QUEUE = 2048  /* the commands of the wait queue */
};

/* text NULL: the user has that right. */
void hl_missing_report(struct hl_node *node, enum hl_missing_right lack, const char *what);
/* "<command> refused: <the server's words><loss>", if the reply is an error. 1: it was. */
int hl_missing_hear(struct hl_node *node, enum hl_missing_right lack, const char *command, const struct hl_reply *reply,
                  const char *loss);

/* The server refused a waiter its place: MUTEX polls there until the next link. */
void hl_missing_queue(struct hl_node *node, const char *quote, size_t length);
/* The handshake has asked; are_wanted: a lock here has scripts that count. */
void hl_missing_counts(struct hl_node *node, int are_wanted);

#endif
