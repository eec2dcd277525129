/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong_server - how a node notices that its links lead to the wrong server, and what it does then: one rule for all
 * deployments.
 *
 * A link stays with the server that it once reached, whatever becomes of the name, of the address, or of that server.
 * A new client would be right at once; this is what makes an old one as good. These show that links lead to the
 * wrong server:
 *   - The server is no master: it refuses a write as READONLY, or ROLE or INFO says so as a link comes up.
 *   - It answers LOADING or MASTERDOWN and nothing else for LASTING_US: it may be well one day, but a name that has
 *     several addresses, or another one by now, may lead to one that is well already.
 *   - It says MOVED, and names the very address of this link: the server that is there now is another one (cluster.c).
 *   - Two links of the node are at different servers, by run id or, in a cluster, by the line `myself` of CLUSTER
 *     NODES: an address was switched between the two. The older link is wrong, and it alone.
 * Then the node leaves: it breaks all its links. Each resolves the name again and begins at the next address, and the
 * route asks for the way anew (its on_down): sentinels for the master, a server of the cluster for the slots. The
 * request that showed it was not executed: it waits for the new link, within bounds; then the server's words are its
 * answer. Holds are verified and waiters try again, as when any link comes back.
 *
 * A server that is no master is never up. When every address of a name was found to be such a one, what waits is
 * answered "ELSEWHERE ..", a passing fault that only this folder makes.
 * A link that was left counts as a failed attempt, unless it had been good for long: two servers that are both wrong
 * are not asked in turn without a pause.
 * Invariant: only what the server itself answered makes a node leave; silence and lost links have rules of their own. A
 * server that refuses to say who it is stays believed. */
#ifndef HL_NODE_WRONG_SERVER_H
#define HL_NODE_WRONG_SERVER_H

#include "node/session.h"

struct hl_node;
struct hl_request;

void hl_wrong_server_watch(struct hl_node *node); /* as it is made: its links ask at which server they are */
/* An answer to a request about a lock: why the node is to leave; NULL: it need not. */
const char *hl_wrong_server_check(struct hl_node *node, const struct hl_reply *reply);
void hl_wrong_server_leave(struct hl_node *node, const char *why);
/* The error is READONLY, and the request has made fewer than `most` detours. 1: it has left; submit the request
 * again. */
int hl_wrong_server_detour(struct hl_node *node, struct hl_request *request, const struct hl_reply *error,
                           unsigned most);
/* A link of the node has just learnt at which server it is. */
void hl_wrong_server_compare(struct hl_node *node);
/* A link was left because its server is a replica, and so was every other address of its name: the error
 * "ELSEWHERE <why>", for what waits there. Else of length 0. */
struct hl_reply hl_wrong_server_words(const struct hl_node *node, const char *why, struct hl_text *room);

#endif
