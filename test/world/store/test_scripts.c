/* SPDX-License-Identifier: BSD-3-Clause */
/* test_scripts - what the library's scripts leave behind when one of their keys is of another type: an error leaves all as it was. Each state
 * of a name meets each script with each of its keys made another program's. The rest of what scripts do is tested by whole clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "store/store.h"
#include "wire/scripts.h"

enum { WORDS_MAX = 20, KEYS = 4 };
static const uint64_t start_us = 1700000000123456;
static const char *const keys[KEYS] = {"N", "Q", "W", "T"};

struct trial { struct sim_store *store; unsigned connection; };

static const struct hl_reply *run(struct trial *trial, const char *const *words)
{
    size_t lengths[WORDS_MAX];
    int argc = 0;
    for (; words[argc]; argc++)
        lengths[argc] = strlen(words[argc]);
    return sim_store_execute(trial->store, trial->connection, argc, words, lengths);
}

#define RUN(trial, ...) run((trial), (const char *const[]){__VA_ARGS__, NULL})
#define FAIR(trial, script, ...) RUN(trial, "EVALSHA", (script).sha1, "4", "N", "Q", "W", "T", __VA_ARGS__)

static const struct hl_reply *fair_acquire(struct trial *trial, const char *id, const char *is_waiting)
{
    return FAIR(trial, hl_script_fair_acquire, id, "10000", "3000", "30000", "1", "0", "", is_waiting, "0", "600000");
}

static const struct hl_reply *fair_release(struct trial *trial, const char *id, const char *yields_ms)
{
    return FAIR(trial, hl_script_fair_release, id, "3000", "C", "PUBLISH", yields_ms, "", "600000");
}

static const struct hl_reply *a_heartbeat(struct trial *trial) { return fair_acquire(trial, "b:1:fair", "1"); }
static const struct hl_reply *one_more_waits(struct trial *trial) { return fair_acquire(trial, "c:1:fair", "1"); }
static const struct hl_reply *a_try(struct trial *trial) { return fair_acquire(trial, "c:1:fair", "0"); }
static const struct hl_reply *a_release(struct trial *trial) { return fair_release(trial, "a:1:fair", "0"); }
static const struct hl_reply *a_release_that_yields(struct trial *trial) { return fair_release(trial, "a:1:fair", "5"); }
static const struct hl_reply *a_cancel(struct trial *trial) { return fair_release(trial, "b:1:fair", "0"); }
static const struct hl_reply *of_a_mutex(struct trial *trial) { return RUN(trial, "EVALSHA", hl_script_mutex_acquire.sha1, "2", "N", "T", "3000", "u:1", "0", "0", "600000"); }
static const struct hl_reply *end_of_a_mutex(struct trial *trial) { return RUN(trial, "EVALSHA", hl_script_mutex_release.sha1, "1", "N", "u:1", "C", "PUBLISH"); }
static const struct hl_reply *renewal(struct trial *trial) { return RUN(trial, "EVALSHA", hl_script_renew.sha1, "1", "N", "3000", "u:1", "1"); }
static const struct hl_reply *of_a_simple(struct trial *trial) { return RUN(trial, "EVALSHA", hl_script_simple_acquire.sha1, "1", "N", "u:1", "3000"); }

static const struct hl_reply *(*const asks[])(struct trial *trial) = {a_heartbeat, one_more_waits, a_try, a_release, a_release_that_yields, a_cancel,
                                                                     of_a_mutex, end_of_a_mutex, renewal, of_a_simple};

static void free_name(struct trial *trial) { (void)trial; }
static void held(struct trial *trial) { (void)fair_acquire(trial, "a:1:fair", "1"); }
static void held_and_awaited(struct trial *trial)
{
    held(trial);
    (void)fair_acquire(trial, "b:1:fair", "1");
}
static void free_and_awaited(struct trial *trial)
{
    held_and_awaited(trial);
    (void)RUN(trial, "DEL", "N");
}

static void (*const states[])(struct trial *trial) = {free_name, held, held_and_awaited, free_and_awaited};

/* A token is a string. */
static void take_key(struct trial *trial, unsigned i)
{
    (void)RUN(trial, "DEL", keys[i]);
    if (i == KEYS - 1)
        (void)RUN(trial, "HSET", keys[i], "theirs", "1");
    else
        (void)RUN(trial, "SET", keys[i], "theirs");
}

/* 1: it was an error. */
static unsigned try_one(size_t state, size_t ask, unsigned key)
{
    struct trial trial = {.store = sim_store_new(NULL, NULL)};
    const struct hl_reply *reply;
    uint64_t before;
    int is_error;
    sim_store_set_time(trial.store, start_us);
    trial.connection = sim_store_connect(trial.store);
    for (int i = 0; hl_scripts[i]; i++)
        (void)RUN(&trial, "SCRIPT", "LOAD", hl_scripts[i]->text);
    states[state](&trial);
    take_key(&trial, key);
    before = sim_store_digest(trial.store);
    reply = asks[ask](&trial);
    is_error = reply->type == HL_REPLY_ERROR;
    if (is_error && (!hl_reply_has_code(reply, "WRONGTYPE") || sim_store_digest(trial.store) != before))
        fail_msg("state %zu, script %zu, key %s: %.*s", state, ask, keys[key], (int)reply->length, reply->bytes);
    sim_store_free(trial.store);
    return is_error != 0;
}

static void an_error_leaves_all_as_it_was(void **unused)
{
    unsigned errors = 0;
    (void)unused;
    for (size_t state = 0; state < sizeof states / sizeof *states; state++)
        for (size_t ask = 0; ask < sizeof asks / sizeof *asks; ask++)
            for (unsigned key = 0; key < KEYS; key++)
                errors += try_one(state, ask, key);
    assert_true(errors > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_error_leaves_all_as_it_was)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
