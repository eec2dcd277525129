/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants that a replica confirms before they are reported: the requests, the cost of a replica that hangs, and what is left behind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture.h"

static struct server *master, *replica;
static struct redis *look;

static int is_linked(void *arg)
{
    (void)arg;
    return redis_says(replica, "INFO replication", "master_link_status:up");
}

static int start(void **state)
{
    static const char *const master_arguments[] = {"--repl-diskless-sync-delay", "0", NULL};
    static const char *arguments[] = {"--replicaof", NULL, NULL};
    static char where[32];
    (void)state;
    master = server_start_with_port(master_arguments);
    snprintf(where, sizeof where, "127.0.0.1 %d", master->port);
    arguments[1] = where;
    replica = server_start_with_port(arguments);
    look = redis_open(master);
    check_until(is_linked, NULL, "the replica's first synchronization");
    return 0;
}

static int end(void **state)
{
    (void)state;
    redis_close(look);
    server_end(replica);
    server_end(master);
    return 0;
}

static int is_there(void *arg)
{
    struct redis *redis = redis_open(replica);
    int is_so = redis_integer(redis, "EXISTS %s", (const char *)arg) == 1;
    redis_close(redis);
    return is_so;
}

static void a_grant_is_at_the_replica(void **state)
{
    struct client client;
    struct handle stock;
    (void)state;
    client_open(&client, master->tcp_url);
    handle_open(&stock, &client, "stock", HILOCK_LOCK_OPTIONS(.replicas = 1));
    redis_do(look, "CONFIG RESETSTAT");
    assert_int_equal(handle_acquire(&stock, 60000), HILOCK_OK);
    assert_true(is_there((void *)(uintptr_t)"stock"));
    assert_int_equal(redis_calls(look, "wait"), 1);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    assert_int_equal(redis_calls(look, "wait"), 1);
    while (redis_clients(look) < 3)
        client_for_ms(&client, 5);
    assert_int_equal(redis_clients(look), 3);
    handle_free(&stock);
    client_close(&client);
    fixture_check_clean(look);
}

static int is_free(void *arg) { return redis_lock_keys(arg) == 0; }

static void the_only_replica_is_stopped(void **state)
{
    struct client client;
    struct handle stock;
    (void)state;
    client_open(&client, master->tcp_url);
    handle_open(&stock, &client, "stock", HILOCK_LOCK_OPTIONS(.replicas = 1, .replica_timeout_ms = 500));
    assert_int_equal(handle_acquire(&stock, 60000), HILOCK_OK); /* the link stands */
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    server_suspend(replica);
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_NOT_REPLICATED);
    assert_string_equal(stock.acquired.detail, "0 of 1 replicas confirmed within 500 ms; the grant was undone");
    assert_int_equal(handle_acquire(&stock, 1700), HILOCK_NOT_REPLICATED);
    client_until(&client, is_free, look, "the undo");
    handle_ask(&stock, 60000);
    client_for_ms(&client, 700);
    assert_int_equal(stock.acquired.count, 3);
    server_resume(replica);
    handle_until(&stock, &stock.acquired, 4, "the grant");
    assert_int_equal(stock.acquired.status, HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
    fixture_check_clean(look);
}

/* Fifty rounds of another lock are over before the WAIT is. */
static void a_blocked_WAIT_delays_no_other_lock(void **state)
{
    struct client client;
    struct handle stuck, other;
    (void)state;
    client_open(&client, master->tcp_url);
    handle_open(&stuck, &client, "stuck", HILOCK_LOCK_OPTIONS(.lease_ms = 600000, .replicas = 1, .replica_timeout_ms = 20000));
    handle_open(&other, &client, "other", NULL);
    assert_int_equal(handle_acquire(&stuck, 60000), HILOCK_OK);
    assert_int_equal(handle_give(&stuck), HILOCK_OK);
    redis_do(look, "CONFIG RESETSTAT");
    server_suspend(replica);
    handle_ask(&stuck, 60000);
    while (redis_calls(look, "evalsha") == 0)
        client_for_ms(&client, 5);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(handle_acquire(&other, 60000), HILOCK_OK);
        assert_int_equal(handle_give(&other), HILOCK_OK);
    }
    assert_int_equal(stuck.acquired.count, 1);
    server_resume(replica);
    handle_until(&stuck, &stuck.acquired, 2, "the grant");
    assert_int_equal(stuck.acquired.status, HILOCK_OK);
    assert_true(stuck.acquired.at_us > other.released.at_us);
    assert_int_equal(handle_give(&stuck), HILOCK_OK);
    handle_free(&stuck);
    handle_free(&other);
    client_close(&client);
    fixture_check_clean(look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grant_is_at_the_replica),
        cmocka_unit_test(the_only_replica_is_stopped),
        cmocka_unit_test(a_blocked_WAIT_delays_no_other_lock),
    };
    return cmocka_run_group_tests(tests, start, end);
}
