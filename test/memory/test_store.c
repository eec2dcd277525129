/* SPDX-License-Identifier: BSD-3-Clause */
/* test_store - what befalls a store does to it what its header says: refusals, restarts, passwords, sweeps, copies. What real servers can
 * be asked is compared with them in ../lockstep instead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "memory/store.h"
#include "wire/scripts.h"

enum { WORDS_MAX = 12 };
static const uint64_t start_us = 1700000000123456;

struct trial { struct sim_store *store; unsigned connection; };

static const struct sim_reply *run(struct trial *trial, const char *const *words)
{
    size_t lengths[WORDS_MAX];
    int argc = 0;
    for (; words[argc]; argc++)
        lengths[argc] = strlen(words[argc]);
    return sim_store_execute(trial->store, trial->connection, argc, words, lengths);
}

#define RUN(trial, ...) run((trial), (const char *const[]){__VA_ARGS__, NULL})
#define ACQUIRE(trial) RUN(trial, "EVALSHA", hl_script_mutex_acquire.sha1, "3", "N", "Q", "T", "u:1", "3000", "0", "9999999999999999 *", "600000")
#define RELEASE(trial, id) RUN(trial, "EVALSHA", hl_script_mutex_release.sha1, "3", "N", "Q", "T", id, "C", "P? 600000 1000000")

static void load(struct trial *trial)
{
    for (int i = 0; hl_scripts[i]; i++)
        assert_memory_equal(RUN(trial, "SCRIPT", "LOAD", hl_scripts[i]->text)->bytes, hl_scripts[i]->sha1, 40);
}

static int set_up(void **state)
{
    static struct trial trial;
    trial.store = sim_store_new(NULL, NULL);
    sim_store_set_time(trial.store, start_us);
    trial.connection = sim_store_connect(trial.store);
    load(&trial);
    *state = &trial;
    return 0;
}

static int tear_down(void **state)
{
    sim_store_free(((struct trial *)*state)->store);
    return 0;
}

/* A script runs up to its first write: a release that finds nothing to release is answered even by a read-only server. */
static void test_writes_are_refused(void **state)
{
    struct trial *trial = *state;
    sim_store_refuse(trial->store, SIM_REFUSE_WRITES, "READONLY You can't write against a read only replica.");
    assert_int_equal(RELEASE(trial, "u:1")->integer, 0);
    assert_true(sim_reply_starts(ACQUIRE(trial), "READONLY You can't write against a read only replica."));
    assert_true(sim_reply_starts(RUN(trial, "SET", "a", "b"), "READONLY "));
    assert_int_equal(RUN(trial, "PUBLISH", "a", "b")->type, SIM_REPLY_INTEGER);
    assert_int_equal(sim_store_keys(trial->store), 0);
    sim_store_refuse(trial->store, SIM_REFUSE_NOTHING, NULL);
    assert_int_equal(ACQUIRE(trial)->integer, (int64_t)start_us);
}

static void test_all_is_refused(void **state)
{
    struct trial *trial = *state;
    sim_store_refuse(trial->store, SIM_REFUSE_ALL, "LOADING Redis is loading the dataset in memory");
    assert_true(sim_reply_starts(RELEASE(trial, "u:1"), "LOADING "));
    assert_true(sim_reply_starts(RUN(trial, "PING"), "LOADING "));
    assert_int_equal(RUN(trial, "TIME")->type, SIM_REPLY_ARRAY);
}

static void test_password(void **state)
{
    struct trial *trial = *state;
    sim_store_set_password(trial->store, "pw");
    assert_true(sim_reply_is(RUN(trial, "PING"), "PONG"));
    trial->connection = sim_store_connect(trial->store);
    assert_true(sim_reply_starts(RUN(trial, "PING"), "NOAUTH "));
    assert_true(sim_reply_starts(RUN(trial, "AUTH", "no"), "WRONGPASS "));
    assert_true(sim_reply_starts(RUN(trial, "PING"), "NOAUTH "));
    assert_true(sim_reply_is(RUN(trial, "AUTH", "default", "pw"), "OK"));
    assert_true(sim_reply_is(RUN(trial, "PING"), "PONG"));
}

static void test_restart(void **state)
{
    struct trial *trial = *state;
    (void)ACQUIRE(trial);
    sim_store_restart(trial->store, 1);
    assert_null(RUN(trial, "PING"));
    assert_int_equal(sim_store_connections(trial->store), 0);
    trial->connection = sim_store_connect(trial->store);
    assert_true(sim_reply_starts(RELEASE(trial, "u:1"), "NOSCRIPT "));
    load(trial);
    assert_int_equal(RELEASE(trial, "u:1")->integer, 1);
    sim_store_restart(trial->store, 0);
    assert_int_equal(sim_store_keys(trial->store), 0);
}

/* Left is counted to the end of the millisecond in which the key expires. */
static void test_expiry_and_sweep(void **state)
{
    struct trial *trial = *state;
    (void)ACQUIRE(trial);
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

static void test_copies(void **state)
{
    struct trial *trial = *state;
    struct sim_store_data *before;
    struct sim_store_field field;
    uint64_t digest, writes;
    (void)ACQUIRE(trial);
    digest = sim_store_digest(trial->store);
    before = sim_store_save(trial->store);
    writes = sim_store_writes(trial->store);
    (void)RUN(trial, "HGETALL", "N");
    assert_int_equal(sim_store_writes(trial->store), writes);
    (void)RELEASE(trial, "u:1");
    assert_true(sim_store_writes(trial->store) > writes);
    assert_int_not_equal(sim_store_digest(trial->store), digest);
    assert_false(sim_store_hash_field(trial->store, "N", 1, 0, &field));
    sim_store_load(trial->store, before);
    sim_store_data_free(before);
    assert_int_equal(sim_store_digest(trial->store), digest);
    assert_true(sim_store_hash_field(trial->store, "N", 1, 0, &field));
    assert_memory_equal(field.name, "u:1", field.name_length);
    assert_int_equal(RELEASE(trial, "u:1")->integer, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_writes_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_all_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_password, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_restart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_expiry_and_sweep, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_copies, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
