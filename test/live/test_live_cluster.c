/* SPDX-License-Identifier: BSD-3-Clause */
/* A Redis Cluster: each lock at the server of its slot, through slots that move and servers that take over. */
#include <stdio.h>

#include "support/failovers.h"
#include "support/fixture.h"
#include "support/shards.h"

enum { MOVES_MAX = 512 };

static struct shards set;

static int start(void **state)
{
    (void)state;
    shards_start(&set, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    shards_end(&set);
    return 0;
}

/* Every server gets some, and what is asked of it is asked there at once. */
static void locks_live_at_the_server_of_their_slot(void **state)
{
    enum { LOCKS = 60 };
    static struct handle handles[LOCKS];
    struct client client;
    unsigned at[SHARDS_SERVERS] = {0};
    char name[32];
    (void)state;
    client_open(&client, set.url);
    for (int i = 0; i < LOCKS; i++) {
        snprintf(name, sizeof name, i % 2 ? "stock:%d" : "{stock:%d}:x", i);
        handle_open(&handles[i], &client, name, NULL);
        handle_ask(&handles[i], 60000);
        at[shards_owner(&set, shards_slot(&set, name))]++;
    }
    for (int i = 0; i < LOCKS; i++) {
        handle_until(&handles[i], &handles[i].acquired, 1, "the grant");
        assert_int_equal(handles[i].acquired.status, HILOCK_OK);
    }
    for (unsigned i = 0; i < SHARDS_MASTERS; i++) {
        struct redis *redis = redis_open(set.servers[i]);
        assert_true(at[i] > 0);
        assert_int_equal(redis_lock_keys(redis), at[i]);
        redis_close(redis);
    }
    for (int i = 0; i < LOCKS; i++) {
        assert_int_equal(handle_give(&handles[i]), HILOCK_OK);
        handle_free(&handles[i]);
    }
    client_close(&client);
    shards_check_clean(&set);
}

/* The message comes from another client, and the lease is far longer than the test's patience. */
static void a_waiter_is_woken(void **state)
{
    struct client holding, waiting;
    struct handle first, second;
    (void)state;
    client_open(&holding, set.url);
    client_open(&waiting, set.url);
    for (int i = 0; i < 8; i++) {
        char name[32];
        snprintf(name, sizeof name, "woken:%d", i);
        handle_open(&first, &holding, name, HILOCK_LOCK_OPTIONS(.lease_ms = 600000));
        handle_open(&second, &waiting, name, HILOCK_LOCK_OPTIONS(.lease_ms = 600000));
        assert_int_equal(handle_acquire(&first, 60000), HILOCK_OK);
        handle_ask(&second, HILOCK_FOREVER);
        handle_until(&second, &second.waiting, 1, "WAITING");
        client_for_ms(&waiting, 50);
        assert_int_equal(handle_give(&first), HILOCK_OK);
        handle_until(&second, &second.acquired, 1, "the grant");
        assert_int_equal(second.acquired.status, HILOCK_OK);
        assert_int_equal(handle_give(&second), HILOCK_OK);
        handle_free(&first);
        handle_free(&second);
    }
    assert_true(client_stats(&waiting).wakeups >= 8);
    client_close(&holding);
    client_close(&waiting);
    shards_check_clean(&set);
}

static void a_hold_and_a_wait_move_with_their_slot(void **state)
{
    struct client holding, waiting;
    struct handle first, second;
    unsigned slot, from;
    (void)state;
    client_open(&holding, set.url);
    client_open(&waiting, set.url);
    handle_open(&first, &holding, "moving", HILOCK_LOCK_OPTIONS(.lease_ms = 600000));
    handle_open(&second, &waiting, "moving", HILOCK_LOCK_OPTIONS(.lease_ms = 600000));
    slot = shards_slot(&set, "moving");
    from = shards_owner(&set, slot);
    assert_int_equal(handle_acquire(&first, 60000), HILOCK_OK);
    handle_ask(&second, HILOCK_FOREVER);
    handle_until(&second, &second.waiting, 1, "WAITING");
    shards_migrate(&set, slot, (from + 1) % SHARDS_MASTERS);
    client_for_ms(&waiting, 500);
    assert_int_equal(handle_give(&first), HILOCK_OK);
    handle_until(&second, &second.acquired, 1, "the grant");
    assert_int_equal(second.acquired.status, HILOCK_OK);
    assert_true(second.acquired.token > first.acquired.token);
    assert_int_equal(first.lost.count, 0);
    assert_int_equal(handle_give(&second), HILOCK_OK);
    handle_free(&first);
    handle_free(&second);
    client_close(&holding);
    client_close(&waiting);
    shards_migrate(&set, slot, from);
    shards_check_clean(&set);
}

static void every_waiter_is_served_through_slot_moves(void **state)
{
    unsigned count = check_count_wanted("MIGRATIONS", 3);
    static struct load_spans spans[LOAD_KINDS];
    static uint64_t at_us[MOVES_MAX];
    struct load load = {.url = set.url};
    struct verdict verdict;
    char text[32];
    (void)state;
    CHECK(count <= MOVES_MAX);
    shards_settle(&set);
    load_start(&load, count);
    for (unsigned i = 0; i < count; i++) {
        unsigned slot;
        snprintf(text, sizeof text, "stock:%u", i % LOAD_NAMES);
        slot = shards_slot(&set, text);
        shards_migrate(&set, slot, (shards_owner(&set, slot) + 1) % SHARDS_MASTERS);
        at_us[i] = check_now_us();
        check_pause_ms(300);
    }
    load_stop(&load);
    verdict = ledger_judge(load.ledger);
    snprintf(text, sizeof text, "%u slot moves", count);
    for (enum load_kind kind = 0; kind < LOAD_KINDS; kind++) {
        for (unsigned i = 0; i < count; i++)
            load_add_span(&spans[kind], &load, load_locks(kind), at_us[i]);
        load_tell(&load, kind, text, "the move", &spans[kind]);
        assert_int_equal(load_counts(&load, kind).lost, 0); /* nothing is lost by a move */
    }
    assert_int_equal(verdict.overlaps + verdict.met + verdict.backward, 0);
    ledger_free(load.ledger);
    shards_check_clean(&set);
}

static void settle(void *arg) { shards_settle(arg); }

static uint64_t strike(void *arg, unsigned lock, enum failovers_fault fault)
{
    static const enum shards_fault faults[] = {SHARDS_KILL, SHARDS_STOP, SHARDS_FORCED}; /* as in failovers_fault */
    char name[32];
    snprintf(name, sizeof name, "stock:%u", lock);
    return shards_failover(arg, shards_owner(arg, shards_slot(arg, name)), faults[fault]);
}

static void mend(void *arg) { shards_mend(arg); }

static void every_waiter_is_served_through_failovers(void **state)
{
    (void)state;
    failovers_play(&(struct failovers_of){&set, settle, strike, mend, set.url, "the promotion", NULL, 1, 0, 1500}, failovers_wanted(), 0);
}

/* The leases are so long that a renewal would come when the test has given up. */
static void holds_are_verified_at_the_new_server(void **state)
{
    struct client client;
    struct handle kept, forgotten;
    struct redis *redis;
    unsigned master, now;
    (void)state;
    shards_settle(&set);
    client_open(&client, set.url);
    handle_open(&kept, &client, "{failover}:kept", HILOCK_LOCK_OPTIONS(.lease_ms = 3600000));
    handle_open(&forgotten, &client, "{failover}:forgotten", HILOCK_LOCK_OPTIONS(.lease_ms = 3600000));
    assert_int_equal(handle_acquire(&forgotten, 60000), HILOCK_OK);
    master = shards_owner(&set, shards_slot(&set, "{failover}:kept"));
    check_pause_ms(1000); /* the replica has it */
    shards_forget(&set, master);
    assert_int_equal(handle_acquire(&kept, 60000), HILOCK_OK);
    check_pause_ms(1000);
    shards_failover(&set, master, SHARDS_KILL);
    handle_until(&forgotten, &forgotten.lost, 1, "the loss");
    assert_int_equal(forgotten.lost.reason, HILOCK_REASON_TAKEN);
    assert_non_null(strstr(forgotten.lost.detail, "failover"));
    assert_int_equal(kept.lost.count, 0);
    shards_mend(&set);
    shards_settle(&set);
    assert_int_equal(handle_give(&kept), HILOCK_OK);
    now = shards_owner(&set, shards_slot(&set, "{failover}:kept"));
    redis = redis_open(set.servers[now]);
    assert_int_equal(redis_integer(redis, "EXISTS {failover}:kept"), 0);
    redis_close(redis);
    handle_free(&kept);
    handle_free(&forgotten);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks_live_at_the_server_of_their_slot),
        cmocka_unit_test(a_waiter_is_woken),
        cmocka_unit_test(a_hold_and_a_wait_move_with_their_slot),
        cmocka_unit_test(every_waiter_is_served_through_slot_moves),
        cmocka_unit_test(holds_are_verified_at_the_new_server),
        cmocka_unit_test(every_waiter_is_served_through_failovers),
    };
    return cmocka_run_group_tests(tests, start, end);
}
