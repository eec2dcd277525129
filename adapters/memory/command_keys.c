/* SPDX-License-Identifier: BSD-3-Clause */
/* command_keys - commands on keys of any type: their expiry and existence. */
#include <string.h>

#include "state.h"

static struct sim_key *key_of(const struct sim_call *call, int i)
{
    return sim_key_find(&call->store->keys, call->argv[i], call->lengths[i]);
}

static const struct sim_reply *pttl(const struct sim_call *call)
{
    struct sim_replies *replies = &call->store->replies;
    const struct sim_key *key = key_of(call, 1);
    int64_t left_ms;
    if (!key || key->expires_ms < 0)
        return sim_reply_integer(replies, key ? -1 : -2);
    left_ms = key->expires_ms - sim_keyspace_now_ms(&call->store->keys) - (call->store->keys.lie == SIM_LIE_PTTL_SHORT);
    return sim_reply_integer(replies, left_ms > 0 ? left_ms : 0);
}

static const struct sim_reply *pexpiretime(const struct sim_call *call)
{
    const struct sim_key *key = key_of(call, 1);
    return sim_reply_integer(&call->store->replies, key ? key->expires_ms : -2);
}

static const struct sim_reply *expire_at(const struct sim_call *call, int64_t at_ms)
{
    struct sim_keyspace *keys = &call->store->keys;
    struct sim_key *key = key_of(call, 1);
    if (!key)
        return &sim_zero;
    if (at_ms > sim_keyspace_now_ms(keys) || keys->lie == SIM_LIE_PAST_EXPIRY_KEPT)
        sim_key_expire(keys, key, at_ms);
    else
        sim_key_delete(keys, key);
    return &sim_one;
}

static const struct sim_reply *no_options(const struct sim_call *call)
{
    return sim_reply_error(&call->store->replies, "ERR Unsupported option %.*s", (int)call->lengths[3], call->argv[3]);
}

static const struct sim_reply *pexpire(const struct sim_call *call)
{
    int64_t ms, now_ms = sim_keyspace_now_ms(&call->store->keys);
    const struct sim_reply *error;
    if (!sim_argument_integer(call, 2, &ms, &error))
        return error;
    if (call->argc > 3)
        return no_options(call);
    if (ms > INT64_MAX - now_ms)
        return sim_reply_error(&call->store->replies, "ERR invalid expire time in 'pexpire' command");
    return expire_at(call, ms + now_ms);
}

static const struct sim_reply *pexpireat(const struct sim_call *call)
{
    int64_t at_ms;
    const struct sim_reply *error;
    if (!sim_argument_integer(call, 2, &at_ms, &error))
        return error;
    return call->argc > 3 ? no_options(call) : expire_at(call, at_ms);
}

static const struct sim_reply *persist(const struct sim_call *call)
{
    struct sim_key *key = key_of(call, 1);
    if (!key || key->expires_ms < 0)
        return &sim_zero;
    sim_key_expire(&call->store->keys, key, -1);
    return &sim_one;
}

static const struct sim_reply *delete_all(const struct sim_call *call, int is_lazy)
{
    int64_t deleted = 0;
    for (int i = 1; i < call->argc; i++) {
        struct sim_key *key = key_of(call, i);
        if (key && !is_lazy)
            sim_touch(call, key->items.count);
        if (key)
            sim_key_delete(&call->store->keys, key);
        deleted += key != NULL;
    }
    return sim_reply_integer(&call->store->replies, deleted);
}

static const struct sim_reply *del(const struct sim_call *call) { return delete_all(call, 0); }

/* Does what DEL does. The difference, that a real server frees the memory in the background, cannot be seen here. */
static const struct sim_reply *unlink_all(const struct sim_call *call) { return delete_all(call, 1); }

static const struct sim_reply *exists(const struct sim_call *call)
{
    int64_t found = 0;
    for (int i = 1; i < call->argc; i++)
        found += key_of(call, i) != NULL;
    return sim_reply_integer(&call->store->replies, found);
}

static const struct sim_reply *type(const struct sim_call *call)
{
    static const char *const names[] = {"string", "hash", "zset", "list"};
    const struct sim_key *key = key_of(call, 1);
    const char *name = key ? names[key->type] : "none";
    return sim_reply(&call->store->replies, SIM_REPLY_STATUS, name, strlen(name));
}

/* Also counts keys that have expired and that no command has asked for since. */
static const struct sim_reply *dbsize(const struct sim_call *call)
{
    int64_t count = 0;
    const struct sim_table *table = &call->store->keys.table;
    for (struct sim_table_entry *entry = table->first; entry; entry = entry->behind)
        count++;
    return sim_reply_integer(&call->store->replies, count);
}

static const struct sim_reply *flushall(const struct sim_call *call)
{
    sim_keyspace_clear(&call->store->keys);
    return &sim_ok;
}

const struct sim_command sim_commands_keys[] = {
    {"pttl", 2, SIM_KEY, pttl},
    {"pexpiretime", 2, SIM_KEY, pexpiretime},
    {"pexpire", -3, SIM_WRITES | SIM_KEY, pexpire},
    {"pexpireat", -3, SIM_WRITES | SIM_KEY, pexpireat},
    {"persist", 2, SIM_WRITES | SIM_KEY, persist},
    {"del", -2, SIM_WRITES | SIM_KEYS, del},
    {"unlink", -2, SIM_WRITES | SIM_KEYS, unlink_all},
    {"exists", -2, SIM_KEYS, exists},
    {"type", 2, SIM_KEY, type},
    {"dbsize", 1, 0, dbsize},
    {"flushall", -1, SIM_WRITES, flushall},
    {0},
};
