/* SPDX-License-Identifier: BSD-3-Clause */
/* test_peers - a store among others answers as peers.h says: a replica, a Sentinel, a server of a cluster while a slot of it moves. The words
 * and the tables are those that Redis 7.0 and 8, Valkey 8.1 and 9 gave. */
#include <stdio.h>
#include <string.h>

#include "base/slot.h"
#include "memory/peers.h"
#include "staged.h"
#include "wire/scripts.h"

enum { WORDS_MAX = 12, SERVERS = 2 };
static const uint64_t start_us = 1700000000123456;

struct server { struct sim_store *store; unsigned connection; char heard[256]; };
struct trial { struct server servers[SERVERS]; };

static void on_message(void *arg, unsigned connection, const struct sim_reply *push)
{
    struct server *server = arg;
    size_t used = strlen(server->heard);
    (void)connection;
    for (size_t i = 0; i < 2; i++)
        used += (size_t)snprintf(server->heard + used, sizeof server->heard - used, "%.*s ", (int)push->items[i].length, push->items[i].bytes);
}

static const struct sim_reply *run(struct server *server, const char *const *words)
{
    size_t lengths[WORDS_MAX];
    int argc = 0;
    for (; words[argc]; argc++)
        lengths[argc] = strlen(words[argc]);
    return sim_store_execute(server->store, server->connection, argc, words, lengths);
}

#define RUN(server, ...) run((server), (const char *const[]){__VA_ARGS__, NULL})
#define Q "hilock:queue:{n}"
#define KEYS3 "3", "{n}", Q, "t{n}"
#define ASKS "9999999999999999 *"
#define ACQUIRE(server) RUN(server, "EVALSHA", hl_script_mutex_acquire.sha1, KEYS3, "u:1", "3000", ASKS, "600000000")
#define RELEASE(server) RUN(server, "EVALSHA", hl_script_mutex_release.sha1, KEYS3, "u:1", "S1000000 600000")
#define SAYS(reply, text) assert_true(sim_reply_starts((reply), (text)))

static unsigned slot(void) { return hl_slot_of("n", 1); }

static int set_up(void **state)
{
    static const struct sim_store_events events = {.message = on_message};
    static struct trial trial;
    memset(&trial, 0, sizeof trial);
    for (int i = 0; i < SERVERS; i++) {
        struct server *server = &trial.servers[i];
        server->store = sim_store_new(&events, server);
        sim_store_set_time(server->store, start_us + (uint64_t)i * 5000000);
        server->connection = sim_store_connect(server->store);
        for (int j = 0; hl_scripts[j]; j++)
            assert_int_equal(RUN(server, "SCRIPT", "LOAD", hl_scripts[j]->text)->length, 40);
    }
    *state = &trial;
    return 0;
}

static int tear_down(void **state)
{
    for (int i = 0; i < SERVERS; i++)
        sim_store_free(((struct trial *)*state)->servers[i].store);
    return 0;
}

/* Two masters: the first has all slots. */
static int set_up_cluster(void **state)
{
    struct sim_map map = {.count = SERVERS, .leaving = -1, .arriving = -1, .nodes = {{{"10.0.0.1", 7000}, 0}, {{"10.0.0.2", 7001}, 1}}};
    set_up(state);
    memset(map.owners, 1, sizeof map.owners);
    for (unsigned i = 0; i < SERVERS; i++) {
        map.self = i;
        sim_store_join(((struct trial *)*state)->servers[i].store, &map);
    }
    return 0;
}

#define ALONE(name) STAGED(name, struct trial, trial, set_up, tear_down)
#define IN_CLUSTER(name) STAGED(name, struct trial, trial, set_up_cluster, tear_down)

static void begin_move(struct trial *trial)
{
    sim_store_begin_leave(trial->servers[0].store, slot(), 1);
    sim_store_begin_arrive(trial->servers[1].store, slot());
}

static void end_move(struct trial *trial)
{
    for (int i = SERVERS; i-- > 0;)
        sim_store_give_slot(trial->servers[i].store, slot(), 1);
}

static int move(struct trial *trial, const char *key) { return sim_store_migrate(trial->servers[0].store, trial->servers[1].store, key, strlen(key)); }

ALONE(test_a_replica_refuses_writes)
{
    struct server *server = ((struct trial *)trial)->servers;
    assert_true(sim_reply_is(&RUN(server, "ROLE")->items[0], "master"));
    sim_store_set_replica(server->store, 1);
    assert_true(sim_reply_is(&RUN(server, "ROLE")->items[0], "slave"));
    SAYS(RUN(server, "SET", "a", "b"), "READONLY You can't write against a read only replica.");
    SAYS(ACQUIRE(server), "READONLY You can't write against a read only replica.");
    assert_int_equal(RELEASE(server)->integer, 0);
    assert_non_null(strstr(RUN(server, "INFO")->bytes, "role:slave"));
}

/* What it says of the master that it knows is read by the library in ../unit/test_sentinel.c. */
ALONE(test_a_sentinel_tells_of_its_master_alone)
{
    struct server *server = ((struct trial *)trial)->servers;
    SAYS(RUN(server, "SENTINEL", "MASTER", "m"), "ERR unknown command");
    sim_store_be_sentinel(server->store, &(struct sim_sentinel_knows){"m", {"10.0.0.7", 7003}, 42});
    SAYS(RUN(server, "SENTINEL", "MASTER", "other"), "ERR No such master");
    SAYS(RUN(server, "GET", "a"), "ERR unknown command");
    assert_true(sim_reply_is(RUN(server, "PING"), "PONG"));
}

IN_CLUSTER(test_a_key_is_where_its_slot_is)
{
    const struct sim_reply *reply;
    SAYS(ACQUIRE(&trial->servers[1]), "MOVED ");
    assert_non_null(strstr(ACQUIRE(&trial->servers[1])->bytes, " 10.0.0.1:7000"));
    assert_int_equal(ACQUIRE(&trial->servers[0])->type, SIM_REPLY_INTEGER);
    assert_int_equal(RUN(&trial->servers[1], "TIME")->type, SIM_REPLY_ARRAY);
    SAYS(RUN(&trial->servers[0], "DEL", "a", "b"), "CROSSSLOT ");
    sim_store_give_slot(trial->servers[1].store, slot(), 1);
    reply = RUN(&trial->servers[1], "CLUSTER", "SLOTS");
    assert_int_equal(reply->count, 3);
    assert_int_equal(reply->items[1].items[0].integer, slot());
    assert_int_equal(reply->items[1].items[1].integer, slot());
    assert_true(sim_reply_is(&reply->items[1].items[2].items[0], "10.0.0.2"));
    assert_true(sim_reply_is(&reply->items[1].items[2].items[2], "0000000000000000000000000000000000000002"));
    sim_store_set_down(trial->servers[0].store, 1);
    SAYS(ACQUIRE(&trial->servers[0]), "CLUSTERDOWN ");
}

/* As a Redis 7.0 writes it. */
IN_CLUSTER(test_what_a_server_tells_of_the_others)
{
    static const char id[] = "0000000000000000000000000000000000000001";
    const char *nodes;
    assert_true(sim_reply_is(&RUN(&trial->servers[0], "CLUSTER", "SLOTS")->items[0].items[2].items[2], id));
    sim_store_set_epoch(trial->servers[0].store, 0, 7);
    nodes = RUN(&trial->servers[0], "CLUSTER", "NODES")->bytes;
    assert_ptr_equal(strstr(nodes, id), nodes);
    assert_non_null(strstr(nodes, " 10.0.0.1:7000@17000 myself,master - 0 0 7 connected 0-16383\n"));
    assert_non_null(strstr(nodes, " 10.0.0.2:7001@17001 master - 0 0 0 connected\n"));
    sim_store_set_master(trial->servers[0].store, 1, 0);
    nodes = RUN(&trial->servers[0], "CLUSTER", "NODES")->bytes;
    assert_non_null(strstr(nodes, " slave 0000000000000000000000000000000000000001 0 0 7 connected\n")); /* its master's epoch */
    begin_move(trial);
    assert_non_null(strstr(RUN(&trial->servers[0], "CLUSTER", "NODES")->bytes, "->-00"));
    assert_non_null(strstr(RUN(&trial->servers[1], "CLUSTER", "NODES")->bytes, "-<-00"));
    SAYS(RUN(&trial->servers[1], "CLUSTER", "SHARDS"), "ERR ");
}

/* Answers of the source and, behind ASKING, of the target. */
static void asked(struct trial *trial, const char *source, const char *target)
{
    if (source)
        SAYS(ACQUIRE(&trial->servers[0]), source);
    assert_true(sim_reply_is(RUN(&trial->servers[1], "ASKING"), "OK"));
    SAYS(ACQUIRE(&trial->servers[1]), target);
    SAYS(ACQUIRE(&trial->servers[1]), "MOVED "); /* ASKING was for one command */
}

IN_CLUSTER(test_while_a_slot_moves)
{
    begin_move(trial);
    asked(trial, "ASK ", "TRYAGAIN ");
    sim_store_give_slot(trial->servers[0].store, slot(), 0); /* it stays */
    (void)ACQUIRE(&trial->servers[0]);
    (void)RUN(&trial->servers[0], "ZADD", Q, "1", "x 1 - 9999999998 1 0 1"); /* somebody polls */
    begin_move(trial);
    asked(trial, NULL, "TRYAGAIN ");
    assert_int_equal(ACQUIRE(&trial->servers[0])->type, SIM_REPLY_INTEGER); /* all are there */
    SAYS(RUN(&trial->servers[0], "EVAL", "return redis.pcall('GET', 'other{n}')", "0"), "ERR Script attempted to access a non local key");
    SAYS(RUN(&trial->servers[0], "EVAL", "return redis.pcall('GET', 't{n}')", "0"), "1");
    assert_true(move(trial, "t{n}"));
    asked(trial, "TRYAGAIN ", "TRYAGAIN ");
    assert_true(move(trial, Q));
    assert_true(move(trial, "{n}"));
    assert_false(move(trial, "{n}"));
    SAYS(ACQUIRE(&trial->servers[0]), "ASK ");
    (void)RUN(&trial->servers[1], "ASKING");
    assert_int_equal(RELEASE(&trial->servers[1])->integer, 1);
    SAYS(RELEASE(&trial->servers[0]), "ASK ");
    end_move(trial);
    SAYS(ACQUIRE(&trial->servers[0]), "MOVED ");
    assert_int_equal(ACQUIRE(&trial->servers[1])->type, SIM_REPLY_INTEGER);
}

#define ASK(server, asks) RUN(server, "EVALSHA", hl_script_mutex_acquire.sha1, KEYS3, "b:1", "3000", asks, "600000000")

/* The records of heartbeats are not among the keys of a script: where there are none, a heartbeat is refused and leaves nothing half done; a
 * release hands over without them. */
IN_CLUSTER(test_a_heartbeat_is_refused_while_a_slot_moves)
{
    struct server *source = &trial->servers[0];
    const unsigned speaker = source->connection;
    uint64_t before;
    (void)ACQUIRE(source);
    assert_int_equal(ASK(source, "9999999999999999 -9 1 g:b 9999999999 400 0 1")->type, SIM_REPLY_ARRAY);
    source->connection = sim_store_connect(source->store);
    (void)RUN(source, "SUBSCRIBE", "g:b");
    source->connection = speaker;
    begin_move(trial);
    before = sim_store_digest(source->store);
    SAYS(ASK(source, "9999999999999999 1700000000123457 1 g:b 9999999999 400 0 1; 2 9999999999 g:b 400"),
         "ERR Script attempted to access a non local key in a cluster node");
    assert_true(sim_store_digest(source->store) == before);
    SAYS(RELEASE(source), "-2 400 1700000000123456 b:1");
    assert_int_equal(RUN(source, "HEXISTS", "{n}", "b:1")->integer, 1);
}

IN_CLUSTER(test_a_key_moves_with_its_time)
{
    (void)ACQUIRE(&trial->servers[0]);
    sim_store_set_time(trial->servers[0].store, start_us + 1000000);
    begin_move(trial);
    assert_true(move(trial, "{n}"));
    (void)RUN(&trial->servers[1], "ASKING");
    assert_int_equal(RUN(&trial->servers[1], "PTTL", "{n}")->integer, 2000);
}

IN_CLUSTER(test_a_slot_takes_its_channels_with_it)
{
    struct server *server = trial->servers;
    SAYS(RUN(&trial->servers[1], "SSUBSCRIBE", "c{n}"), "MOVED ");
    assert_int_equal(RUN(server, "SSUBSCRIBE", "c{n}")->items[2].integer, 1);
    begin_move(trial);
    assert_int_equal(RUN(server, "SSUBSCRIBE", "d{n}")->items[2].integer, 2); /* still there */
    server->connection = sim_store_connect(server->store);
    assert_int_equal(RUN(server, "SPUBLISH", "c{n}", "x")->integer, 1);
    assert_int_equal(RUN(server, "PUBLISH", "c{n}", "x")->integer, 0);
    end_move(trial);
    assert_string_equal(server->heard, "smessage c{n} sunsubscribe c{n} sunsubscribe d{n} ");
    assert_int_equal(sim_store_subscriptions(server->store), 0);
    SAYS(RUN(server, "SUNSUBSCRIBE", "c{n}"), "MOVED ");
    sim_store_set_master(trial->servers[0].store, 0, 1); /* a replica of the other one has its channels, not its keys */
    assert_int_equal(RUN(server, "SSUBSCRIBE", "c{n}")->items[2].integer, 1);
    server->connection = sim_store_connect(server->store);
    SAYS(ACQUIRE(server), "MOVED ");
    assert_true(sim_reply_is(&RUN(server, "ROLE")->items[0], "slave"));
}
