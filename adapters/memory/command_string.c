/* SPDX-License-Identifier: BSD-3-Clause */
/* command_string - GET, SET, INCR. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

static const struct sim_reply *value_of(const struct sim_call *call, const struct sim_key *key)
{
    const struct sim_bytes *value = key ? sim_item_first(key)->value : NULL;
    return value ? sim_reply(&call->store->replies, SIM_REPLY_STRING, value->at, value->length) : &sim_nil;
}

static const struct sim_reply *get(const struct sim_call *call)
{
    const struct sim_reply *error;
    struct sim_key *key;
    return sim_argument_key(call, 1, SIM_STRING, &key, &error) ? value_of(call, key) : error;
}

struct set { int nx, xx, get, keeps_ttl, unit_ms, ttl; }; /* ttl: the index of the argument; 0: there is none */

static int read_unit(const struct sim_call *call, int i, int *ret_unit_ms)
{
    *ret_unit_ms = sim_argument_is(call, i, "PX") ? 1 : 1000;
    return *ret_unit_ms == 1 || sim_argument_is(call, i, "EX");
}

static int read_options(const struct sim_call *call, struct set *ret_set)
{
    struct set set = {0};
    int unit_ms;
    for (int i = 3; i < call->argc; i++) {
        if (sim_argument_is(call, i, "NX") && !set.xx)
            set.nx = 1;
        else if (sim_argument_is(call, i, "XX") && !set.nx)
            set.xx = 1;
        else if (sim_argument_is(call, i, "GET"))
            set.get = 1;
        else if (sim_argument_is(call, i, "KEEPTTL") && !set.ttl)
            set.keeps_ttl = 1;
        else if (read_unit(call, i, &unit_ms) && !set.keeps_ttl && (!set.ttl || set.unit_ms == unit_ms) &&
                 i + 1 < call->argc) {
            set.unit_ms = unit_ms;
            set.ttl = ++i; /* if one unit is given several times, the last one counts */
        } else
            return 0;
    }
    *ret_set = set;
    return 1;
}

static int read_expiry(const struct sim_call *call, const struct set *set, int64_t *ret_at_ms,
                       const struct sim_reply **ret_error)
{
    int64_t ttl = 0, now_ms = sim_keyspace_now_ms(&call->store->keys);
    *ret_at_ms = -1;
    if (!set->ttl)
        return 1;
    if (!sim_argument_integer(call, set->ttl, &ttl, ret_error))
        return 0;
    if (ttl <= 0 || ttl > INT64_MAX / set->unit_ms || ttl * set->unit_ms > INT64_MAX - now_ms) {
        *ret_error = sim_reply_error(&call->store->replies, "ERR invalid expire time in 'set' command");
        return 0;
    }
    *ret_at_ms = now_ms + ttl * set->unit_ms;
    return 1;
}

/* Makes the key of argument 1 a string, whatever type it had. */
static struct sim_key *overwrite(const struct sim_call *call, struct sim_key *key, const char *bytes, size_t length)
{
    struct sim_keyspace *keys = &call->store->keys;
    struct sim_bytes *value = sim_bytes_new(bytes, length);
    if (!key)
        key = sim_argument_new_key(call, 1, SIM_STRING);
    sim_items_clear(key);
    key->type = SIM_STRING;
    sim_item_add(key, NULL, value, 0);
    keys->writes++;
    return key;
}

static const struct sim_reply *set(const struct sim_call *call)
{
    enum sim_store_lie lie = call->store->keys.lie;
    const struct sim_reply *reply = &sim_ok, *error;
    struct sim_key *key;
    struct set set;
    int64_t at_ms;
    if (!read_options(call, &set))
        return &sim_syntax_error;
    if (!read_expiry(call, &set, &at_ms, &error))
        return error;
    key = sim_key_find(&call->store->keys, call->argv[1], call->lengths[1]);
    if (set.get && key && key->type != SIM_STRING && lie != SIM_LIE_SET_GET_ANY_TYPE)
        return &sim_wrong_type;
    if (set.get)
        reply = key && key->type != SIM_STRING ? &sim_nil : value_of(call, key);
    if ((set.nx && key) || (set.xx && !key))
        return set.get ? reply : &sim_nil;
    key = overwrite(call, key, call->argv[2], call->lengths[2]);
    if (at_ms >= 0 || (set.keeps_ttl ? lie == SIM_LIE_KEEPTTL_DROPS : lie != SIM_LIE_SET_KEEPS_TTL))
        key->expires_ms = at_ms;
    return set.get && lie == SIM_LIE_SET_GET_NEW ? value_of(call, key) : reply;
}

static const struct sim_reply *add(const struct sim_call *call, int64_t step)
{
    const struct sim_reply *error;
    struct sim_key *key;
    int64_t number = 0;
    char digits[24];
    int length;
    if (!sim_argument_key(call, 1, SIM_STRING, &key, &error))
        return error;
    if (key && !sim_integer_read(sim_item_first(key)->value->at, sim_item_first(key)->value->length, &number))
        return &sim_not_an_integer;
    if (__builtin_add_overflow(number, step, &number))
        return sim_reply_error(&call->store->replies, "ERR increment or decrement would overflow");
    length = snprintf(digits, sizeof digits, "%" PRId64, number);
    overwrite(call, key, digits, (size_t)length);
    return sim_reply_integer(&call->store->replies, number);
}

static const struct sim_reply *incr(const struct sim_call *call) { return add(call, 1); }
static const struct sim_reply *decr(const struct sim_call *call) { return add(call, -1); }

static const struct sim_reply *incrby(const struct sim_call *call)
{
    const struct sim_reply *error;
    int64_t step;
    return sim_argument_integer(call, 2, &step, &error) ? add(call, step) : error;
}

static const struct sim_reply *decrby(const struct sim_call *call)
{
    const struct sim_reply *error;
    int64_t step;
    if (!sim_argument_integer(call, 2, &step, &error))
        return error;
    return step == INT64_MIN ? sim_reply_error(&call->store->replies, "ERR decrement would overflow")
                             : add(call, -step);
}

const struct sim_command sim_commands_string[] = {
    {"get", 2, SIM_KEY, get},
    {"set", -3, SIM_WRITES | SIM_GROWS | SIM_KEY, set},
    {"incr", 2, SIM_WRITES | SIM_GROWS | SIM_KEY, incr},
    {"decr", 2, SIM_WRITES | SIM_GROWS | SIM_KEY, decr},
    {"incrby", 3, SIM_WRITES | SIM_GROWS | SIM_KEY, incrby},
    {"decrby", 3, SIM_WRITES | SIM_GROWS | SIM_KEY, decrby},
    {0},
};
