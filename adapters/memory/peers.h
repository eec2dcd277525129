/* SPDX-License-Identifier: BSD-3-Clause */
/* peers - what a store is among others: a master or a replica, a Sentinel, a server of a cluster. Each knows of the others what it was told,
 * which may be old: whoever plays the world tells it.
 * Modelled are the answers (ROLE, READONLY, SENTINEL, CLUSTER SLOTS, MOVED, ASK, TRYAGAIN, CLUSTERDOWN) and the subscriptions that a slot takes
 * with it; replication, elections and the moving of keys are the world's. */
#ifndef SIM_STORE_PEERS_H
#define SIM_STORE_PEERS_H

#include <limits.h>

#include "store.h"

struct sim_address { char host[16]; int port; }; /* host "": of a cluster, as it was reached */

/* ---- replication ---- */

int sim_store_is_replica(const struct sim_store *store);
void sim_store_set_replica(struct sim_store *store, int is_replica); /* of whomever: ROLE, INFO, and writes are READONLY. In a cluster the map decides */

/* ---- Sentinel ---- */

struct sim_sentinel_knows { const char *master; struct sim_address address; uint64_t epoch; }; /* what it calls the master, and what it knows of it */

void sim_store_be_sentinel(struct sim_store *store, const struct sim_sentinel_knows *knows); /* copied. It answers nothing that is not a Sentinel's */
const struct sim_sentinel_knows *sim_store_knows(const struct sim_store *store);
unsigned sim_store_publish(struct sim_store *store, const char *channel, const char *text); /* of its own accord; how many heard it */
unsigned sim_store_hear(struct sim_store *store, int is_sharded, const struct sim_said *said); /* what another one was told to publish; how many heard */

/* ---- cluster ---- */

enum { SIM_NODES_MAX = 8, SIM_SLOTS = 16384 };
#define SIM_NOBODY UINT_MAX

struct sim_node { struct sim_address address; unsigned master; }; /* master: its index; its own: it is one */

struct sim_map { /* as one server knows it */
    unsigned self, count;
    struct sim_node nodes[SIM_NODES_MAX];
    uint8_t owners[SIM_SLOTS]; /* 1 + index of a master; 0: nobody */
    int leaving, arriving;     /* slots that are on their way; -1: none */
    unsigned leaves_to;
    int has_no_shards;         /* its version does not know sharded channels */
    int is_down;               /* it is with too few others: it serves nothing */
};

void sim_store_join(struct sim_store *store, const struct sim_map *map); /* copied */
const struct sim_map *sim_store_map(const struct sim_store *store);      /* NULL: it is in no cluster */
/* What it is told. A slot that it loses takes its sharded subscriptions with it (one sunsubscribe for each, unasked), and ends its way. */
void sim_store_give_slot(struct sim_store *store, unsigned slot, unsigned to); /* to: SIM_NOBODY is allowed */
void sim_store_set_master(struct sim_store *store, unsigned node, unsigned master);
void sim_store_begin_leave(struct sim_store *store, unsigned slot, unsigned to);
void sim_store_begin_arrive(struct sim_store *store, unsigned slot);
void sim_store_set_down(struct sim_store *store, int is_down);

/* MIGRATE: the key is there with the time that it had left here, and no more here. 0: there is none here, or one there already. */
int sim_store_migrate(struct sim_store *from, struct sim_store *to, const char *key, size_t length);

#endif
