/* SPDX-License-Identifier: BSD-3-Clause */
/* handshake - the first requests to a node, right after the login and before the node is up. They are SCRIPT LOAD of
 * every script (the server may evict scripts made by EVAL, but not loaded ones); the role, by ROLE behind Sentinel and
 * else by INFO; whether the server has sharded channels, or lets the user count listeners; INFO about the server and
 * its memory; and last TIME, the node's probe, because a sample of the clock is best when fresh. A third link sends
 * only the requests that matter for it, and reports no news about the server. All requests are sent together, and the
 * node is up when all are answered.
 *
 * Some of them need a right that the user may lack. A missing right is reported once, with what is lost by it, and not
 * on every connect. It is reported again only if the user had the right in between, or if the node is another server.
 * PUBSUB NUMSUB matters only to programs whose scripts count listeners. These scripts call it by pcall and do not
 * report a refusal, so the handshake asks for it, too. Invariant: the server may refuse any of these requests, and that
 * is reported; only a role other than master, or a stranger (base/stranger.h), ends the link. */
#ifndef HL_NODE_HANDSHAKE_H
#define HL_NODE_HANDSHAKE_H

#include "node/request.h"

enum { HL_HANDSHAKE_PROBE = 6, HL_HANDSHAKE_STEPS }; /* the probe is the last step, and also the keep-alive */

enum hl_missing_right { /* bits: which missing rights were reported */
    HL_MISSING_NAME = 1,     /* CLIENT SETNAME */
    HL_MISSING_LOAD = 2,     /* SCRIPT LOAD */
    HL_MISSING_ROLE = 4,
    HL_MISSING_SHARDED = 8,  /* PUBSUB SHARDNUMSUB */
    HL_MISSING_INFO = 16,
    HL_MISSING_TIME = 32,
    HL_MISSING_COUNTS = 256, /* PUBSUB NUMSUB */
    HL_MISSING_CLUSTER = 512, /* a cluster's node at a url of one server, without the slot of a key */
    HL_MISSING_SAME_SERVER = 1024, /* two masters of a quorum are one server (masters.c) */
    HL_MISSING_QUEUE = 2048  /* the commands of the wait queue */
};

unsigned hl_handshake_steps(const struct hl_node *node); /* the steps for this node, as bits */
extern const struct hl_request_ops hl_handshake_ops; /* the requests of the steps have these */

/* Reports once, in the words `what`, that the user lacks a right; what NULL: the user has the right. */
void hl_handshake_report(struct hl_node *node, enum hl_missing_right lack, const char *what);
/* Returns 1 if the reply is an error, and reports "<command> refused: <error><loss>". Otherwise the user has the
 * right. */
int hl_handshake_report_error(struct hl_node *node, enum hl_missing_right lack, const char *command,
                              const struct hl_reply *reply, const char *loss);

/* The server refused a waiter its place in the wait queue: MUTEX handles poll there until the next link. */
void hl_handshake_queue_refused(struct hl_node *node, const char *quote, size_t length);
/* Reports that PUBSUB NUMSUB was refused, if a lock needs it; are_wanted: the lock of this call needs it. */
void hl_handshake_report_counts(struct hl_node *node, int are_wanted);

#endif
