/* SPDX-License-Identifier: BSD-3-Clause */
/* members - the servers of a cluster as nodes: one for each address that was ever reported, linked only while it is
 * needed.
 * Invariants: a member lives as long as the cluster's route, because requests point at it. There are at most
 * HL_MEMBERS_MAX; a topology that names more reuses idle members, if there are any: those without slots that neither it
 * nor the url names. */
#ifndef HL_NODE_MEMBERS_H
#define HL_NODE_MEMBERS_H

#include "base/table.h"
#include "node/node.h"

enum { HL_MEMBERS_MAX = 1024 };

struct hl_member {
    struct hl_node node; /* first: found from it */
    unsigned index, slots; /* how many slots it has */
    uint64_t lost_us;      /* when its link was lost; 0: it is up, or never was */
    int is_losing;         /* some of its slots went elsewhere, just now */
    int is_named;          /* by the latest topology */
    uint64_t epoch;        /* 1 + its config-epoch: the newest that it, or any server, named. 0: none */
    uint64_t answered_epoch;   /* from the latest topology that names it */
    uint64_t seen_epoch;   /* the newest told since it was last given a slot; 0: none */
    int is_back;           /* another server had its slots meanwhile, as is known just now */
};

struct hl_members {
    struct hl_host *host;
    struct hl_node_options options;
    const struct hl_node_events *events;
    void *arg;
    void (*on_misplaced)(void *arg); /* of their subscriptions */
    struct hl_member *list[HL_MEMBERS_MAX];
    unsigned hashes[HL_MEMBERS_MAX]; /* of their addresses, to look up a long topology */
    struct hl_table keyed;           /* empty, for its hash, which no server can predict */
    unsigned count, seeds; /* the first are the seeds, where the cluster is found */
    int is_sharded; /* their channels */
};

void hl_members_init(struct hl_members *members, struct hl_host *host, const struct hl_node_options *options,
                     const struct hl_node_events *events, void (*on_misplaced)(void *arg), void *arg);
void hl_members_done(struct hl_members *members);

/* An empty host means the host of `teller`. NULL: no memory or no room. */
struct hl_member *hl_members_find(struct hl_members *members, const struct hl_address *address,
                                  const struct hl_member *teller);
void hl_members_shard(struct hl_members *members, int is_sharded);
/* A member that is up and answers: the next after `last` (NULL: a random one). NULL: there is none. */
struct hl_member *hl_members_up(struct hl_members *members, const struct hl_member *last);
/* Closes the links of idle members without slots, and of members idle for that long. The last one that is up stays
 * linked, because it knows the slots; while none is up, all stay. */
void hl_members_rest(struct hl_members *members, uint64_t unused_us);

static inline struct hl_member *hl_member_of(struct hl_node *node) { return (struct hl_member *)(void *)node; }

#endif
