/* SPDX-License-Identifier: BSD-3-Clause */
/* sentry - one Sentinel process: it is asked where the master is, and listened to for a switch. The sentinel that leads a failover tells of
 * the promotion (+promoted-slave) up to seconds before all of them tell of the switch, and answers with the new address from then on.
 *
 * It is one question in two halves: the config-epoch (SENTINEL MASTER), and when that is answered the address
 * (SENTINEL GET-MASTER-ADDR-BY-NAME), over the same link. The address may be newer than the epoch, never the other way
 * round. (SENTINEL MASTER has an address too: the old one, with the new epoch, until the switch.) A half that is not
 * answered ends the question.
 * A message is a hint to ask: messages of several sentinels, and of several switches, may come late
 * and in any order. What it says is hostile (R9): an address that cannot be one is not told on. */
#ifndef HL_NODE_SENTRY_H
#define HL_NODE_SENTRY_H

#include "node/address.h"
#include "node/node.h"

struct hl_sentry;

struct hl_sentry_events {
    void (*on_told)(void *arg, struct hl_sentry *sentry); /* epoch, address */
    void (*on_useless)(void *arg, struct hl_sentry *sentry, const char *why); /* unreachable, or knows no such master */
};

struct hl_sentry {
    struct hl_node node;
    struct hl_request question;
    int is_half_told;                  /* its epoch was, and the address is asked for */
    struct hl_listener *switched, *promoted;
    const struct hl_sentry_events *events;
    void *arg;
    const char *master;                /* what it calls it; by reference */
    uint64_t epoch;                    /* 0 before the first failover of all */
    int is_dated, is_barred;           /* it has told its epoch; it has refused to, for its user may not ask */
    struct hl_address address;         /* port 0: not told by the present connection */
    uint64_t told_us;                  /* when it was */
    int is_useless;                    /* it was asked, or could not be, and has told no address since */
    int is_news;                       /* it is to be asked again as soon as it has answered */
};

/* options: of a guide, with the endpoint; by reference. 0; -1: no memory */
int hl_sentry_init(struct hl_sentry *sentry, struct hl_host *host, const struct hl_node_options *options, const char *master,
                   const struct hl_sentry_events *events, void *arg);
void hl_sentry_start(struct hl_sentry *sentry);
void hl_sentry_done(struct hl_sentry *sentry);
void hl_sentry_ask(struct hl_sentry *sentry); /* once more if it is being asked; nothing while it is away: it is asked when it comes */

#endif
