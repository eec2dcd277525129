/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole clients and real servers with TLS, and no port without: a master that Sentinel replaces and a slot of a cluster that goes elsewhere are
 * followed by both links, and a server that takes over is the one in its certificate, or gets nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "../live/support/fixture.h"
#include "../live/support/sentinels.h"
#include "../live/support/shards.h"
#include "certificates.h"

enum { LEASE_MS = 600000, WAIT_MS = 3000 }; /* LEASE: what ends it is a release */

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

static void pair_begin(struct pair *pair, const char *url, const char *name, hilock_kind kind)
{
    struct hilock_client_options options = trusting(url);
    client_open_with(&pair->holding, &options);
    client_open_with(&pair->waiting, &options);
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
    pair_begin(&mutex, set->url, "stock", HILOCK_MUTEX);
    pair_begin(&fair, set->url, "queue", HILOCK_FAIR);
    until_copied(set);
    sentinels_failover(set, SENTINELS_KILL);
    pair_end(&mutex);
    pair_end(&fair);
    sentinels_mend(set);
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
    sentinels_failover(set, SENTINELS_FORCED);
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
    const struct certificate *right = &certificates.of[CERT_RIGHT];
    const char *const tls[] = {"--tls-cert-file", right->cert_file, "--tls-key-file", right->key_file, "--tls-ca-cert-file",
                               certificates.of[CERT_AUTHORITY].cert_file, "--tls-auth-clients", "no", "--tls-replication", "yes", NULL};
    struct sentinels set;
    (void)state;
    sentinels_start_secured(&set, tls);
    another_master_is_followed(&set);
    a_master_with_another_name_is_told_nothing(&set);
    sentinels_end(&set);
}

/* ---- a cluster ---- */

static void test_in_a_cluster(void **state)
{
    const struct certificate *right = &certificates.of[CERT_RIGHT];
    const char *const tls[] = {"--tls-cert-file", right->cert_file, "--tls-key-file", right->key_file, "--tls-ca-cert-file",
                               certificates.of[CERT_AUTHORITY].cert_file, "--tls-auth-clients", "no", "--tls-replication", "yes", "--tls-cluster", "yes", NULL};
    struct shards set;
    struct pair mutex, fair;
    unsigned slot, from;
    (void)state;
    shards_start_secured(&set, tls);
    slot = shards_slot(&set, "moving");
    from = shards_owner(&set, slot);
    pair_begin(&mutex, set.url, "{moving}:stock", HILOCK_MUTEX);
    pair_begin(&fair, set.url, "{moving}:queue", HILOCK_FAIR);
    shards_migrate(&set, slot, (from + 1) % SHARDS_MASTERS);
    pair_end(&mutex);
    shards_until_copied(&set, "moving");
    shards_failover(&set, (from + 1) % SHARDS_MASTERS, SHARDS_KILL);
    pair_end(&fair);
    shards_mend(&set);
    shards_settle(&set);
    shards_check_clean(&set);
    shards_end(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_behind_sentinels),
        cmocka_unit_test(test_in_a_cluster),
    };
    return cmocka_run_group_tests(tests, certificates_begin, certificates_over);
}
