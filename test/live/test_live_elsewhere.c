/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of a name or an address is another one now: clients that are connected notice it and follow, as a new
 * client would, with few requests and few connections. What else shows it, and what limits it: unit/elsewhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/names.h"
#include "support/redis.h"
#include "support/relay.h"
#include "support/secret.h"
#include "support/server.h"

enum { FEW = 12 }; /* requests or connections: today some hundred a minute where the rule is missing */

static const struct hilock_lock_options short_lease = {.size = sizeof short_lease, .lease_ms = 6000};

/* ---- one server, by name ---- */

struct pair { /* a master and its replica, each behind an address of its own */
    struct server *master, *replica;
    struct relay *first, *second;
    struct names names;
    struct client client;
    char url[128];
};

static void pair_begin(struct pair *pair)
{
    static const char *const soon[] = {"--repl-diskless-sync-delay", "0", NULL};
    char port[8];
    *pair = (struct pair){.master = server_start_with_port(soon)};
    snprintf(port, sizeof port, "%d", pair->master->port);
    const char *const follows[] = {"--replicaof", "127.0.0.1", port, NULL};
    pair->replica = server_start_with_port(server_arguments(soon, follows));
    client_prepare(&pair->client);
    pair->first = relay_open(pair->client.base, "127.0.0.1", 0, pair->master);
    pair->second = relay_open(pair->client.base, "127.0.0.2", relay_port(pair->first), pair->replica);
    snprintf(pair->url, sizeof pair->url, "redis://" LIVE_LOGIN "locks.example:%d", relay_port(pair->first));
}

static void pair_open(struct pair *pair)
{
    names_open(&pair->client, HILOCK_CLIENT_OPTIONS(.url = pair->url), &pair->names);
    client_connect(&pair->client);
}

static int is_copied(void *arg)
{
    struct pair *pair = arg;
    return redis_says(pair->replica, "INFO replication", "master_link_status:up") &&
           redis_integer(redis_at(pair->replica), "DBSIZE") == redis_integer(redis_at(pair->master), "DBSIZE");
}

/* As an operator does it: the old master lives on, as a replica. */
static void pair_swap(struct pair *pair)
{
    check_until(is_copied, pair, "the replica to know all");
    redis_do(redis_at(pair->replica), "REPLICAOF NO ONE");
    redis_do(redis_at(pair->master), "REPLICAOF 127.0.0.1 %d", pair->replica->port);
}

static int has_both_links(void *arg)
{
    const struct pair *pair = arg;
    return relay_open_to(pair->first, pair->master) == 2;
}

static int has_moved(void *arg)
{
    const struct pair *pair = arg;
    return relay_open_to(pair->first, pair->master) == 0 && relay_open_to(pair->second, pair->replica) == 2;
}

/* The relays outlive the client, on its base. */
static void end(struct client *client, struct relay *first, struct relay *second)
{
    struct event_base *base = client->base;
    client->has_own_base = 0;
    client_end(client);
    relay_close(first);
    if (second)
        relay_close(second);
    event_base_free(base);
}

static void pair_end(struct pair *pair)
{
    end(&pair->client, pair->first, pair->second);
    server_end(pair->master);
    server_end(pair->replica);
}

TEST(a_name_that_moves_takes_holds_and_waits_along)
{
    struct pair pair;
    struct handle held = {0}, waits = {0}, other = {0};
    pair_begin(&pair);
    pair.names.addresses[0] = "127.0.0.1";
    pair_open(&pair);
    handle_open(&held, &pair.client, "held", &short_lease);
    handle_open(&waits, &pair.client, "waited", NULL);
    handle_open(&other, &pair.client, "other", NULL);
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    redis_do(redis_at(pair.master), "HSET waited somebody:1 1");
    handle_ask(&waits, HILOCK_FOREVER);
    handle_until(&waits, &waits.waiting, 1, "the wait to begin");
    client_until(&pair.client, has_both_links, &pair, "both links");
    unsigned before = relay_accepted(pair.first);
    pair_swap(&pair);
    pair.names.addresses[0] = "127.0.0.2";
    client_until(&pair.client, has_moved, &pair, "its links to go where the name leads");
    assert_int_equal(handle_acquire(&other, HILOCK_FOREVER), HILOCK_OK);
    redis_do(redis_at(pair.replica), "DEL waited");
    redis_do(redis_at(pair.replica), "PUBLISH redisson_lock__channel:{waited} 0");
    handle_until(&waits, &waits.acquired, 1, "the wait to end");
    assert_int_equal(waits.acquired.status, HILOCK_OK);
    assert_int_equal(held.lost.count, 0);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    assert_in_range(relay_accepted(pair.first) - before, 0, FEW);
    assert_in_range(relay_accepted(pair.second), 2, FEW);
    pair_end(&pair);
}

TEST(a_replica_that_comes_first_is_passed_over)
{
    struct pair pair;
    struct handle handle = {0};
    pair_begin(&pair);
    check_until(is_copied, &pair, "the replica to be one");
    pair.names.addresses[0] = "127.0.0.2";
    pair.names.addresses[1] = "127.0.0.1";
    names_open(&pair.client, HILOCK_CLIENT_OPTIONS(.url = pair.url), &pair.names);
    handle_open(&handle, &pair.client, "stock", NULL);
    assert_int_equal(handle_acquire(&handle, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(handle_give(&handle), HILOCK_OK);
    assert_in_range(relay_accepted(pair.second), 1, 2);
    pair_end(&pair);
}

/* ---- an address that is switched ---- */

static int listens(void *arg) { return redis_channels(redis_at(((struct pair *)arg)->master)) == 1; }

static int are_together(void *arg)
{
    struct pair *pair = arg;
    return relay_open_to(pair->first, pair->master) == 0 && relay_open_to(pair->first, pair->replica) == 2;
}

/* Two servers that both may be written: only which server it is shows it. */
TEST(commands_and_subscriptions_find_the_same_server)
{
    struct pair pair;
    struct handle held = {0}, waits = {0};
    pair_begin(&pair);
    pair.names.addresses[0] = "127.0.0.1";
    pair_open(&pair);
    handle_open(&held, &pair.client, "held", &short_lease);
    handle_open(&waits, &pair.client, "waited", NULL);
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    redis_do(redis_at(pair.master), "HSET waited somebody:1 1");
    handle_ask(&waits, HILOCK_FOREVER);
    handle_until(&waits, &waits.waiting, 1, "the wait to begin");
    client_until(&pair.client, listens, &pair, "the waiter to listen");
    check_until(is_copied, &pair, "the replica to know all");
    redis_do(redis_at(pair.replica), "REPLICAOF NO ONE");
    relay_switch(pair.first, pair.replica);
    redis_do(redis_at(pair.master), "CLIENT KILL TYPE normal SKIPME yes");
    client_until(&pair.client, are_together, &pair, "both links to be at one server");
    redis_do(redis_at(pair.replica), "DEL waited");
    redis_do(redis_at(pair.replica), "PUBLISH redisson_lock__channel:{waited} 0");
    handle_until(&waits, &waits.acquired, 1, "the wait to end");
    assert_int_equal(held.lost.count, 0);
    assert_int_equal(client_stats(&pair.client).links_apart, 1);
    assert_in_range(relay_accepted(pair.first), 4, FEW);
    pair_end(&pair);
}

/* ---- a cluster ---- */

static struct server *cluster_server(void)
{
    static char ports[8][8];
    static unsigned count;
    char *bus = ports[count++ % 8];
    snprintf(bus, sizeof ports[0], "%d", server_port());
    const char *const arguments[] = {"--cluster-enabled", "yes", "--cluster-node-timeout", "1500", "--cluster-port", bus,
                                     "--repl-diskless-sync-delay", "0", "--cluster-require-full-coverage", "no", NULL};
    return server_start_with_port(server_arguments(arguments, NULL));
}

static void announce(struct server *server, int port)
{
    redis_do(redis_at(server), "CONFIG SET cluster-announce-port %d", port);
}

struct meeting { struct server *one, *other; };

static int have_met(void *arg)
{
    const struct meeting *meeting = arg;
    return redis_says(meeting->one, "CLUSTER INFO", "cluster_known_nodes:2") &&
           redis_says(meeting->other, "CLUSTER INFO", "cluster_known_nodes:2") &&
           !redis_says(meeting->one, "CLUSTER NODES", "handshake") && !redis_says(meeting->other, "CLUSTER NODES", "handshake") &&
           redis_says(meeting->one, "CLUSTER INFO", "cluster_state:ok") && redis_says(meeting->other, "CLUSTER INFO", "cluster_state:ok");
}

static void meet(struct server *one, struct server *other)
{
    struct meeting meeting = {one, other};
    redis_do(redis_at(one), "CLUSTER MEET 127.0.0.1 %d %s", other->port, other->arguments[5]);
    check_until(have_met, &meeting, "two servers to know each other");
}

static int is_replica_of(void *arg)
{
    const struct meeting *meeting = arg;
    return redis_says(meeting->other, "INFO replication", "master_link_status:up") &&
           redis_integer(redis_at(meeting->other), "DBSIZE") == redis_integer(redis_at(meeting->one), "DBSIZE");
}

static int is_demoted(void *arg)
{
    const struct meeting *meeting = arg;
    return redis_says(meeting->one, "CLUSTER NODES", "myself,slave");
}

static unsigned moved_by(struct server *server)
{
    const char *text = redis_text(redis_at(server), "INFO errorstats");
    const char *at = strstr(text, "errorstat_MOVED:count=");
    return at ? (unsigned)strtoul(at + strlen("errorstat_MOVED:count="), NULL, 10) : 0;
}

/* The old server follows the new one through the relay, too. */
static int is_left(void *arg)
{
    const struct meeting *meeting = arg;
    return redis_clients(redis_at(meeting->one)) == 0 && redis_clients(redis_at(meeting->other)) == 2;
}

TEST(a_server_of_a_cluster_is_replaced_behind_its_address)
{
    struct meeting meeting = {cluster_server(), cluster_server()};
    struct client client;
    struct handle held = {0}, waits = {0};
    char url[128];
    client_prepare(&client);
    struct relay *relay = relay_open(client.base, "127.0.0.1", 0, meeting.one);
    snprintf(url, sizeof url, "redis+cluster://" LIVE_LOGIN "127.0.0.1:%d", relay_port(relay));
    announce(meeting.one, relay_port(relay));
    announce(meeting.other, relay_port(relay));
    redis_do(redis_at(meeting.one), "CLUSTER ADDSLOTSRANGE 0 16383");
    meet(meeting.one, meeting.other);
    const char *id = redis_text(redis_at(meeting.one), "CLUSTER MYID");
    redis_do(redis_at(meeting.other), "CLUSTER REPLICATE %s", id);
    struct hilock_error error;
    if (client_try(&client, HILOCK_CLIENT_OPTIONS(.url = url), &error) != HILOCK_OK)
        check_fail("open refused: %s", error.text);
    client_connect(&client);
    handle_open(&held, &client, "held", &short_lease);
    handle_open(&waits, &client, "waited", NULL);
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    redis_do(redis_at(meeting.one), "HSET waited somebody:1 1");
    handle_ask(&waits, HILOCK_FOREVER);
    handle_until(&waits, &waits.waiting, 1, "the wait to begin");
    client_until(&client, is_replica_of, &meeting, "the new server to know all"); /* through the relay */
    redis_do(redis_at(meeting.other), "CLUSTER FAILOVER TAKEOVER");
    client_until(&client, is_demoted, &meeting, "the old server to know it");
    relay_switch(relay, meeting.other);
    client_until(&client, is_left, &meeting, "its links to go to the new server");
    redis_do(redis_at(meeting.other), "DEL waited");
    redis_do(redis_at(meeting.other), "SPUBLISH redisson_lock__channel:{waited} 0");
    handle_until(&waits, &waits.acquired, 1, "the wait to end");
    assert_int_equal(held.lost.count, 0);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    assert_in_range(moved_by(meeting.one), 1, FEW);
    assert_in_range(client_stats(&client).connects, 2, FEW);
    end(&client, relay, NULL);
    server_end(meeting.one);
    server_end(meeting.other);
}

/* A request is redirected five times in a row, then waits for a moment; after a hundred such pauses it is given up. The
 * wait goes on, and asks again: within the last try that is less than once more. */
enum { GIVEN_UP = 100 * 6 };

TEST(servers_of_a_cluster_that_send_requests_to_each_other_end_no_wait)
{
    struct meeting meeting = {cluster_server(), cluster_server()};
    struct client client;
    struct handle waits = {0}, tells = {0};
    char url[128], ids[2][48];
    hilock_status status;
    unsigned redirected;
    redis_do(redis_at(meeting.one), "CLUSTER ADDSLOTSRANGE 0 8191");
    redis_do(redis_at(meeting.other), "CLUSTER ADDSLOTSRANGE 8192 16383");
    redis_do(redis_at(meeting.one), "CLUSTER SET-CONFIG-EPOCH 1");
    redis_do(redis_at(meeting.other), "CLUSTER SET-CONFIG-EPOCH 2");
    meet(meeting.one, meeting.other);
    snprintf(ids[0], sizeof ids[0], "%s", redis_text(redis_at(meeting.one), "CLUSTER MYID"));
    snprintf(ids[1], sizeof ids[1], "%s", redis_text(redis_at(meeting.other), "CLUSTER MYID"));
    long long slot = redis_integer(redis_at(meeting.one), "CLUSTER KEYSLOT stock");
    struct server *owner = slot < 8192 ? meeting.one : meeting.other;
    redis_do(redis_at(owner), "CLUSTER SETSLOT %lld NODE %s", slot, ids[slot < 8192]);
    snprintf(url, sizeof url, "redis+cluster://" LIVE_LOGIN "127.0.0.1:%d,127.0.0.1:%d", meeting.one->port, meeting.other->port);
    client_open(&client, url);
    client_connect(&client);
    handle_open(&waits, &client, "stock", NULL);
    handle_ask(&waits, HILOCK_FOREVER);
    handle_open(&tells, &client, "stock", NULL);
    do { /* until the redirections were given up once */
        status = handle_acquire(&tells, 1000);
        redirected = moved_by(meeting.one) + moved_by(meeting.other);
    } while (status == HILOCK_UNREACHABLE && waits.acquired.count == 0 && redirected <= 2 * GIVEN_UP);
    assert_in_range(redirected, FEW, 2 * GIVEN_UP);
    assert_int_equal(status, HILOCK_UNWRITABLE);
    assert_int_equal(waits.acquired.count, 0);
    assert_in_range(client_stats(&client).connects, 2, FEW);
    redis_do(redis_at(owner), "CLUSTER SETSLOT %lld NODE %s", slot, ids[slot >= 8192]);
    handle_until(&waits, &waits.acquired, 1, "the wait to end");
    assert_int_equal(waits.acquired.status, HILOCK_OK);
    client_end(&client);
    server_end(meeting.one);
    server_end(meeting.other);
}
