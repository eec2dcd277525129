/* SPDX-License-Identifier: BSD-3-Clause */
/* peers - what a store is among others: a master or a replica, a Sentinel, a server of a cluster. Each has its own view
 * of the others, which may be old: the test's world sets it. Modelled are the answers (ROLE, READONLY, SENTINEL,
 * CLUSTER SLOTS and NODES, MOVED, ASK, TRYAGAIN, CLUSTERDOWN) and the subscriptions that a slot takes with it;
 * replication, elections and the moving of keys belong to the world. */
#ifndef SIM_STORE_PEERS_H
#define SIM_STORE_PEERS_H

#include <limits.h>

#include "store.h"

struct sim_address { char host[16]; int port; }; /* host "": of a cluster, as it was reached */

/* ---- replication ---- */

int sim_store_is_replica(const struct sim_store *store);
void sim_store_set_replica(struct sim_store *store, int is_replica); /* a replica, of any master: ROLE, INFO, and writes
                                                                        are READONLY. In a cluster the map decides */

/* ---- Sentinel ---- */

/* what it calls the master, and what it knows of it */
struct sim_sentinel_knows { const char *master; struct sim_address address; uint64_t epoch; };

/* copied. It answers as a Sentinel, and refuses everything else */
void sim_store_be_sentinel(struct sim_store *store, const struct sim_sentinel_knows *knows);
const struct sim_sentinel_knows *sim_store_knows(const struct sim_store *store);
/* publishes by itself; returns how many listened */
unsigned sim_store_publish(struct sim_store *store, const char *channel, const char *text);
/* publishes for another server; returns how many listened */
unsigned sim_store_hear(struct sim_store *store, int is_sharded, const struct sim_said *said);

/* ---- cluster ---- */

enum { SIM_NODES_MAX = 8, SIM_SLOTS = 16384 };
#define SIM_NOBODY UINT_MAX

struct sim_node { /* master: its index; its own: it is one. epoch: of its config, while it is one */
    struct sim_address address;
    unsigned master;
    uint64_t epoch;
};

struct sim_map { /* as one server knows it */
    unsigned self, count;
    struct sim_node nodes[SIM_NODES_MAX];
    uint8_t owners[SIM_SLOTS]; /* 1 + index of a master; 0: none */
    int leaving, arriving;     /* slots that are moving; -1: none */
    unsigned leaves_to;
    int has_no_shards;         /* its version does not know sharded channels */
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
