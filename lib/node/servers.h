/* SPDX-License-Identifier: BSD-3-Clause */
/* servers - the servers of a cluster as nodes, and which slots each of them has, as far as we believe it.
 *
 * A server that was replaced while it was stopped goes on with its old knowledge, and two such servers confirm each
 * other: so no answer gives a slot to a server with a lower config-epoch than its present owner. An owner that has been
 * away for a while does not keep its slots by this rule: the cluster may have been set up from scratch, or no other
 * server may be left to ask.
 * A slot that a server got by MOVED, which has no epoch, goes to another server only by an answer that names the
 * former, or after its epoch is known.
 * A newer epoch of a server that kept its slots means that it had lost them meanwhile, and has them back.
 *
 * There is one node for each address that was ever reported, linked only while it is needed.
 * Invariants: a server lives as long as the cluster's route, because requests point at it. There are at most
 * HL_SERVERS_MAX; an answer that names more reuses idle servers, if there are any: those without slots that neither it
 * nor the url names. */
#ifndef HL_NODE_SERVERS_H
#define HL_NODE_SERVERS_H

#include "base/container.h"
#include "base/table.h"
#include "node/node.h"
#include "node/slots.h"

enum { HL_SERVERS_MAX = 1024 };

struct hl_server {
    struct hl_node node;     /* found from it */
    unsigned index, slots;   /* how many slots it has */
    uint64_t lost_us;        /* when its link was lost; 0: it is up, or never was */
    int is_losing;           /* some of its slots went elsewhere, just now */
    int is_named;            /* by the latest answer */
    uint64_t epoch;          /* 1 + its config-epoch: the newest that it, or any server, named. 0: none */
    uint64_t answered_epoch; /* from the latest answer that names it */
    uint64_t known_epoch;    /* the newest told since it was last given a slot; 0: none */
    int is_back;             /* another server had its slots meanwhile, as is known just now */
};

struct hl_servers { /* all zero: none. Its owner fills what comes before `list`, and `keyed` */
    struct hl_host *host;
    struct hl_node_options options;  /* of the latest */
    const struct hl_node_events *events;
    void *arg;
    void (*on_wrong_slot)(void *arg); /* of their subscriptions; with the same arg */
    struct hl_server *list[HL_SERVERS_MAX];
    unsigned hashes[HL_SERVERS_MAX]; /* of their addresses, to look up a long answer */
    struct hl_table keyed;           /* empty, for its hash, which no server can predict */
    unsigned count, seeds;           /* the first are the seeds, where the cluster is found */
    int is_sharded;                  /* their channels */
    struct hl_server *asked;         /* last, for the owners of all slots */
    struct hl_epochs epochs;         /* by its answer */
    struct hl_server *answered[HL_SLOTS]; /* the owner by its answer; NULL: none */
    struct hl_server *owners[HL_SLOTS];   /* likewise, as we believe it */
};

/* An empty host means the host of `source`. NULL: no memory or no room. */
struct hl_server *hl_servers_find(struct hl_servers *servers, const struct hl_address *address,
                                  const struct hl_server *source);
/* A member that is up and answers: the next after `last` (NULL: a random one). NULL: there is none. */
struct hl_server *hl_servers_up(struct hl_servers *servers, const struct hl_server *last);
/* Closes the links of idle members without slots, and of members idle for a minute. The last one that is up stays
 * linked, because it knows the slots; while none is up, all stay. */
void hl_servers_rest(struct hl_servers *servers);

/* From now on `to` counts as no older than the owner before, though its epoch may be unknown. */
void hl_servers_give_slot(struct hl_servers *servers, unsigned slot, struct hl_server *to);
/* The answer of `asked` to CLUSTER SLOTS. Adds to changes: of owners, and servers that are back: their epoch is newer
 * than when they were last known to have their slots, so others had these meanwhile, and their keys may be lost. Adds
 * to doubts: slots that it may not move. 0: it has no slots. */
int hl_servers_adopt(struct hl_servers *servers, const struct hl_reply *reply, unsigned *changes, unsigned *doubts);

static inline struct hl_server *hl_server_of(struct hl_node *node)
{
    return HL_CONTAINER(node, struct hl_server, node);
}

#endif
