/* SPDX-License-Identifier: BSD-3-Clause */
/* command_zset - commands on sorted sets: by score, and by name where scores are equal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

static int read_score(const struct sim_call *call, int i, double *ret_score)
{
    char text[64], *end;
    *ret_score = 0;
    if (call->lengths[i] == 0 || call->lengths[i] >= sizeof text)
        return 0;
    memcpy(text, call->argv[i], call->lengths[i]);
    text[call->lengths[i]] = '\0';
    *ret_score = strtod(text, &end);
    return end == text + call->lengths[i] && text[0] != ' ' && !isnan(*ret_score);
}

static int is_before(const struct sim_call *call, const struct sim_item *one, const struct sim_item *other)
{
    size_t common = one->name->length < other->name->length ? one->name->length : other->name->length;
    int order = memcmp(one->name->at, other->name->at, common);
    if (one->score < other->score || one->score > other->score)
        return one->score < other->score;
    if (call->store->keys.lie == SIM_LIE_SCORE_TIES)
        return 0;
    return order ? order < 0 : one->name->length < other->name->length;
}

static int put(const struct sim_call *call, struct sim_key *key, double score, int name)
{
    struct sim_item *item = sim_item_find(key, call->argv[name], call->lengths[name]);
    struct sim_item added = {.name = sim_bytes_new(call->argv[name], call->lengths[name]), .score = score};
    int is_new = !item;
    size_t i;
    if (item)
        sim_item_remove(key, item);
    sim_item_add(key, added);
    for (i = key->count - 1; i > 0 && is_before(call, &added, &key->items[i - 1]); i--)
        key->items[i] = key->items[i - 1];
    key->items[i] = added;
    return is_new;
}

static const struct sim_reply *zadd(const struct sim_call *call)
{
    const struct sim_reply *error;
    struct sim_key *key;
    int64_t added = 0;
    double score;
    if (call->argc % 2 != 0)
        return &sim_syntax_error;
    for (int i = 2; i < call->argc; i += 2)
        if (!read_score(call, i, &score))
            return sim_reply_error(&call->store->replies, "ERR value is not a valid float");
    if (!sim_argument_key(call, 1, SIM_ZSET, &key, &error))
        return error;
    if (!key)
        key = sim_argument_new_key(call, 1, SIM_ZSET);
    for (int i = 2; i < call->argc; i += 2) {
        (void)read_score(call, i, &score);
        added += put(call, key, score, i + 1);
    }
    call->store->keys.writes++;
    return sim_reply_integer(&call->store->replies, added);
}

static const struct sim_reply *zrem(const struct sim_call *call) { return sim_items_remove(call, SIM_ZSET); }

static size_t print_score(double score, char text[40]) { return (size_t)snprintf(text, 40, "%.17g", score); }

static const struct sim_reply *zscore(const struct sim_call *call)
{
    const struct sim_reply *error;
    const struct sim_item *item;
    struct sim_key *key;
    char text[40];
    if (!sim_argument_key(call, 1, SIM_ZSET, &key, &error))
        return error;
    item = key ? sim_item_find(key, call->argv[2], call->lengths[2]) : NULL;
    return item ? sim_reply(&call->store->replies, SIM_REPLY_STRING, text, print_score(item->score, text)) : &sim_nil;
}

static const struct sim_reply *zrank(const struct sim_call *call)
{
    const struct sim_reply *error;
    const struct sim_item *item;
    struct sim_key *key;
    if (!sim_argument_key(call, 1, SIM_ZSET, &key, &error))
        return error;
    item = key ? sim_item_find(key, call->argv[2], call->lengths[2]) : NULL;
    return item ? sim_reply_integer(&call->store->replies, item - key->items + (call->store->keys.lie == SIM_LIE_RANK_FROM_ONE)) : &sim_nil;
}

static const struct sim_reply *zcard(const struct sim_call *call) { return sim_items_count(call, SIM_ZSET); }

/* Places first..last of count, negative ones counted from the end; how many that are. */
static size_t span(int64_t first, int64_t last, int64_t count, int64_t *ret_first)
{
    if (first < 0)
        first = first + count < 0 ? 0 : first + count;
    if (last < 0)
        last += count;
    if (last >= count)
        last = count - 1;
    *ret_first = first;
    return first > last || first >= count ? 0 : (size_t)(last - first + 1);
}

static const struct sim_reply *range(const struct sim_call *call, int is_reversed)
{
    struct sim_replies *replies = &call->store->replies;
    const struct sim_reply *error, *array;
    struct sim_key *key;
    int64_t first, last;
    size_t count, step = call->argc == 5 ? 2 : 1;
    if (call->argc > 5 || (call->argc == 5 && !sim_argument_is(call, 4, "WITHSCORES")))
        return &sim_syntax_error;
    if (!sim_argument_integer(call, 2, &first, &error) || !sim_argument_integer(call, 3, &last, &error) ||
        !sim_argument_key(call, 1, SIM_ZSET, &key, &error))
        return error;
    count = key ? span(first, last, (int64_t)key->count, &first) : 0;
    array = sim_reply_array(replies, count * step);
    for (size_t i = 0; i < count; i++) {
        size_t place = (size_t)first + i;
        const struct sim_item *item = &key->items[is_reversed ? key->count - 1 - place : place];
        char text[40];
        sim_reply_put(replies, array, i * step, item->name->at, item->name->length);
        if (step == 2)
            sim_reply_put(replies, array, i * step + 1, text, print_score(item->score, text));
    }
    return array;
}

static const struct sim_reply *zrange(const struct sim_call *call) { return range(call, 0); }
static const struct sim_reply *zrevrange(const struct sim_call *call) { return range(call, 1); }

const struct sim_command sim_commands_zset[] = {
    {"zadd", -4, SIM_WRITES | SIM_KEY, zadd},
    {"zrem", -3, SIM_WRITES | SIM_KEY, zrem},
    {"zscore", 3, SIM_KEY, zscore},
    {"zrank", 3, SIM_KEY, zrank},
    {"zcard", 2, SIM_KEY, zcard},
    {"zrange", -4, SIM_KEY, zrange},
    {"zrevrange", -4, SIM_KEY, zrevrange},
    {0},
};
