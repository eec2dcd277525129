/* SPDX-License-Identifier: BSD-3-Clause */
/* command_hash - commands on hashes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

static const struct sim_reply *hget(const struct sim_call *call)
{
    const struct sim_reply *error;
    const struct sim_item *item;
    struct sim_key *key;
    if (!sim_argument_key(call, 1, SIM_HASH, &key, &error))
        return error;
    item = key ? sim_item_find(key, call->argv[2], call->lengths[2]) : NULL;
    return item ? sim_reply(&call->store->replies, SIM_REPLY_STRING, item->value->at, item->value->length) : &sim_nil;
}

static const struct sim_reply *hmget(const struct sim_call *call)
{
    const struct sim_reply *error, *array;
    struct sim_key *key;
    if (!sim_argument_key(call, 1, SIM_HASH, &key, &error))
        return error;
    sim_touch(call, (size_t)call->argc - 2);
    array = sim_reply_array(&call->store->replies, (size_t)call->argc - 2);
    for (int i = 2; key && i < call->argc; i++) {
        const struct sim_item *item = sim_item_find(key, call->argv[i], call->lengths[i]);
        if (item)
            sim_reply_put(&call->store->replies, array, (size_t)i - 2, item->value->at, item->value->length);
    }
    return array;
}

static const struct sim_reply *hexists(const struct sim_call *call)
{
    const struct sim_reply *error;
    struct sim_key *key;
    if (!sim_argument_key(call, 1, SIM_HASH, &key, &error))
        return error;
    return key && sim_item_find(key, call->argv[2], call->lengths[2]) ? &sim_one : &sim_zero;
}

static int put(const struct sim_call *call, struct sim_key *key, int i)
{
    struct sim_item *item = sim_item_find(key, call->argv[i], call->lengths[i]);
    struct sim_bytes *value = sim_bytes_new(call->argv[i + 1], call->lengths[i + 1]);
    int is_new = !item;
    if (item && call->store->keys.lie == SIM_LIE_HASH_REORDERS) {
        sim_item_remove(key, item);
        item = NULL;
    }
    if (item) {
        free(item->value);
        item->value = value;
    } else
        sim_item_add(key, sim_bytes_new(call->argv[i], call->lengths[i]), value, 0);
    return is_new;
}

static const struct sim_reply *hset(const struct sim_call *call)
{
    const struct sim_reply *error;
    struct sim_key *key;
    int64_t added = 0;
    if (call->argc % 2 != 0)
        return sim_wrong_arguments(call, "hset");
    if (!sim_argument_key(call, 1, SIM_HASH, &key, &error))
        return error;
    if (!key)
        key = sim_argument_new_key(call, 1, SIM_HASH);
    sim_touch(call, ((size_t)call->argc - 2) / 2);
    for (int i = 2; i < call->argc; i += 2)
        added += put(call, key, i);
    if (call->store->keys.lie == SIM_LIE_HSET_DROPS_TTL)
        key->expires_ms = -1;
    call->store->keys.writes++;
    return sim_reply_integer(&call->store->replies, added);
}

static const struct sim_reply *hincrby(const struct sim_call *call)
{
    const struct sim_reply *error;
    const char *argv[4] = {"hset", call->argv[1], call->argv[2]};
    size_t lengths[4] = {4, call->lengths[1], call->lengths[2]};
    const struct sim_call as_hset = {call->store, call->connection, 4, argv, lengths};
    const struct sim_item *item;
    struct sim_key *key;
    int64_t number = 0, step;
    char digits[24];
    if (!sim_argument_integer(call, 3, &step, &error) || !sim_argument_key(call, 1, SIM_HASH, &key, &error))
        return error;
    item = key ? sim_item_find(key, call->argv[2], call->lengths[2]) : NULL;
    if (item && !sim_integer_read(item->value->at, item->value->length, &number))
        return sim_reply_error(&call->store->replies, "ERR hash value is not an integer");
    if (__builtin_add_overflow(number, step, &number))
        return sim_reply_error(&call->store->replies, "ERR increment or decrement would overflow");
    argv[3] = digits;
    lengths[3] = (size_t)snprintf(digits, sizeof digits, "%" PRId64, number);
    (void)hset(&as_hset);
    return sim_reply_integer(&call->store->replies, number);
}

static const struct sim_reply *hdel(const struct sim_call *call) { return sim_items_remove(call, SIM_HASH); }

static const struct sim_reply *hlen(const struct sim_call *call) { return sim_items_count(call, SIM_HASH); }

enum { NAMES = 1, VALUES = 2, SMALL_HASH = 128 /* the most fields of a small hash: hash-max-listpack-entries */ };

/* Answers with `count` fields of a hash, from `item` on. */
static const struct sim_reply *fields(const struct sim_call *call, const struct sim_item *item, size_t count,
                                      unsigned what)
{
    struct sim_replies *replies = &call->store->replies;
    size_t step = what == (NAMES | VALUES) ? 2 : 1;
    const struct sim_reply *array = sim_reply_array(replies, count * step);
    sim_touch(call, count);
    for (size_t i = 0; i < count; i++, item = sim_item_next(item)) {
        if (what & NAMES)
            sim_reply_put(replies, array, i * step, item->name->at, item->name->length);
        if (what & VALUES)
            sim_reply_put(replies, array, i * step + step - 1, item->value->at, item->value->length);
    }
    return array;
}

static const struct sim_reply *list(const struct sim_call *call, unsigned what)
{
    const struct sim_reply *error;
    struct sim_key *key;
    if (!sim_argument_key(call, 1, SIM_HASH, &key, &error))
        return error;
    return key ? fields(call, sim_item_first(key), key->items.count, what) : fields(call, NULL, 0, what);
}

static const struct sim_reply *hkeys(const struct sim_call *call) { return list(call, NAMES); }
static const struct sim_reply *hvals(const struct sim_call *call) { return list(call, VALUES); }
static const struct sim_reply *hgetall(const struct sim_call *call) { return list(call, NAMES | VALUES); }

/* Returns 0 and *ret_error if the arguments are wrong. */
static int read_count(const struct sim_call *call, int64_t *ret_count, const struct sim_reply **ret_error)
{
    *ret_count = 10;
    for (int i = 3; i < call->argc; i += 2) {
        if (i + 1 == call->argc || !sim_argument_is(call, i, "COUNT")) {
            *ret_error = &sim_syntax_error;
            return 0;
        }
        if (!sim_argument_integer(call, i + 1, ret_count, ret_error))
            return 0;
        *ret_error = &sim_syntax_error;
        if (*ret_count < 1)
            return 0;
    }
    return 1;
}

/* Answers with all fields of a small hash, whatever COUNT is. Of a large hash it answers with COUNT fields, and the
 * cursor is the number of fields that have been shown. */
static const struct sim_reply *hscan(const struct sim_call *call)
{
    struct sim_replies *replies = &call->store->replies;
    const struct sim_reply *array, *error;
    struct sim_key *key;
    int64_t cursor, count = 0;
    size_t from = 0, left;
    char next[24] = "0";
    if (!sim_integer_read(call->argv[2], call->lengths[2], &cursor) || cursor < 0)
        return sim_reply_error(replies, "ERR invalid cursor");
    if (!sim_argument_key(call, 1, SIM_HASH, &key, &error) || (key && !read_count(call, &count, &error)))
        return error;
    left = key ? key->items.count : 0;
    if (left > SMALL_HASH) {
        from = (size_t)cursor < left ? (size_t)cursor : left;
        left -= from;
        if ((size_t)count < left) {
            left = (size_t)count;
            snprintf(next, sizeof next, "%zu", from + left);
        }
    }
    array = sim_reply_array(replies, 2);
    sim_reply_put(replies, array, 0, next, strlen(next));
    sim_reply_set(array, 1, *fields(call, left ? sim_item_at(key, from) : NULL, left, NAMES | VALUES));
    return array;
}

const struct sim_command sim_commands_hash[] = {
    {"hget", 3, SIM_KEY, hget},
    {"hmget", -3, SIM_KEY, hmget},
    {"hexists", 3, SIM_KEY, hexists},
    {"hset", -4, SIM_WRITES | SIM_GROWS | SIM_KEY, hset},
    {"hincrby", 4, SIM_WRITES | SIM_GROWS | SIM_KEY, hincrby},
    {"hdel", -3, SIM_WRITES | SIM_KEY, hdel},
    {"hlen", 2, SIM_KEY, hlen},
    {"hkeys", 2, SIM_KEY, hkeys},
    {"hvals", 2, SIM_KEY, hvals},
    {"hgetall", 2, SIM_KEY, hgetall},
    {"hscan", -3, SIM_KEY, hscan},
    {0},
};
