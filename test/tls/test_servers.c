/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole clients and real servers with TLS: every deployment works, by both of its links, also where a master is replaced
 * or a slot moves; what does not is UNREACHABLE in the right words; no server gets plain text, and one of another name
 * gets nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../live/support/fixture.h"
#include "../live/support/sentinels.h"
#include "../live/support/shards.h"
#include "certificates.h"

enum { WAIT_MS = 3000, LEASE_MS = 600000, ARGUMENTS = 16 }; /* LEASE: what ends it is a release */

#define SECRET "s3cret-marker"

/* What a server needs for TLS. */
static void tls_arguments(const char *to[ARGUMENTS], enum certificate_kind kind, const char *wants_client,
                          const char *const more[4])
{
    const struct certificate *own = &certificates.of[kind];
    const char *const arguments[] = {"--tls-cert-file", own->cert_file, "--tls-key-file", own->key_file,
                                     "--tls-ca-cert-file", certificates.of[CERT_AUTHORITY].cert_file,
                                     "--tls-auth-clients", wants_client};
    memset(to, 0, ARGUMENTS * sizeof *to);
    memcpy(to, arguments, sizeof arguments);
    memcpy(to + sizeof arguments / sizeof *arguments, more, 4 * sizeof *more);
}

struct tls_server { /* plain on its unix socket, for the test's own eyes */
    struct server *server;
    struct redis *redis;
    char port[8], url[64];
    const char *arguments[ARGUMENTS];
};

static void tls_server_start(struct tls_server *at, enum certificate_kind certificate, const char *wants_client)
{
    const char *const port[4] = {"--tls-port", at->port};
    snprintf(at->port, sizeof at->port, "%d", server_port());
    snprintf(at->url, sizeof at->url, "rediss://127.0.0.1:%s", at->port);
    tls_arguments(at->arguments, certificate, wants_client, port);
    at->server = server_start(at->arguments);
    at->redis = redis_open(at->server);
}

static void tls_server_end(struct tls_server *at)
{
    fixture_check_clean(at->redis);
    redis_close(at->redis);
    server_end(at->server);
}

static struct hilock_client_options trusting(const char *url)
{
    struct hilock_client_options options = hilock_client_options_default();
    options.url = url;
    options.tls_ca_file = certificates.of[CERT_AUTHORITY].cert_file;
    options.retry_max_ms = 50;
    return options;
}

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
    handle_free(&pair->first);
    handle_free(&pair->second);
    client_close(&pair->holding);
    client_close(&pair->waiting);
}

/* By commands and by subscriptions. */
static void works(const struct hilock_client_options *options)
{
    struct pair pair;
    pair_begin(&pair, options, "stock", HILOCK_MUTEX);
    pair_end(&pair);
}

static void fails(const struct hilock_client_options *options, const char *words)
{
    struct client client;
    struct handle a;
    uint64_t begun_us;
    int is_told;
    client_open_with(&client, options);
    handle_open(&a, &client, "stock", NULL);
    begun_us = check_now_us();
    do { /* until a handshake came to its end, on however busy a machine */
        assert_int_equal(handle_acquire(&a, WAIT_MS), HILOCK_UNREACHABLE);
        is_told = strstr(a.acquired.detail, words) || strstr(client.log, words);
    } while (!is_told && check_now_us() - begun_us < (uint64_t)CHECK_PATIENCE_MS * 1000);
    if (!is_told)
        check_fail("told \"%s\", logged \"%s\", where \"%s\" was to be", a.acquired.detail, client.log, words);
    assert_null(strstr(a.acquired.detail, SECRET));
    handle_free(&a);
    client_close(&client);
}

/* ---- one server ---- */

static void test_one_server(void **state)
{
    struct tls_server at;
    struct hilock_client_options options;
    (void)state;
    tls_server_start(&at, CERT_RIGHT, "no");
    options = trusting(at.url);
    works(&options);
    options.tls_server_name = "locks.example";
    works(&options);
    options.tls_server_name = "evil.example";
    fails(&options, "the server's certificate is not for evil.example");
    options.tls_server_name = NULL;
    options.tls_ca_file = certificates.of[CERT_STRANGER].cert_file;
    fails(&options, "; tls_ca_file or tls_ca_dir must have the authority that signed it");
    options.tls_ca_file = NULL;
    options.tls_ca_dir = certificates.trusted_dir;
    works(&options);
    tls_server_end(&at);
}

/* It is not sent the password. */
static void test_a_server_of_another_name(void **state)
{
    struct tls_server at;
    struct hilock_client_options options;
    (void)state;
    tls_server_start(&at, CERT_WRONG, "no");
    options = trusting(at.url);
    options.password = SECRET;
    fails(&options, "the server's certificate is not for 127.0.0.1");
    assert_int_equal(redis_calls(at.redis, "auth"), 0);
    tls_server_end(&at);
}

static void test_a_client_certificate(void **state)
{
    struct tls_server at;
    struct hilock_client_options options;
    (void)state;
    tls_server_start(&at, CERT_RIGHT, "yes");
    options = trusting(at.url);
    fails(&options, "the server wants a client certificate: give tls_cert_file and tls_key_file");
    options.tls_cert_file = certificates.of[CERT_CLIENT].cert_file;
    options.tls_key_file = certificates.of[CERT_CLIENT].key_file;
    works(&options);
    options.tls_cert_file = certificates.both_file;
    options.tls_key_file = NULL;
    works(&options);
    tls_server_end(&at);
}

static void test_options_that_are_refused(void **state)
{
    struct hilock_client_options options = trusting("rediss://127.0.0.1");
    struct hilock_error error;
    struct client client;
    (void)state;
    client_prepare(&client);
    options.tls_ca_file = "/nonexistent.pem";
    assert_int_equal(client_try(&client, &options, &error), HILOCK_INVALID);
    assert_string_equal(error.text, "cannot read tls_ca_file \"/nonexistent.pem\": No such file or directory");
    options = trusting("rediss://127.0.0.1");
    options.tls_cert_file = certificates.of[CERT_CLIENT].cert_file;
    options.tls_key_file = certificates.locked_file;
    assert_int_equal(client_try(&client, &options, &error), HILOCK_INVALID);
    assert_non_null(strstr(error.text, "has a passphrase, and hilock asks for none: give a key without one"));
    assert_null(strstr(error.text, SECRET));
    client_close(&client);
}

/* A server with TLS gives way to one without, at the same place. */
static void test_no_downgrade(void **state)
{
    struct tls_server at;
    struct hilock_client_options options;
    struct client client;
    struct handle a;
    struct server *plain;
    struct redis *redis;
    const char *arguments[] = {"--port", at.port, NULL};
    (void)state;
    tls_server_start(&at, CERT_RIGHT, "no");
    options = trusting(at.url);
    options.connect_timeout_ms = 500;
    client_open_with(&client, &options);
    handle_open(&a, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&a, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_give(&a), HILOCK_OK);
    redis_close(at.redis);
    server_kill(at.server);
    plain = server_start(arguments);
    redis = redis_open(plain);
    do
        assert_int_equal(handle_acquire(&a, WAIT_MS), HILOCK_UNREACHABLE);
    while (redis_info(redis, "stats", "total_connections_received") <= 2); /* it comes back, and back */
    assert_int_equal(redis_calls(redis, "client|setname") + redis_calls(redis, "evalsha") + redis_calls(redis, "time"), 0);
    redis_close(redis);
    server_end(plain);
    server_restart(at.server);
    at.redis = redis_open(at.server);
    assert_int_equal(handle_acquire(&a, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_give(&a), HILOCK_OK);
    handle_free(&a);
    client_close(&client);
    tls_server_end(&at);
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
    const struct hilock_client_options options = trusting(set->url);
    struct pair mutex, fair;
    pair_begin(&mutex, &options, "stock", HILOCK_MUTEX);
    pair_begin(&fair, &options, "queue", HILOCK_FAIR);
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
    struct hilock_client_options options = trusting(set->url);
    struct client client;
    struct handle stock;
    client_open_with(&client, &options);
    handle_open(&stock, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    certify(set, sentinels_master(set), CERT_WRONG);
    sentinels_failover(set, SERVER_FORCED);
    client_until(&client, is_away, &client, "the old master to be left");
    assert_int_equal(handle_acquire(&stock, WAIT_MS), HILOCK_UNREACHABLE);
    if (!strstr(stock.acquired.detail, "the server's certificate is not for 127.0.0.1"))
        check_fail("told \"%s\"", stock.acquired.detail);
    certify(set, NULL, CERT_RIGHT);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
}

static void test_behind_sentinels(void **state)
{
    static const char *const replicating[4] = {"--tls-replication", "yes"};
    const char *tls[ARGUMENTS];
    struct sentinels set;
    (void)state;
    tls_arguments(tls, CERT_RIGHT, "no", replicating);
    sentinels_start_secured(&set, tls);
    another_master_is_followed(&set);
    a_master_with_another_name_is_told_nothing(&set);
    sentinels_end(&set);
}

/* ---- a cluster ---- */

static void test_in_a_cluster(void **state)
{
    static const char *const joined[4] = {"--tls-replication", "yes", "--tls-cluster", "yes"};
    struct hilock_client_options options;
    const char *tls[ARGUMENTS];
    struct shards set;
    struct pair mutex, fair;
    unsigned slot, from;
    (void)state;
    tls_arguments(tls, CERT_RIGHT, "no", joined);
    shards_start_secured(&set, tls);
    options = trusting(set.url);
    slot = shards_slot(&set, "moving");
    from = shards_owner(&set, slot);
    pair_begin(&mutex, &options, "{moving}:stock", HILOCK_MUTEX);
    pair_begin(&fair, &options, "{moving}:queue", HILOCK_FAIR);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_server),
        cmocka_unit_test(test_a_server_of_another_name),
        cmocka_unit_test(test_a_client_certificate),
        cmocka_unit_test(test_options_that_are_refused),
        cmocka_unit_test(test_no_downgrade),
        cmocka_unit_test(test_behind_sentinels),
        cmocka_unit_test(test_in_a_cluster),
    };
    return cmocka_run_group_tests(tests, certificates_begin, certificates_over);
}
