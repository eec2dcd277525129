/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole clients and real servers with TLS: every deployment works, by both of its links, also where a master is replaced
 * or a slot moves; what does not is UNREACHABLE in the right words; a server of another name gets nothing. */
#include <string.h>

#include "../live/support/fixture.h"
#include "../live/support/sentinels.h"
#include "../live/support/shards.h"
#include "certificates.h"

enum { WAIT_MS = 3000, LEASE_MS = 600000 }; /* LEASE: what ends it is a release */

/* What a server needs for TLS, and more, ended by NULL. */
static const char *const *tls_arguments(enum certificate_kind kind, const char *wants_client, const char *const *more)
{
    const struct certificate *own = &certificates.of[kind];
    const char *const arguments[] = {"--tls-cert-file", own->cert_file, "--tls-key-file", own->key_file,
                                     "--tls-ca-cert-file", certificates.of[CERT_AUTHORITY].cert_file,
                                     "--tls-auth-clients", wants_client, NULL};
    return server_arguments(arguments, more);
}

struct tls_server { /* plain on its unix socket, for the test's own eyes */
    struct server *server;
    struct redis *redis;
};

static void tls_server_start(struct tls_server *at, enum certificate_kind certificate, const char *wants_client)
{
    at->server = server_start_with_port(tls_arguments(certificate, wants_client, NULL));
    at->redis = redis_open(at->server);
}

static void tls_server_end(struct tls_server *at)
{
    fixture_check_clean(at->redis);
    redis_close(at->redis);
    server_end(at->server);
}

#define TRUSTING(address)                                        \
    HILOCK_CLIENT_OPTIONS(.url = (address), .retry_max_ms = 50,  \
                          .tls_ca_file = certificates.of[CERT_AUTHORITY].cert_file)

/* One holds, and another waits for it. */
struct pair {
    struct client holding, waiting;
    struct handle first, second;
};

static void pair_begin(struct pair *pair, const struct hilock_client_options *options, const char *name,
                       hilock_kind kind)
{
    client_open_with(&pair->holding, options);
    client_open_with(&pair->waiting, options);
    handle_open(&pair->first, &pair->holding, name, HILOCK_LOCK_OPTIONS(.kind = kind, .lease_ms = LEASE_MS));
    handle_open(&pair->second, &pair->waiting, name, HILOCK_LOCK_OPTIONS(.kind = kind, .lease_ms = LEASE_MS));
    assert_int_equal(handle_acquire(&pair->first, HILOCK_FOREVER), HILOCK_OK);
    handle_ask(&pair->second, HILOCK_FOREVER);
    handle_until(&pair->second, &pair->second.waiting, 1, "the second to find it held");
}

/* The hold is where its lock is now, and waiters learn of its end there. */
static void pair_end(struct pair *pair)
{
    client_for_ms(&pair->waiting, 200);
    assert_int_equal(pair->second.acquired.count, 0);
    assert_int_equal(handle_give(&pair->first), HILOCK_OK);
    handle_until(&pair->second, &pair->second.acquired, 1, "the second to be woken");
    assert_int_equal(pair->second.acquired.status, HILOCK_OK);
    assert_true(pair->second.acquired.token > pair->first.acquired.token);
    assert_int_equal(pair->first.lost.count, 0);
    assert_int_equal(handle_give(&pair->second), HILOCK_OK);
    client_end(&pair->holding);
    client_end(&pair->waiting);
}

/* By commands and by subscriptions. */
static void works(const struct hilock_client_options *options)
{
    struct pair pair;
    pair_begin(&pair, options, "stock", HILOCK_MUTEX);
    pair_end(&pair);
}

/* Tries until a handshake came to its end, on however busy a machine. */
static void until_said(struct handle *handle, const char *words)
{
    const uint64_t begun_us = check_now_us();
    do {
        assert_int_equal(handle_acquire(handle, WAIT_MS), HILOCK_UNREACHABLE);
        if (strstr(handle->acquired.detail, words) || strstr(handle->client->log, words))
            return;
    } while (check_now_us() - begun_us < (uint64_t)CHECK_PATIENCE_MS * 1000);
    check_fail("said \"%s\", logged \"%s\", where \"%s\" was to be", handle->acquired.detail, handle->client->log, words);
}

static void fails(const struct hilock_client_options *options, const char *words)
{
    struct client client;
    struct handle stock;
    client_open_with(&client, options);
    handle_open(&stock, &client, "stock", NULL);
    until_said(&stock, words);
    client_end(&client);
}

/* ---- one server ---- */

static const struct meeting {
    const char *name;
    enum certificate_kind server, trusted; /* 0: RIGHT, AUTHORITY */
    const char *server_name;
    int trusts_dir, wants_client, has_client, has_both;
    const char *words; /* of the refusal; NULL: it works */
} meetings[] = {
    {.name = "right address"},
    {.name = "right name", .server_name = "locks.example"},
    {.name = "wrong name", .server_name = "evil.example", .words = "the server's certificate is not for evil.example"},
    {.name = "wrong address", .server = CERT_WRONG, .words = "the server's certificate is not for 127.0.0.1"},
    {.name = "wrong authority", .trusted = CERT_STRANGER, .words = "; tls_ca_file or tls_ca_dir must have the authority that signed it"},
    {.name = "a folder of authorities", .trusts_dir = 1},
    {.name = "no client certificate", .wants_client = 1, .words = "the server wants a client certificate: give tls_cert_file and tls_key_file"},
    {.name = "client certificate", .wants_client = 1, .has_client = 1},
    {.name = "certificate and key in one file", .wants_client = 1, .has_both = 1},
};

static struct hilock_client_options options_of(const struct meeting *meeting, const char *url)
{
    const struct certificate *own = &certificates.of[CERT_CLIENT];
    struct hilock_client_options options = *TRUSTING(url);
    options.tls_server_name = meeting->server_name;
    options.tls_ca_file = meeting->trusts_dir ? NULL : certificates.of[meeting->trusted].cert_file;
    options.tls_ca_dir = meeting->trusts_dir ? certificates.trusted_dir : NULL;
    options.tls_key_file = meeting->has_client ? own->key_file : NULL;
    options.tls_cert_file = meeting->has_client ? own->cert_file : meeting->has_both ? certificates.both_file : NULL;
    return options;
}

/* A server that is refused gets no password. */
static void meet(const struct meeting *meeting)
{
    struct hilock_client_options options;
    struct tls_server at;
    print_message("%s\n", meeting->name);
    tls_server_start(&at, meeting->server ? meeting->server : CERT_RIGHT, meeting->wants_client ? "yes" : "no");
    options = options_of(meeting, at.server->tcp_url);
    if (meeting->words)
        fails(&options, meeting->words);
    else
        works(&options);
    assert_int_equal(redis_calls(at.redis, "auth") == 0, meeting->words != NULL);
    tls_server_end(&at);
}

enum { OF_NAMES = 3, OF_ALL = sizeof meetings / sizeof *meetings };

TEST(the_right_name)
{
    for (size_t i = 0; i < OF_NAMES; i++)
        meet(&meetings[i]);
}

TEST(who_is_who)
{
    for (size_t i = OF_NAMES; i < OF_ALL; i++)
        meet(&meetings[i]);
}

/* ---- Sentinel ---- */

static void until_copied(struct sentinels *set)
{
    struct redis *redis = redis_open(sentinels_master(set));
    redis_do(redis, "SET copied 0");
    redis_do(redis, "DEL copied");
    assert_int_equal(redis_integer(redis, "WAIT %d 60000", SENTINEL_SERVERS - 1), SENTINEL_SERVERS - 1);
    redis_close(redis);
}

static void another_master_is_followed(struct sentinels *set)
{
    struct pair mutex, fair;
    pair_begin(&mutex, TRUSTING(set->url), "stock", HILOCK_MUTEX);
    pair_begin(&fair, TRUSTING(set->url), "queue", HILOCK_FAIR);
    until_copied(set);
    sentinels_failover(set, SERVER_KILL);
    pair_end(&mutex);
    pair_end(&fair);
    server_mend();
    sentinels_settle(set);
}

static void certify(struct sentinels *set, const struct server *all_but, enum certificate_kind kind)
{
    for (int i = 0; i < SENTINEL_SERVERS; i++) {
        struct redis *redis = redis_open(set->servers[i]);
        if (set->servers[i] != all_but)
            redis_do(redis, "CONFIG SET tls-cert-file %s tls-key-file %s", certificates.of[kind].cert_file, certificates.of[kind].key_file);
        redis_close(redis);
    }
}

static int is_away(void *arg) { return !hilock_client_is_connected(((struct client *)arg)->hilock); }

static void a_master_with_another_name_is_told_nothing(struct sentinels *set)
{
    struct client client;
    struct handle stock;
    client_open_with(&client, TRUSTING(set->url));
    handle_open(&stock, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    certify(set, sentinels_master(set), CERT_WRONG);
    sentinels_failover(set, SERVER_KILL); /* the sentinels repeat it; one that is asked for they try once */
    client_until(&client, is_away, &client, "the old master to be left");
    until_said(&stock, "the server's certificate is not for 127.0.0.1");
    server_mend();
    certify(set, NULL, CERT_RIGHT);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    client_end(&client);
}

TEST(behind_sentinels)
{
    static const char *const replicating[] = {"--tls-replication", "yes", NULL};
    struct sentinels set;
    sentinels_start(&set, tls_arguments(CERT_RIGHT, "no", replicating));
    another_master_is_followed(&set);
    a_master_with_another_name_is_told_nothing(&set);
    sentinels_end(&set);
}

/* ---- a cluster ---- */

TEST(in_a_cluster)
{
    /* The node timeout is also the time for a first answer, to a meeting that is asked for once: handshakes take long. */
    static const char *const joined[] = {"--tls-replication", "yes", "--tls-cluster", "yes",
                                         "--cluster-node-timeout", "10000", NULL};
    struct shards set;
    struct pair mutex, fair;
    unsigned slot, from;
    shards_start(&set, tls_arguments(CERT_RIGHT, "no", joined));
    slot = shards_slot(&set, "moving");
    from = shards_owner(&set, slot);
    pair_begin(&mutex, TRUSTING(set.url), "{moving}:stock", HILOCK_MUTEX);
    pair_begin(&fair, TRUSTING(set.url), "{moving}:queue", HILOCK_FAIR);
    shards_migrate(&set, slot, (from + 1) % SHARDS_MASTERS);
    pair_end(&mutex);
    shards_until_copied(&set, "moving");
    shards_failover(&set, (from + 1) % SHARDS_MASTERS, SERVER_KILL);
    pair_end(&fair);
    server_mend();
    shards_settle(&set);
    shards_check_clean(&set);
    shards_end(&set);
}
