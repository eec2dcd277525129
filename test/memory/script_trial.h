/* SPDX-License-Identifier: BSD-3-Clause */
/* script_trial - the library's scripts, run one by one at a store of their own: N is a lock's name, Q its queue, T its
 * token, C its channel, J Redisson's queue. */
#ifndef TEST_MEMORY_SCRIPT_TRIAL_H
#define TEST_MEMORY_SCRIPT_TRIAL_H

#include <stdio.h>
#include <string.h>

#include "memory/store.h"
#include "staged.h"
#include "wire/queued.h"
#include "wire/scripts.h"

enum { WORDS_MAX = 20 };
static const uint64_t start_us = 1700000000123456;

struct trial { struct sim_store *store; unsigned connection; };

static inline const struct sim_reply *run(struct trial *trial, const char *const *words)
{
    size_t lengths[WORDS_MAX];
    int argc = 0;
    for (; words[argc]; argc++)
        lengths[argc] = strlen(words[argc]);
    return sim_store_execute(trial->store, trial->connection, argc, words, lengths);
}

#define RUN(trial, ...) run((trial), (const char *const[]){__VA_ARGS__, NULL})
#define FAIR(trial, script, ...) RUN(trial, "EVALSHA", (script).sha1, "3", "N", "Q", "T", __VA_ARGS__)
#define ANY_TIME "9999999999999999"
#define C "redisson_lock__channel:"
#define J "redisson_lock_queue:"

/* asks: "" is a try; or ticket and heartbeat. */
static inline const struct sim_reply *ask(struct trial *trial, const char *id, const char *asks)
{
    char text[64];
    int ticket = (int)strcspn(asks, " ");
    snprintf(text, sizeof text, *asks ? ANY_TIME " %.*s - 3000 0%s" : ANY_TIME, ticket, asks, asks + ticket);
    return FAIR(trial, hl_script_mutex_acquire, id, "10000", text, "300000000");
}

static inline const struct sim_reply *release(struct trial *trial, const char *id, const char *terms)
{
    return FAIR(trial, hl_script_mutex_release, id, terms);
}

#define NEVER "1000000 ? 300000" /* to others */
#define TO_OTHERS "0 ? 300000"

static inline void load(struct trial *trial)
{
    for (int i = 0; hl_scripts[i]; i++)
        assert_memory_equal(RUN(trial, "SCRIPT", "LOAD", hl_scripts[i]->text)->bytes, hl_scripts[i]->sha1, 40);
}

/* In a store that is new. */
static inline void begin(struct trial *trial)
{
    sim_store_free(trial->store);
    trial->store = sim_store_new(NULL, NULL);
    sim_store_set_time(trial->store, start_us);
    trial->connection = sim_store_connect(trial->store);
    load(trial);
}

static inline int set_up(void **state)
{
    static struct trial trial;
    begin(&trial);
    *state = &trial;
    return 0;
}

static inline int tear_down(void **state)
{
    struct trial *trial = *state;
    sim_store_free(trial->store);
    trial->store = NULL;
    return 0;
}

#define TRIAL(name) STAGED(name, struct trial, trial, set_up, tear_down)

static inline int64_t integer(const struct sim_reply *reply, size_t i)
{
    int is_there = reply->type == SIM_REPLY_ARRAY && i < reply->count && reply->items[i].type == SIM_REPLY_INTEGER;
    return is_there ? reply->items[i].integer : -100;
}

static inline const struct sim_reply *listens(struct trial *trial, const char *channel)
{
    unsigned connection = trial->connection;
    const struct sim_reply *reply;
    trial->connection = sim_store_connect(trial->store);
    reply = RUN(trial, "SUBSCRIBE", channel);
    trial->connection = connection;
    return reply;
}

static inline void held(struct trial *trial) { (void)ask(trial, "a:1", "0 1"); }
static inline void held_and_awaited(struct trial *trial)
{
    held(trial);
    (void)ask(trial, "b:1", "? 1");
}
static inline const struct sim_reply *a_try(struct trial *trial) { return ask(trial, "c:1", ""); }
static inline const struct sim_reply *of_a_mutex(struct trial *trial)
{
    return FAIR(trial, hl_script_mutex_acquire, "u:1", "3000", ANY_TIME " *", "600000000");
}
static inline const struct sim_reply *end_of_a_mutex(struct trial *trial)
{
    return release(trial, "u:1", "1000000 ? 600000");
}

#endif
