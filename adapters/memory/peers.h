/* SPDX-License-Identifier: BSD-3-Clause */
/* peers - the role of a store among others: a master or a replica, a Sentinel, or a server of a cluster. Each store
 * has its own view of the others, which may be old: the test sets the view. The store models the answers (ROLE,
 * READONLY, SENTINEL, CLUSTER SLOTS and NODES, MOVED, ASK, TRYAGAIN, CLUSTERDOWN), and the end of the sharded
 * subscriptions of a slot that moves away. Replication, elections and moving the keys are up to the test. */
#ifndef SIM_STORE_PEERS_H
#define SIM_STORE_PEERS_H

#include <limits.h>

#include "store.h"

/* In a cluster the host "" stands for the one by which the client has reached the server. */
struct sim_address { char host[16]; int port; };

/* ---- replication ---- */

int sim_store_is_replica(const struct sim_store *store);
void sim_store_set_replica(struct sim_store *store, int is_replica); /* ROLE and INFO then answer as a replica does,
                                                                        and writes are refused with READONLY. In a
                                                                        cluster the map decides instead */

/* ---- Sentinel ---- */

/* A Sentinel's view of one master: the name, and what it knows of the master. */
struct sim_sentinel_knows { const char *master; struct sim_address address; uint64_t epoch; };

/* Makes the store answer as a Sentinel, and refuse everything else. The view is copied. */
void sim_store_be_sentinel(struct sim_store *store, const struct sim_sentinel_knows *knows);
const struct sim_sentinel_knows *sim_store_knows(const struct sim_store *store);
/* Publishes a message of the store's own. Returns how many connections got it. */
unsigned sim_store_publish(struct sim_store *store, const char *channel, const char *text);
/* Publishes a message that another server has passed on. Returns how many connections got it. */
unsigned sim_store_deliver(struct sim_store *store, int is_sharded, const struct sim_said *said);

/* ---- cluster ---- */

enum { SIM_NODES_MAX = 8, SIM_SLOTS = 16384 };
#define SIM_NOBODY UINT_MAX

struct sim_node { /* master: the index of its master; a master has its own index. epoch: the config epoch of a master */
    struct sim_address address;
    unsigned master;
    uint64_t epoch;
};

struct sim_map { /* the cluster as one server knows it */
    unsigned self, count;
    struct sim_node nodes[SIM_NODES_MAX];
    uint8_t owners[SIM_SLOTS]; /* for each slot 1 + the index of its master; 0: it has none */
    int leaving, arriving;     /* the slot that is moving away from here, and the one that is moving here; -1: none */
    unsigned leaves_to;
    int has_no_shards;         /* the server's version has no sharded channels */
    int is_down;               /* it sees too few others, and serves nothing */
};

void sim_store_join(struct sim_store *store, const struct sim_map *map); /* copied */
const struct sim_map *sim_store_map(const struct sim_store *store);      /* NULL: it is in no cluster */
/* Sets its map. A slot that it loses takes its sharded subscriptions with it (one unasked sunsubscribe each), and stops
 * moving. */
void sim_store_give_slot(struct sim_store *store, unsigned slot, unsigned to); /* to: SIM_NOBODY is allowed */
void sim_store_set_master(struct sim_store *store, unsigned node, unsigned master);
void sim_store_set_epoch(struct sim_store *store, unsigned node, uint64_t epoch);
void sim_store_begin_leave(struct sim_store *store, unsigned slot, unsigned to);
void sim_store_begin_arrive(struct sim_store *store, unsigned slot);
void sim_store_set_down(struct sim_store *store, int is_down);

/* MIGRATE: moves the key with the time that it has left. 0: there is none here, or one there already. */
int sim_store_migrate(struct sim_store *from, struct sim_store *to, const char *key, size_t length);

#endif
