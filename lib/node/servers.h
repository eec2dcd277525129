/* SPDX-License-Identifier: BSD-3-Clause */
/* servers - the servers of a cluster as nodes, and the slots that each of them has, as far as this client knows.
 *
 * A server that was replaced while it was stopped continues with outdated slots, and two such servers agree with each
 * other. So no answer gives a slot to a server whose config-epoch is lower than that of the present owner. This rule
 * does not protect an owner that has been away for a while: the cluster may have been set up from scratch, or no other
 * server may be left to ask.
 * A slot that a server got by MOVED, which has no epoch, goes to another server only by an answer that also names the
 * first server, or after the epoch of the first server is known.
 * If a server kept its slots, but its epoch is newer, then it had lost the slots in between and has them back.
 *
 * There is one node for each address that was ever reported; it is connected only while it is needed.
 * Invariants: a server lives as long as the route of the cluster, because requests point at it. There are at most
 * HL_SERVERS_MAX servers. For an answer that names more, idle servers are reused, if there are any: those without slots
 * that neither the answer nor the url names. */
#ifndef HL_NODE_SERVERS_H
#define HL_NODE_SERVERS_H

#include "base/container.h"
#include "base/table.h"
#include "node/node.h"
#include "node/slots.h"

enum { HL_SERVERS_MAX = 1024 };

struct hl_server {
    struct hl_node node;
    unsigned index, slots;   /* its index in the list, and how many slots it has */
    uint64_t lost_at_us;     /* when its link was lost; 0: it is up, or it never was up */
    int is_losing;           /* some of its slots went to other servers in this turn */
    int is_named;            /* the latest answer names it as a master */
    uint64_t epoch;          /* 1 + the newest config-epoch that any server gave for it; 0: unknown */
    uint64_t answered_epoch; /* the epoch in the latest answer that names it */
    uint64_t known_epoch;    /* the newest epoch known since it last got a slot; 0: unknown */
    int is_back;             /* it has its slots back from another server, as this turn found */
};

struct hl_servers { /* all zero: there is no server yet. The owner fills the members before `list`, and `keyed` */
    struct hl_host *host;
    struct hl_node_options options;  /* the options of each server; the endpoint is that of the server made last */
    const struct hl_node_events *events;
    void *arg;
    void (*on_wrong_slot)(void *arg); /* on_wrong_slot of their subscriptions, with the same arg */
    struct hl_server *list[HL_SERVERS_MAX];
    unsigned hashes[HL_SERVERS_MAX]; /* the hash of the address of each server in the list, to find it faster */
    struct hl_table keyed;           /* stays empty; its hash function is used, which no server can predict */
    unsigned count, seeds;           /* the first `seeds` servers are those of the url */
    int is_sharded;                  /* the cluster has sharded channels */
    struct hl_server *asked;         /* the server that was last asked for the slots */
    struct hl_epochs epochs;         /* the epochs in the answer of `asked` */
    struct hl_server *answered[HL_SLOTS]; /* the owner of each slot by the answer of `asked`; NULL: none */
    struct hl_server *owners[HL_SLOTS];   /* the owner of each slot that this client uses; NULL: none */
};

/* Returns the server at an address, which is made if needed. An empty host means the host of `source`. NULL: no memory,
 * or no room. */
struct hl_server *hl_servers_find(struct hl_servers *servers, const struct hl_address *address,
                                  const struct hl_server *source);
/* Returns the next server after `last` that is up and answers (last NULL: starts at random). NULL: there is none. */
struct hl_server *hl_servers_up(struct hl_servers *servers, const struct hl_server *last);
/* Closes the links of idle servers that have no slots, or were not used for a minute. The last server that is up keeps
 * its link, because it can be asked for the slots; while no server is up, all keep their links. */
void hl_servers_rest(struct hl_servers *servers);

/* Gives a slot to `to`, whose epoch then counts as at least that of the former owner, even if it is unknown. */
void hl_servers_give_slot(struct hl_servers *servers, unsigned slot, struct hl_server *to);
/* Takes the reply of `asked` to CLUSTER SLOTS. Adds to `changes` the slots that got another owner, and the servers that
 * have their slots back: their epoch is newer than when they were last known to have the slots, so other servers had
 * the slots in between, and keys may be lost. Adds to `doubts` the slots that the reply must not move. Returns 0 if the
 * reply has no slots. */
int hl_servers_adopt(struct hl_servers *servers, const struct hl_reply *reply, unsigned *changes, unsigned *doubts);

static inline struct hl_server *hl_server_of(struct hl_node *node)
{
    return HL_CONTAINER(node, struct hl_server, node);
}

#endif
