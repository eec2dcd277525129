/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinel_node - one Sentinel process: we ask it where the master is, and listen to it for a switch. The sentinel that
 * leads a failover reports the promotion (+promoted-slave) up to seconds before all of them report the switch, and
 * answers with the new address from then on.
 *
 * A question has two halves: the config-epoch (SENTINEL MASTER), and when that is answered the address (SENTINEL
 * GET-MASTER-ADDR-BY-NAME), over the same link. The address may be newer than the epoch, never the other way round.
 * (SENTINEL MASTER has an address too: the old one, with the new epoch, until the switch.) An unanswered half ends the
 * question.
 * A message is a hint to ask: messages of several sentinels, and of several switches, may come late and in any order.
 * Messages are hostile (R9): an impossible address is not passed on. */
#ifndef HL_NODE_SENTINEL_NODE_H
#define HL_NODE_SENTINEL_NODE_H

#include "node/address.h"
#include "node/node.h"

struct hl_sentinel_node;

struct hl_sentinel_node_events {
    void (*on_answered)(void *arg, struct hl_sentinel_node *sentinel_node); /* epoch, address */
    /* unreachable, or knows no such master */
    void (*on_useless)(void *arg, struct hl_sentinel_node *sentinel_node, const char *why);
};

struct hl_sentinel_node {
    struct hl_node node;
    struct hl_request question;
    int is_half_told;                  /* its epoch was answered, and the address is asked for */
    struct hl_listener *switched, *promoted;
    const struct hl_sentinel_node_events *events;
    void *arg;
    const char *master;                /* its name for the master; by reference */
    uint64_t epoch;                    /* 0: there was no failover yet */
    int is_dated, is_guarded;           /* it gave its epoch; it refused, because the user may not ask */
    struct hl_address address;         /* port 0: not known from the present connection */
    uint64_t told_us;                  /* when it gave its address */
    int is_useless;                    /* asked or unreachable, and no address since */
    int is_news;                       /* ask again as soon as it has answered */
};

/* Its node is started and ended as any other. options: of a sentinel, with the endpoint; by reference. 0; -1: no
 * memory */
int hl_sentinel_node_init(struct hl_sentinel_node *sentinel_node, struct hl_host *host,
                          const struct hl_node_options *options, const char *master,
                          const struct hl_sentinel_node_events *events, void *arg);
void hl_sentinel_node_ask(
    struct hl_sentinel_node *sentinel_node); /* asks again after a pending question; nothing while it is away: it is
                                                asked when it connects */

#endif
