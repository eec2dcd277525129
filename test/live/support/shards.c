/* SPDX-License-Identifier: BSD-3-Clause */
/* shards - see shards.h. */
#include "shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "redis.h"
#include "secret.h"

enum { SLOTS = 16384, REPLICATED_MS = 150 };

/* ---- what a server says of itself: "id addr flags master ping pong epoch link slot .." ---- */

struct self { int is_master, has_slots; char master[41]; };

static struct self self_of(const struct server *server)
{
    struct self self = {0, 0, ""};
    redisReply *reply = redis_reply(redis_at(server), "CLUSTER NODES");
    char flags[64] = "", master[64] = "", line[512], slots[16] = "";
    const char *at = reply->str ? strstr(reply->str, "myself") : NULL;
    CHECK(at != NULL);
    while (at > reply->str && at[-1] != '\n')
        at--;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    CHECK(sscanf(line, "%*s %*s %63s %63s %*s %*s %*s %*s %15s", flags, master, slots) >= 2);
    self.is_master = strstr(flags, "master") != NULL;
    self.has_slots = *slots && *slots != '[';
    snprintf(self.master, sizeof self.master, "%.40s", master);
    freeReplyObject(reply);
    return self;
}

static int knows_all(const struct server *server)
{
    return redis_says(server, "CLUSTER INFO", "cluster_state:ok") && redis_says(server, "CLUSTER INFO", "cluster_known_nodes:6") &&
           !redis_says(server, "CLUSTER NODES", "fail") && !redis_says(server, "CLUSTER NODES", "handshake");
}

static int is_settled(void *arg)
{
    struct shards *set = arg;
    int masters = 0, replicas = 0;
    for (int i = 0; i < SHARDS_SERVERS; i++) {
        if (!knows_all(set->servers[i]))
            return 0;
        struct self self = self_of(set->servers[i]);
        masters += self.is_master && self.has_slots;
        replicas += !self.is_master && redis_says(set->servers[i], "INFO replication", "master_link_status:up");
    }
    return masters == SHARDS_MASTERS && replicas == SHARDS_SERVERS - SHARDS_MASTERS;
}

void shards_settle(struct shards *set) { check_until(is_settled, set, "the cluster to be whole"); }

/* ---- its making ---- */

static void start_servers(struct shards *set, const char *const *more)
{
    static char ports[SHARDS_SERVERS][8];
    for (int i = 0; i < SHARDS_SERVERS; i++) {
        const char *const common[] = {"--cluster-enabled", "yes", "--cluster-node-timeout", "1500", "--cluster-port", ports[i],
                                      "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
                                      "--repl-backlog-size", "10mb", NULL};
        snprintf(ports[i], sizeof ports[i], "%d", server_port());
        set->servers[i] = server_start_with_port(server_arguments(common, more));
    }
}

/* Behind --cluster-port. */
static const char *bus_port(const struct server *server) { return server->arguments[5]; }

/* A handshake that takes longer than the node timeout is forgotten, by one of them or by both: they meet again. */
static int has_met(const struct shards *set, int one, int other)
{
    if (redis_says(set->servers[one], "CLUSTER NODES", set->ids[other]))
        return 1;
    redis_do(redis_at(set->servers[one]), "CLUSTER MEET 127.0.0.1 %d %s", set->servers[other]->port,
             bus_port(set->servers[other]));
    return 0;
}

static int all_know_all(void *arg)
{
    struct shards *set = arg;
    int is_so = 1;
    for (int i = 1; i < SHARDS_SERVERS; i++)
        is_so = has_met(set, 0, i) && has_met(set, i, 0) && is_so;
    for (int i = 0; i < SHARDS_SERVERS; i++)
        is_so = is_so && knows_all(set->servers[i]);
    return is_so;
}

static void meet(struct shards *set)
{
    for (int i = 0; i < SHARDS_SERVERS; i++) {
        struct redis *redis = redis_at(set->servers[i]);
        snprintf(set->ids[i], sizeof set->ids[i], "%s", redis_text(redis, "CLUSTER MYID"));
        redis_do(redis, "CLUSTER SET-CONFIG-EPOCH %d", i + 1);
        if (i < SHARDS_MASTERS)
            redis_do(redis, "CLUSTER ADDSLOTSRANGE %d %d", i * SLOTS / SHARDS_MASTERS, (i + 1) * SLOTS / SHARDS_MASTERS - 1);
    }
    check_until(all_know_all, set, "the servers to know each other");
    for (int i = SHARDS_MASTERS; i < SHARDS_SERVERS; i++)
        redis_do(redis_at(set->servers[i]), "CLUSTER REPLICATE %s", set->ids[i - SHARDS_MASTERS]);
}

void shards_start(struct shards *set, const char *const *more)
{
    memset(set, 0, sizeof *set);
    start_servers(set, more);
    meet(set);
    shards_settle(set);
    snprintf(set->url, sizeof set->url, "%s+cluster://" LIVE_LOGIN "127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             server_is_secured(set->servers[0]) ? "rediss" : "redis", set->servers[0]->port, set->servers[1]->port,
             set->servers[4]->port);
}

void shards_end(struct shards *set)
{
    server_mend();
    for (int i = 0; i < SHARDS_SERVERS; i++)
        server_end(set->servers[i]);
}

static int nobody_is_there(void *arg)
{
    struct shards *set = arg;
    size_t clients = 0;
    for (int i = 0; i < SHARDS_SERVERS; i++)
        clients += redis_clients(redis_at(set->servers[i]));
    return clients == 0;
}

void shards_check_clean(struct shards *set)
{
    check_until(nobody_is_there, set, "the clients' connections to end");
    for (int i = 0; i < SHARDS_SERVERS; i++)
        CHECK(!self_of(set->servers[i]).is_master || redis_lock_keys(redis_at(set->servers[i])) == 0);
}

/* ---- slots ---- */

unsigned shards_slot(struct shards *set, const char *key)
{
    return (unsigned)redis_integer(redis_at(set->servers[0]), "CLUSTER KEYSLOT %s", key);
}

unsigned shards_owner(struct shards *set, unsigned slot)
{
    redisReply *reply = redis_reply(redis_at(set->servers[0]), "CLUSTER SLOTS");
    unsigned owner = SHARDS_SERVERS;
    for (size_t i = 0; i < reply->elements; i++) {
        redisReply *range = reply->element[i];
        if ((unsigned)range->element[0]->integer > slot || (unsigned)range->element[1]->integer < slot)
            continue;
        for (unsigned j = 0; j < SHARDS_SERVERS; j++)
            if (strcmp(set->ids[j], range->element[2]->element[2]->str) == 0)
                owner = j;
    }
    CHECK(owner < SHARDS_SERVERS);
    freeReplyObject(reply);
    return owner;
}

static void move_keys(struct redis *from, unsigned slot, int port)
{
    for (;;) {
        redisReply *keys = redis_reply(from, "CLUSTER GETKEYSINSLOT %u 100", slot);
        size_t count = keys->elements;
        for (size_t i = 0; i < count; i++)
            freeReplyObject(redis_reply(from, "MIGRATE 127.0.0.1 %d %b 0 5000", port, keys->element[i]->str, keys->element[i]->len));
        freeReplyObject(keys);
        if (!count)
            return;
    }
}

void shards_begin_move(struct shards *set, unsigned slot, unsigned to)
{
    unsigned from = shards_owner(set, slot);
    CHECK(from != to);
    redis_do(redis_at(set->servers[to]), "CLUSTER SETSLOT %u IMPORTING %s", slot, set->ids[from]);
    redis_do(redis_at(set->servers[from]), "CLUSTER SETSLOT %u MIGRATING %s", slot, set->ids[to]);
    check_pause_ms(REPLICATED_MS);
}

void shards_move_key(struct shards *set, const char *key, unsigned from, unsigned to)
{
    redis_do(redis_at(set->servers[from]), "MIGRATE 127.0.0.1 %d %s 0 5000", set->servers[to]->port, key);
}

void shards_end_move(struct shards *set, unsigned slot, unsigned from, unsigned to)
{
    struct redis *source = redis_at(set->servers[from]), *target = redis_at(set->servers[to]);
    move_keys(source, slot, set->servers[to]->port);
    check_pause_ms(REPLICATED_MS);
    move_keys(source, slot, set->servers[to]->port);
    redis_do(target, "CLUSTER SETSLOT %u NODE %s", slot, set->ids[to]);
    redis_do(source, "CLUSTER SETSLOT %u NODE %s", slot, set->ids[to]);
    for (unsigned i = 0; i < SHARDS_SERVERS; i++)
        if (i != from && i != to && self_of(set->servers[i]).is_master)
            redis_do(redis_at(set->servers[i]), "CLUSTER SETSLOT %u NODE %s", slot, set->ids[to]);
}

void shards_migrate(struct shards *set, unsigned slot, unsigned to)
{
    unsigned from = shards_owner(set, slot);
    shards_begin_move(set, slot, to);
    shards_end_move(set, slot, from, to);
}

/* ---- failovers ---- */

/* WAIT waits for what its own connection wrote. */
void shards_until_copied(struct shards *set, const char *name)
{
    struct redis *redis = redis_at(set->servers[shards_owner(set, shards_slot(set, name))]);
    redis_do(redis, "SET copied:{%s} 0", name);
    redis_do(redis, "DEL copied:{%s}", name);
    CHECK(redis_integer(redis, "WAIT 1 60000") >= 1);
}

static unsigned replica_of(struct shards *set, unsigned master)
{
    for (unsigned i = 0; i < SHARDS_SERVERS; i++) {
        struct self self = self_of(set->servers[i]);
        if (!self.is_master && strcmp(self.master, set->ids[master]) == 0)
            return i;
    }
    check_fail("master %u has no replica", master);
}

static int is_master(void *server) { return self_of(server).is_master; }

uint64_t shards_failover(struct shards *set, unsigned master, enum server_fault fault)
{
    struct server *replica = set->servers[replica_of(set, master)];
    server_break(set->servers[master], fault);
    if (fault == SERVER_FORCED)
        redis_do(redis_at(replica), "CLUSTER FAILOVER");
    check_until(is_master, replica, "the replica to be master");
    return check_now_us();
}
