/* SPDX-License-Identifier: BSD-3-Clause */
/* members - the servers of a cluster as nodes: one for each address that was ever told, linked only while something is asked of it.
 * Invariants: a member lives as long as the cluster's route, for requests point at it; there are at most HL_MEMBERS_MAX, and a topology
 * that names more gets for the rest what idle members that have no slots, and were named neither by it nor by the url, can be turned into,
 * or nothing. */
#ifndef HL_NODE_MEMBERS_H
#define HL_NODE_MEMBERS_H

#include "base/table.h"
#include "node/address.h"
#include "node/node.h"

enum { HL_MEMBERS_MAX = 1024 };

struct hl_member {
    struct hl_node node; /* first: found from it */
    struct hl_address address;
    char name[HL_ADDRESS_TEXT_MAX];
    unsigned index, slots; /* how many are its */
    uint64_t lost_us;      /* when its link was; 0: it is up, or never was */
    int is_losing;         /* slots of it went elsewhere, just now */
    int is_named;          /* by the latest topology */
};

struct hl_members {
    struct hl_host *host;
    struct hl_node_options options;
    const struct hl_node_events *events;
    void *arg;
    void (*on_misplaced)(void *arg); /* of their subscriptions */
    struct hl_member *list[HL_MEMBERS_MAX];
    unsigned hashes[HL_MEMBERS_MAX]; /* of their addresses: a long topology is looked up by these */
    struct hl_table keyed;           /* empty: its hash, which no server can foresee */
    unsigned count, seeds; /* the first are the seeds: where the cluster is found */
    int is_sharded; /* their channels */
};

void hl_members_init(struct hl_members *members, struct hl_host *host, const struct hl_node_options *options, const struct hl_node_events *events,
                     void (*on_misplaced)(void *arg), void *arg);
void hl_members_done(struct hl_members *members);

/* An empty host is that of `teller`. NULL: no memory, or no room. */
struct hl_member *hl_members_find(struct hl_members *members, const struct hl_address *address, const struct hl_member *teller);
void hl_members_shard(struct hl_members *members, int is_sharded);
/* One of those that are and answer: the next after `last` (NULL: by chance). NULL: none is. */
struct hl_member *hl_members_up(struct hl_members *members, const struct hl_member *last);
/* Those without slots that are idle, and whoever was idle for so long; but for the last that is up, which knows who has what. While none is up
 * nobody rests. */
void hl_members_rest(struct hl_members *members, uint64_t unused_us);

static inline struct hl_member *hl_member_of(struct hl_node *node) { return (struct hl_member *)(void *)node; }

#endif
