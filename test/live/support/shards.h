/* SPDX-License-Identifier: BSD-3-Clause */
/* shards - a Redis Cluster of three masters with a replica each, as processes of the test's own; failovers and slot moves in it. */
#ifndef LIVE_SHARDS_H
#define LIVE_SHARDS_H

#include <stdint.h>

#include "server.h"

enum { SHARDS_SERVERS = 6, SHARDS_MASTERS = 3 };

struct shards {
    struct server *servers[SHARDS_SERVERS];
    char ids[SHARDS_SERVERS][41];
    char url[256];
};

/* more: arguments, ended by NULL; kept. With a certificate among them it is TLS everywhere. Returns once whole. */
void shards_start(struct shards *set, const char *const *more);
void shards_end(struct shards *set);
void shards_settle(struct shards *set); /* until every server is up and each master has its replica */
void shards_check_clean(struct shards *set); /* no client is connected, and nothing is left but tokens */

unsigned shards_slot(struct shards *set, const char *key);
unsigned shards_owner(struct shards *set, unsigned slot); /* index of its master */

/* until its replica is master: then */
uint64_t shards_failover(struct shards *set, unsigned master, enum server_fault fault);
void shards_migrate(struct shards *set, unsigned slot, unsigned to); /* as redis-cli does it, key by key: begin, end */
void shards_begin_move(struct shards *set, unsigned slot, unsigned to); /* keys may go over from here on */
void shards_move_key(struct shards *set, const char *key, unsigned from, unsigned to);
void shards_end_move(struct shards *set, unsigned slot, unsigned from, unsigned to); /* keys that are still there go over */

/* the replica of its master knows what that knew when this was called */
void shards_until_copied(struct shards *set, const char *name);

#endif
