/* SPDX-License-Identifier: BSD-3-Clause */
/* handshake - the first requests to a node, right after the login, before it is up: SCRIPT LOAD of every script (the
 * server may evict scripts made by EVAL, not loaded ones); where it matters, its role (by ROLE behind Sentinel, else by
 * INFO) and whether it has sharded channels, or may count listeners; INFO of the server and of its memory; and at the
 * end the node's probe, which is TIME, because a sample of its clock is best when fresh. A third link asks only what
 * matters there, and reports no news of the server. All leave together, and the node is up when all are answered.
 *
 * Some need a right that the server's user may lack. The loss that a missing right means is reported once, not on every
 * connect: again only if the user had the right in between, or the node is another server. PUBSUB NUMSUB matters to
 * those programs only whose scripts count listeners. They ask by pcall, and do not report a refusal: so the handshake
 * asks for it, too.
 * Invariant: the server may refuse any of them, which is reported; only a role other than master ends the link. */
#ifndef HL_NODE_HANDSHAKE_H
#define HL_NODE_HANDSHAKE_H

#include "node/request.h"

enum { HL_HANDSHAKE_PROBE = 6, HL_HANDSHAKE_STEPS }; /* the last of the steps: the keep-alive, too */

enum hl_missing_right { /* bits of those reported */
    HL_MISSING_NAME = 1,     /* CLIENT SETNAME */
    HL_MISSING_LOAD = 2,     /* SCRIPT LOAD */
    HL_MISSING_ROLE = 4,
    HL_MISSING_SHARDED = 8,  /* PUBSUB SHARDNUMSUB */
    HL_MISSING_INFO = 16,
    HL_MISSING_TIME = 32,
    HL_MISSING_COUNTS = 256, /* PUBSUB NUMSUB */
    HL_MISSING_CLUSTER = 512, /* at a url of one server: a cluster's node has no slot of what is asked for */
    HL_MISSING_SAME_SERVER = 1024, /* of a quorum: each server is a server of its own (masters.c) */
    HL_MISSING_QUEUE = 2048  /* the commands of the wait queue */
};

unsigned hl_handshake_steps(const struct hl_node *node); /* those that it wants, as bits */
extern const struct hl_request_ops hl_handshake_ops; /* of them */

/* what NULL: the user has that right. */
void hl_handshake_report(struct hl_node *node, enum hl_missing_right lack, const char *what);
/* "<command> refused: <the server's words><loss>", if the reply is an error. 1: it was. */
int hl_handshake_report_error(struct hl_node *node, enum hl_missing_right lack, const char *command,
                              const struct hl_reply *reply, const char *loss);

/* The server refused a waiter its place: MUTEX polls there until the next link. */
void hl_handshake_queue_refused(struct hl_node *node, const char *quote, size_t length);
/* The handshake has asked; are_wanted: a lock here has scripts that count. */
void hl_handshake_report_counts(struct hl_node *node, int are_wanted);

#endif
