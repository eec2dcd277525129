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

/* Places first..last of count, negative ones from the end; returns how many. */
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

/* That many members from a place on, with their scores if `step` is 2. */
static const struct sim_reply *members(const struct sim_call *call, const struct sim_key *key, size_t first,
                                       size_t count, size_t step)
{
    struct sim_replies *replies = &call->store->replies;
    const struct sim_reply *array = sim_reply_array(replies, count * step);
    for (size_t i = 0; i < count; i++) {
        const struct sim_item *item = &key->items[first + i];
        char text[40];
        sim_reply_put(replies, array, i * step, item->name->at, item->name->length);
        if (step == 2)
            sim_reply_put(replies, array, i * step + 1, text, print_score(item->score, text));
    }
    return array;
}

/* 0: an unknown option follows the span. */
static int read_step(const struct sim_call *call, size_t *ret_step)
{
    *ret_step = call->argc == 5 ? 2 : 1;
    return call->argc < 5 || (call->argc == 5 && sim_argument_is(call, 4, "WITHSCORES"));
}

static const struct sim_reply *zrange(const struct sim_call *call)
{
    const struct sim_reply *error;
    struct sim_key *key;
    int64_t first, last;
    size_t count, step;
    if (!read_step(call, &step))
        return &sim_syntax_error;
    if (!sim_argument_integer(call, 2, &first, &error) || !sim_argument_integer(call, 3, &last, &error) ||
        !sim_argument_key(call, 1, SIM_ZSET, &key, &error))
        return error;
    count = key ? span(first, last, (int64_t)key->count, &first) : 0;
    return members(call, key, (size_t)first, count, step);
}

/* Members whose score is within; a bound may be +inf or -inf, and both bounds are included. 0: a bound is no number. */
static int read_bounds(const struct sim_call *call, double *ret_least, double *ret_most)
{
    return read_score(call, 2, ret_least) && read_score(call, 3, ret_most);
}

static size_t within(const struct sim_key *key, double least, double most, size_t *ret_first)
{
    size_t first = 0, last;
    while (key && first < key->count && key->items[first].score < least)
        first++;
    last = first;
    while (key && last < key->count && key->items[last].score <= most)
        last++;
    *ret_first = first;
    return last - first;
}

static const struct sim_reply *zrangebyscore(const struct sim_call *call)
{
    const struct sim_reply *error;
    struct sim_key *key;
    double least, most;
    size_t first, count, step;
    if (!read_step(call, &step))
        return &sim_syntax_error;
    if (!read_bounds(call, &least, &most))
        return sim_reply_error(&call->store->replies, "ERR min or max is not a float");
    if (!sim_argument_key(call, 1, SIM_ZSET, &key, &error))
        return error;
    count = within(key, least, most, &first);
    return members(call, key, first, count, step);
}

static const struct sim_reply *zcount(const struct sim_call *call)
{
    const struct sim_reply *error;
    struct sim_key *key;
    double least, most;
    size_t first;
    if (!read_bounds(call, &least, &most))
        return sim_reply_error(&call->store->replies, "ERR min or max is not a float");
    if (!sim_argument_key(call, 1, SIM_ZSET, &key, &error))
        return error;
    if (call->store->keys.lie == SIM_LIE_COUNT_FROM_BELOW)
        least -= 1;
    return sim_reply_integer(&call->store->replies, (int64_t)within(key, least, most, &first));
}

static const struct sim_reply *zcard(const struct sim_call *call) { return sim_items_count(call, SIM_ZSET); }

const struct sim_command sim_commands_zset[] = {
    {"zadd", -4, SIM_WRITES | SIM_KEY, zadd},
    {"zrem", -3, SIM_WRITES | SIM_KEY, zrem},
    {"zcard", 2, SIM_KEY, zcard},
    {"zcount", 4, SIM_KEY, zcount},
    {"zrange", -4, SIM_KEY, zrange},
    {"zrangebyscore", -4, SIM_KEY, zrangebyscore},
    {0},
};
