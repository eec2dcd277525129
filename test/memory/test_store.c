/* SPDX-License-Identifier: BSD-3-Clause */
/* test_store - what befalls a store does to it what its header says: refusals, restarts, sweeps, copies. What real servers can
 * be asked is compared with them in ../sim/lockstep instead. */
#include "base/slot.h"
#include "memory/slot.h"
#include "script_trial.h"

enum { SLOTS_TRIED = 20000 };

/* A script runs up to its first write: a release that finds nothing to release is answered even by a read-only server. */
TRIAL(test_writes_are_refused)
{
    sim_store_refuse(trial->store, SIM_REFUSE_WRITES, "READONLY You can't write against a read only replica.");
    assert_int_equal(end_of_a_mutex(trial)->integer, 0);
    assert_true(sim_reply_starts(of_a_mutex(trial), "READONLY You can't write against a read only replica."));
    assert_true(sim_reply_starts(RUN(trial, "SET", "a", "b"), "READONLY "));
    assert_int_equal(RUN(trial, "PUBLISH", "a", "b")->type, SIM_REPLY_INTEGER);
    assert_int_equal(sim_store_keys(trial->store), 0);
    sim_store_refuse(trial->store, SIM_REFUSE_NOTHING, NULL);
    assert_int_equal(of_a_mutex(trial)->integer, (int64_t)start_us);
}

TRIAL(test_all_is_refused)
{
    sim_store_refuse(trial->store, SIM_REFUSE_ALL, "LOADING Redis is loading the dataset in memory");
    assert_true(sim_reply_starts(end_of_a_mutex(trial), "LOADING "));
    assert_true(sim_reply_starts(RUN(trial, "PING"), "LOADING "));
    assert_int_equal(RUN(trial, "TIME")->type, SIM_REPLY_ARRAY);
}

TRIAL(test_restart)
{
    (void)of_a_mutex(trial);
    sim_store_restart(trial->store, 1);
    assert_null(RUN(trial, "PING"));
    assert_int_equal(sim_store_connections(trial->store), 0);
    trial->connection = sim_store_connect(trial->store);
    assert_true(sim_reply_starts(end_of_a_mutex(trial), "NOSCRIPT "));
    load(trial);
    assert_int_equal(end_of_a_mutex(trial)->integer, 1);
    sim_store_restart(trial->store, 0);
    assert_int_equal(sim_store_keys(trial->store), 0);
}

/* Left is counted to the end of the millisecond in which the key expires. */
TRIAL(test_expiry_and_sweep)
{
    (void)of_a_mutex(trial);
    assert_int_equal(sim_store_left_us(trial->store, "N", 1), 3000 * 1000 + 1000 - (int64_t)start_us % 1000);
    sim_store_set_time(trial->store, start_us - start_us % 1000 + 3000 * 1000 + 999);
    assert_int_equal(sim_store_left_us(trial->store, "N", 1), 1);
    assert_int_equal(RUN(trial, "PTTL", "N")->integer, 0);
    sim_store_set_time(trial->store, start_us - start_us % 1000 + 3001 * 1000);
    assert_int_equal(sim_store_left_us(trial->store, "N", 1), -2);
    assert_int_equal(RUN(trial, "DBSIZE")->integer, 2);
    sim_store_sweep(trial->store);
    assert_int_equal(RUN(trial, "DBSIZE")->integer, 1);
}

TRIAL(test_copies)
{
    struct sim_store_data *before;
    struct sim_store_field field;
    uint64_t digest, writes;
    (void)of_a_mutex(trial);
    digest = sim_store_digest(trial->store);
    before = sim_store_save(trial->store);
    writes = sim_store_writes(trial->store);
    (void)RUN(trial, "HGETALL", "N");
    assert_int_equal(sim_store_writes(trial->store), writes);
    (void)end_of_a_mutex(trial);
    assert_true(sim_store_writes(trial->store) > writes);
    assert_int_not_equal(sim_store_digest(trial->store), digest);
    assert_false(sim_store_hash_field(trial->store, "N", 1, 0, &field));
    sim_store_load(trial->store, before);
    sim_store_data_free(before);
    assert_int_equal(sim_store_digest(trial->store), digest);
    assert_true(sim_store_hash_field(trial->store, "N", 1, 0, &field));
    assert_memory_equal(field.name, "u:1", field.name_length);
    assert_int_equal(end_of_a_mutex(trial)->integer, 1);
}

/* ---- what it has of its own, to owe nothing to the library that is tested by it, agrees with the library's ---- */

static unsigned next(unsigned *seed) { return (*seed = *seed * 1103515245 + 12345) >> 16; }

TEST(test_slots)
{
    char key[16];
    unsigned seed = 1;
    for (int i = 0; i < SLOTS_TRIED; i++) {
        size_t length = next(&seed) % sizeof key;
        for (size_t j = 0; j < length; j++)
            key[j] = "{}abc\xff"[next(&seed) % 6];
        assert_int_equal(sim_slot_of(key, length), hl_slot_of(key, length));
    }
}
