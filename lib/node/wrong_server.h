/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong_server - how a node finds out that its links lead to the wrong server, and what it does then. The rule is the
 * same for all deployments.
 *
 * A link stays with the server that it once reached, even if the name or the address now leads elsewhere, or the server
 * is replaced. A new client would connect to the right server at once; this rule makes an old client do the same. These
 * show that links lead to the wrong server:
 *   - The server is not a master: it refuses a write as READONLY, or ROLE or INFO shows that when a link comes up.
 *   - The server has answered nothing but LOADING or MASTERDOWN for LASTING_US. It may recover one day, but the name
 *     may have another address, where a server is ready now.
 *   - The server answers MOVED and names the address of this link: another server is at that address now (cluster.c).
 *   - Two links of the node are at different servers, by run id or, in a cluster, by the line `myself` of CLUSTER
 *     NODES: an address was switched between the two connects. Only the older link is wrong.
 * Then the node leaves: it breaks all its links (in the last case only the older one). Each link resolves the name
 * again and begins at the next address. The route looks for the right server again (in its on_down): it asks the
 * sentinels for the master, or a server of the cluster for the slots. The request that showed the mistake was not
 * executed. It waits for the new link, within bounds; after that the server's error is its answer. Holds are verified
 * and waiters try again, as whenever a link comes back.
 *
 * A node is never up at a server that is not a master. When every address of a name was found to be a replica, the
 * waiting requests are answered "ELSEWHERE ..", a passing fault that only this folder makes. A link that was left
 * counts as a failed attempt, unless it had worked for long. So two wrong servers are not tried in turn without a
 * pause.
 * Invariant: only the server's own replies make a node leave; silence and lost links have their own rules. A server
 * that refuses to give its role or its id is not left. */
#ifndef HL_NODE_WRONG_SERVER_H
#define HL_NODE_WRONG_SERVER_H

#include "node/session.h"

struct hl_node;
struct hl_request;

/* Makes each link of the node find out which server it has reached. Called when the node is made. */
void hl_wrong_server_watch(struct hl_node *node);
/* Checks a reply to a request about a lock. Returns why the node must leave, or NULL: it need not. */
const char *hl_wrong_server_check(struct hl_node *node, const struct hl_reply *reply);
void hl_wrong_server_leave(struct hl_node *node, const char *why);
/* Leaves if the error is READONLY and the request has made fewer than `most` detours. Returns 1 if it left; the caller
 * then submits the request again. */
int hl_wrong_server_detour(struct hl_node *node, struct hl_request *request, const struct hl_reply *error,
                           unsigned most);
/* Compares the servers of the node's links; called when a link has just learnt at which server it is. */
void hl_wrong_server_compare(struct hl_node *node);
/* Returns the error "ELSEWHERE <why>" for the waiting requests, if the link was left because its server is a replica
 * and the same holds for every other address of the name. Otherwise the error has length 0. */
struct hl_reply hl_wrong_server_words(const struct hl_node *node, const char *why, struct hl_text *room);

#endif
