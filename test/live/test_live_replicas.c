/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants that replicas confirm before they are reported: real WAIT, and a replica that hangs. And, with the name of
 * such a test as the argument, or "failovers" for all, failovers under load: to one of the replicas that confirm a
 * failover forgets no grant, and no two handles hold at once. Of two replicas one is enough for that: the new master
 * grants nothing before the other one follows it, and that then confirms nothing of the old one any more. What only
 * that one confirmed is LOST at the switch. */
#include <stdio.h>
#include <string.h>

#include "support/failovers.h"
#include "support/fixture.h"
#include "support/sentinels.h"
#include "support/shards.h"

static int is_linked(void *replica) { return redis_says(replica, "INFO replication", "master_link_status:up"); }

static int is_free(void *arg) { return redis_lock_keys(arg) == 0; }

/* A grant is at the replica when it is reported. Too few confirm, in time; a WAIT that blocks delays no other lock;
 * and its grant is reported when the replica goes on. */
static void the_only_replica_confirms_and_is_stopped(void **state)
{
    static const char *const master_arguments[] = {"--repl-diskless-sync-delay", "0", NULL};
    char where[32];
    const char *const arguments[] = {"--replicaof", where, NULL};
    struct server *master = server_start_with_port(master_arguments), *replica;
    struct redis *look = redis_at(master);
    struct client client;
    struct handle stock, stuck, other;
    (void)state;
    snprintf(where, sizeof where, "127.0.0.1 %d", master->port);
    replica = server_start_with_port(arguments);
    check_until(is_linked, replica, "the replica's first synchronization");
    redis_do(look, "SET warm 0");
    assert_int_equal(redis_integer(look, "WAIT 1 60000"), 1); /* its first confirmation may take long */
    redis_do(look, "DEL warm");
    redis_do(look, "CONFIG RESETSTAT");
    client_open(&client, master->tcp_url);
    handle_open(&stock, &client, "stock", HILOCK_LOCK_OPTIONS(.replicas = 1, .replica_timeout_ms = 500));
    handle_open(&stuck, &client, "stuck",
                HILOCK_LOCK_OPTIONS(.lease_ms = 600000, .replicas = 1, .replica_timeout_ms = 60000));
    handle_open(&other, &client, "other", NULL);
    assert_int_equal(handle_acquire(&stock, 60000), HILOCK_OK);
    assert_int_equal(redis_integer(redis_at(replica), "EXISTS stock"), 1);
    assert_int_equal(redis_calls(look, "wait"), 1);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    server_suspend(replica);
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_NOT_REPLICATED);
    assert_string_equal(stock.acquired.detail, "0 of 1 replicas confirmed within 500 ms; the grant was undone");
    client_until(&client, is_free, look, "the undo");
    redis_do(look, "CONFIG RESETSTAT");
    handle_ask(&stuck, 60000);
    while (redis_calls(look, "evalsha") == 0)
        client_for_ms(&client, 5);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(handle_acquire(&other, 60000), HILOCK_OK);
        assert_int_equal(handle_give(&other), HILOCK_OK);
    }
    assert_int_equal(stuck.acquired.count, 0);
    server_resume(replica);
    handle_until(&stuck, &stuck.acquired, 1, "the grant");
    assert_int_equal(stuck.acquired.status, HILOCK_OK);
    client_end(&client);
    fixture_check_clean(look);
    server_end(replica);
    server_end(master);
}

/* ---- failovers ---- */

static const char *const cautious[] = {"--min-replicas-to-write", "1", "--min-replicas-max-lag", "2", NULL};

/* serve_ms: where both are to confirm, nothing is granted from one failover until all is well again. */
struct confirming { unsigned replicas, serve_ms; };

static void behind_sentinel(void **state)
{
    const struct confirming *confirming = *state;
    struct sentinels set;
    sentinels_start(&set, cautious);
    struct failovers_of of = failovers_of_sentinels(&set);
    of.serve_ms = confirming->serve_ms;
    failovers_play(&of, failovers_wanted(), confirming->replicas);
    sentinels_end(&set);
}

static void in_a_cluster_the_only_one_confirms(void **state)
{
    struct shards set;
    (void)state;
    shards_start(&set, NULL);
    struct failovers_of of = failovers_of_shards(&set);
    failovers_play(&of, failovers_wanted(), 1);
    shards_end(&set);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_only_replica_confirms_and_is_stopped)};
    const struct CMUnitTest failovers[] = {
        {"behind_sentinel_one_of_two_confirms", behind_sentinel, NULL, NULL, &(struct confirming){1, 0}},
        {"behind_sentinel_both_confirm", behind_sentinel, NULL, NULL, &(struct confirming){2, 3000}},
        cmocka_unit_test(in_a_cluster_the_only_one_confirms),
    };
    if (argc == 1)
        return cmocka_run_group_tests(tests, NULL, NULL);
    if (strcmp(argv[1], "failovers") != 0)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(failovers, NULL, NULL);
}
