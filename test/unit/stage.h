/* SPDX-License-Identifier: BSD-3-Clause */
/* stage - fixtures of more servers than one. The fixture's own is the first, server 0: server i is store_at(s, i), and
 * listens at s->net.places[i]. */
#ifndef TEST_UNIT_STAGE_H
#define TEST_UNIT_STAGE_H

#include "fixture.h"

size_t asked_all(struct fixture *s, const char *word); /* commands that all servers executed */

/* ---- a cluster of three masters, each with a third of the slots ---- */

enum { CLUSTER_MASTERS = 3 };
#define CLUSTER_URL "redis+cluster://127.0.0.1,10.0.0.2"

void cluster_set(struct fixture *s);
void cluster_change(struct fixture *s, void (*change)(struct sim_map *map)); /* what each server tells */
struct client *cluster_connect(struct fixture *s);
struct client *cluster_begin(struct fixture *s); /* set and connected */

/* A name whose slot is at this server at first; nth of them. Good until thirty more. */
const char *cluster_name(unsigned at, int nth);
unsigned cluster_slot(const char *name);
/* FAIR: has it, or stands in the queue. Its channel is there before it asks: its one heartbeat is number 1. */
struct handle *waits(struct client *p, const char *tag, const char *name);
struct handle *cluster_handle(struct client *p, const char *tag, unsigned at); /* of the first such name */

/* The slot begins to move; keys go over one by one; all know that it has moved. */
void cluster_begin_move(struct fixture *s, unsigned slot, unsigned from, unsigned to);
void cluster_move_key(struct fixture *s, const char *key, unsigned from, unsigned to);
void cluster_move_lock(struct fixture *s, const char *name, unsigned from, unsigned to); /* all keys of a lock */
void cluster_move(struct fixture *s, const char *name, unsigned from, unsigned to); /* begin, the lock's keys, end */
void cluster_end_move(struct fixture *s, unsigned slot, unsigned to);
void cluster_serve(struct fixture *s, unsigned slot, unsigned owner); /* as all know; SIM_NOBODY */
/* The same servers, as at first, are another cluster, which has that slot elsewhere. */
void cluster_set_anew(struct fixture *s, unsigned slot, unsigned at);
/* All slots of one are another's, as all know but the one that lost them, unless it knows too. Keys stay where they
 * are: see store_copy. */
void cluster_take_over(struct fixture *s, unsigned from, unsigned to, int is_known_to_all);

/* ---- a master, its replica, and three sentinels that name the master ---- */

enum { SENTINELS = 3, REPLICA = 1, FIRST_SENTINEL = 2 }; /* numbers of servers */
#define SENTINEL_URL "redis+sentinel://10.0.0.11,10.0.0.12,10.0.0.13/mymaster"
#define REPLICA_HOST "10.0.0.2"

void sentinels_set(struct fixture *s);
struct client *sentinels_connect(struct fixture *s); /* a client by SENTINEL_URL */
struct client *sentinels_begin(struct fixture *s);   /* set, and such a client */
struct store *replica_of(struct fixture *s);
struct store *sentinel_at(struct fixture *s, unsigned i);
/* The replica, with what it knows, is master from now on; these sentinels know it, and if is_told say so. The old one
 * is a replica if is_demoted, else it goes on as if nothing had been. */
void sentinels_fail_over(struct fixture *s, unsigned sentinels, int is_told, int is_demoted);
int is_at(struct store *store, const struct handle *handle); /* its name is held there, by its client */

/* ---- masters of a quorum ---- */

const char *const *urls_of(unsigned count); /* of the first masters */
struct client *quorum_with(struct fixture *s, unsigned count, struct hilock_client_options options);
struct client *quorum(struct fixture *s, unsigned count); /* connected to all that can be reached */
unsigned kept(struct fixture *s, const char *name);      /* how many masters have it for some client of this fixture */
void crash(struct fixture *s, unsigned i);
void restart_empty(struct fixture *s, unsigned i);       /* also after a crash */
void take_at(struct fixture *s, unsigned first, unsigned count, const char *holder); /* "stock" is another's at these */

/* ---- a multi that gathers ---- */

extern const char *const abc[]; /* three names */
/* A new one of these, refused so often that it takes one after the other; `last` is another's now, by store_take or
 * store_grant. */
struct handle *gathering(struct client *p, const struct hilock_lock_options *options, const char *last,
                         void (*take)(struct store *store, const char *name, const char *holder, uint64_t lease_ms));

/* The store loses its data, and "a", which this multi has, goes to somebody else. The rest is got while "a" is not asked
 * for yet: until it is, the multi waits, and it is held when "a" is free again. */
void loses_the_first(struct fixture *s, const struct handle *m);

/* ---- a replica that no client knows ---- */

extern const struct hilock_lock_options confirmed; /* by one replica */
struct client *shop(struct fixture *s); /* a client that is connected; the replica has what was written after 5 ms */

#endif
