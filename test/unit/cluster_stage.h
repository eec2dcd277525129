/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_stage - a fixture with a cluster of three masters, the first of them the fixture's own server, each with a third of the slots. */
#ifndef TEST_UNIT_CLUSTER_STAGE_H
#define TEST_UNIT_CLUSTER_STAGE_H

#include "fixture.h"

enum { CLUSTER_MASTERS = 3 };
#define CLUSTER_URL "redis+cluster://127.0.0.1,10.0.0.2"

struct cluster_stage {
    struct fixture *fixture;
    struct store *stores[CLUSTER_MASTERS];
    struct net_place *places[CLUSTER_MASTERS];
    unsigned epochs; /* config-epochs that were given since the beginning */
};

void cluster_set(struct cluster_stage *stage, struct fixture *fixture);
void cluster_of_old_servers(struct cluster_stage *stage); /* that do not know sharded channels */
void cluster_without_hosts(struct cluster_stage *stage); /* each reports all as "where you reached me" */
struct client *cluster_connect(struct cluster_stage *stage);
struct client *cluster_begin(struct cluster_stage *stage, struct fixture *fixture); /* set and connected */

/* A name whose slot is at this server at first; nth of them. Good until thirty more. */
const char *cluster_name(unsigned at, int nth);
unsigned cluster_slot(const char *name);
struct handle *cluster_handle(struct client *p, const char *tag, unsigned at); /* of the first such name */

/* The slot begins to move; keys go over one by one; all know that it has moved. */
void cluster_begin_move(struct cluster_stage *stage, unsigned slot, unsigned from, unsigned to);
void cluster_move_key(struct cluster_stage *stage, const char *key, unsigned from, unsigned to);
void cluster_move_lock(struct cluster_stage *stage, const char *name, unsigned from, unsigned to); /* all keys of a lock */
void cluster_move(struct cluster_stage *stage, const char *name, unsigned from, unsigned to); /* begin, the lock's keys, end */
void cluster_end_move(struct cluster_stage *stage, unsigned slot, unsigned to);
/* The same servers, as at first, are another cluster, which has that slot elsewhere. */
void cluster_set_anew(struct cluster_stage *stage, unsigned slot, unsigned at);
/* All slots of one are another's, as all know but the one that lost them, unless it knows too. Keys stay where they are: see store_copy. */
void cluster_take_over(struct cluster_stage *stage, unsigned from, unsigned to, int is_known_to_all);

#endif
