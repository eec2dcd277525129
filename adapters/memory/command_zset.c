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

/* ---- ZADD ---- */

struct add { int nx, xx, gt, lt, counts_changes, first; }; /* first: the index of the argument with the first score */

/* Returns 0 and *ret_error if the arguments are wrong. */
static int read_add(const struct sim_call *call, struct add *ret_add, const struct sim_reply **ret_error)
{
    struct add add = {.first = 2};
    for (; add.first < call->argc; add.first++) {
        int *option = sim_argument_is(call, add.first, "NX")   ? &add.nx
                      : sim_argument_is(call, add.first, "XX") ? &add.xx
                      : sim_argument_is(call, add.first, "GT") ? &add.gt
                      : sim_argument_is(call, add.first, "LT") ? &add.lt
                      : sim_argument_is(call, add.first, "CH") ? &add.counts_changes
                                                               : NULL;
        if (!option)
            break;
        *option = 1;
    }
    *ret_add = add;
    *ret_error = NULL;
    if ((call->argc - add.first) % 2 != 0 || add.first == call->argc)
        *ret_error = &sim_syntax_error;
    else if (add.nx && add.xx)
        *ret_error = sim_reply_error(&call->store->replies,
                                     "ERR XX and NX options at the same time are not compatible");
    else if (add.gt + add.lt + add.nx > 1)
        *ret_error = sim_reply_error(&call->store->replies,
                                     "ERR GT, LT, and/or NX options at the same time are not compatible");
    return *ret_error == NULL;
}

static void put(const struct sim_call *call, struct sim_key *key, const struct add *add, int i, int64_t *ret_added,
                int64_t *ret_changed)
{
    struct sim_item *item = sim_item_find(key, call->argv[i + 1], call->lengths[i + 1]);
    int is_lower_only = add->lt && call->store->keys.lie != SIM_LIE_LT_RAISES;
    double score;
    (void)read_score(call, i, &score);
    if (!item && !add->xx) {
        sim_item_add(key, sim_bytes_new(call->argv[i + 1], call->lengths[i + 1]), NULL, score);
        ++*ret_added;
    } else if (item && !add->nx && (score < item->score ? !add->gt : score > item->score && !is_lower_only)) {
        sim_item_rescore(key, item, score);
        ++*ret_changed;
    }
}

static const struct sim_reply *zadd(const struct sim_call *call)
{
    const struct sim_reply *error;
    struct sim_key *key;
    int64_t added = 0, changed = 0;
    struct add add;
    double score;
    if (!read_add(call, &add, &error))
        return error;
    for (int i = add.first; i < call->argc; i += 2)
        if (!read_score(call, i, &score))
            return sim_reply_error(&call->store->replies, "ERR value is not a valid float");
    if (!sim_argument_key(call, 1, SIM_ZSET, &key, &error))
        return error;
    if (!key && add.xx)
        return &sim_zero;
    if (!key)
        key = sim_argument_new_key(call, 1, SIM_ZSET);
    sim_touch(call, (size_t)(call->argc - add.first) / 2);
    for (int i = add.first; i < call->argc; i += 2)
        put(call, key, &add, i, &added, &changed);
    call->store->keys.writes += added + changed > 0;
    return sim_reply_integer(&call->store->replies, add.counts_changes ? added + changed : added);
}

/* ---- members by rank ---- */

static const struct sim_reply *zrem(const struct sim_call *call) { return sim_items_remove(call, SIM_ZSET); }

static size_t print_score(double score, char text[40]) { return (size_t)snprintf(text, 40, "%.17g", score); }

/* Turns first and last, of which negative ones count from the end, into ranks below `count`. Returns how many members
 * lie between them. */
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

/* Answers with so many members from a rank on, with their scores if `step` is 2. */
static const struct sim_reply *members(const struct sim_call *call, const struct sim_key *key, size_t first,
                                       size_t count, size_t step)
{
    struct sim_replies *replies = &call->store->replies;
    const struct sim_reply *array = sim_reply_array(replies, count * step);
    sim_touch(call, count);
    for (size_t i = 0; i < count; i++) {
        const struct sim_item *item = sim_order_at(&key->order, first + i);
        char text[40];
        sim_reply_put(replies, array, i * step, item->name->at, item->name->length);
        if (step == 2)
            sim_reply_put(replies, array, i * step + 1, text, print_score(item->score, text));
    }
    return array;
}

/* Returns 0 if an unknown option follows the range. */
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
    count = key ? span(first, last, (int64_t)key->items.count, &first) : 0;
    return members(call, key, (size_t)first, count, step);
}

/* ---- members by score ---- */

struct bound { double score; int is_outside; };

/* Reads one end of a range of scores. A '(' before the number excludes that score itself. Blanks may come first, and an
 * empty text is 0. */
static int read_bound(const struct sim_call *call, int i, struct bound *ret_bound)
{
    char text[64], *end;
    const char *number = text;
    if (call->lengths[i] >= sizeof text)
        return 0;
    memcpy(text, call->argv[i], call->lengths[i]);
    text[call->lengths[i]] = '\0';
    ret_bound->is_outside = *text == '(';
    number += ret_bound->is_outside;
    ret_bound->score = strtod(number, &end);
    return *end == '\0' && !isnan(ret_bound->score);
}

/* Returns 0 and *ret_error if the arguments are wrong. */
static int read_bounds(const struct sim_call *call, struct bound *ret_least, struct bound *ret_most,
                       const struct sim_reply **ret_error)
{
    if (read_bound(call, 2, ret_least) && read_bound(call, 3, ret_most))
        return 1;
    *ret_error = sim_reply_error(&call->store->replies, "ERR min or max is not a float");
    return 0;
}

static size_t within(const struct sim_key *key, const struct bound *least, const struct bound *most, size_t *ret_first)
{
    size_t end;
    *ret_first = 0;
    if (!key)
        return 0;
    *ret_first = sim_order_below(&key->order, least->score, least->is_outside);
    end = sim_order_below(&key->order, most->score, !most->is_outside);
    return end > *ret_first ? end - *ret_first : 0;
}

struct choice { size_t step; int64_t offset, limit; }; /* a negative limit means no limit */

/* Returns 0 and *ret_error if the arguments are wrong. */
static int read_choice(const struct sim_call *call, struct choice *ret_choice, const struct sim_reply **ret_error)
{
    *ret_choice = (struct choice){.step = 1, .limit = -1};
    for (int i = 4; i < call->argc; i++) {
        if (sim_argument_is(call, i, "WITHSCORES"))
            ret_choice->step = 2;
        else if (sim_argument_is(call, i, "LIMIT") && i + 2 < call->argc) {
            if (!sim_argument_integer(call, i + 1, &ret_choice->offset, ret_error) ||
                !sim_argument_integer(call, i + 2, &ret_choice->limit, ret_error))
                return 0;
            i += 2;
        } else {
            *ret_error = &sim_syntax_error;
            return 0;
        }
    }
    return 1;
}

static const struct sim_reply *zrangebyscore(const struct sim_call *call)
{
    const struct sim_reply *error;
    struct sim_key *key;
    struct bound least, most;
    struct choice choice;
    size_t first, count, passed;
    if (!read_choice(call, &choice, &error) || !read_bounds(call, &least, &most, &error) ||
        !sim_argument_key(call, 1, SIM_ZSET, &key, &error))
        return error;
    count = within(key, &least, &most, &first);
    passed = choice.offset < 0 || (uint64_t)choice.offset > count ? count : (size_t)choice.offset;
    count -= passed;
    if (choice.limit >= 0 && (uint64_t)choice.limit < count && call->store->keys.lie != SIM_LIE_LIMIT_IGNORED)
        count = (size_t)choice.limit;
    sim_touch(call, passed); /* a real server walks over these members */
    return members(call, key, first + passed, count, choice.step);
}

static const struct sim_reply *zcount(const struct sim_call *call)
{
    const struct sim_reply *error;
    struct sim_key *key;
    struct bound least, most;
    size_t first;
    if (!read_bounds(call, &least, &most, &error) || !sim_argument_key(call, 1, SIM_ZSET, &key, &error))
        return error;
    if (call->store->keys.lie == SIM_LIE_COUNT_FROM_BELOW)
        least.score -= 1;
    return sim_reply_integer(&call->store->replies, (int64_t)within(key, &least, &most, &first));
}

static const struct sim_reply *zcard(const struct sim_call *call) { return sim_items_count(call, SIM_ZSET); }

/* ---- one member ---- */

/* Returns 0 and *ret_answer if the key or the member does not exist (a nil) or the key has another type. */
static int read_member(const struct sim_call *call, struct sim_key **ret_key, const struct sim_item **ret_item,
                       const struct sim_reply **ret_answer)
{
    if (!sim_argument_key(call, 1, SIM_ZSET, ret_key, ret_answer))
        return 0;
    *ret_item = *ret_key ? sim_item_find(*ret_key, call->argv[2], call->lengths[2]) : NULL;
    *ret_answer = &sim_nil;
    return *ret_item != NULL;
}

static const struct sim_reply *zrank(const struct sim_call *call)
{
    int64_t first = call->store->keys.lie == SIM_LIE_RANK_FROM_ONE;
    const struct sim_reply *answer;
    const struct sim_item *item;
    struct sim_key *key;
    if (!read_member(call, &key, &item, &answer))
        return answer;
    return sim_reply_integer(&call->store->replies, first + (int64_t)sim_order_place(&key->order, item));
}

static const struct sim_reply *zscore(const struct sim_call *call)
{
    const struct sim_reply *answer;
    const struct sim_item *item;
    struct sim_key *key;
    char text[40];
    if (!read_member(call, &key, &item, &answer))
        return answer;
    return sim_reply(&call->store->replies, SIM_REPLY_STRING, text, print_score(item->score, text));
}

const struct sim_command sim_commands_zset[] = {
    {"zadd", -4, SIM_WRITES | SIM_GROWS | SIM_KEY, zadd},
    {"zrem", -3, SIM_WRITES | SIM_KEY, zrem},
    {"zcard", 2, SIM_KEY, zcard},
    {"zrank", 3, SIM_KEY, zrank},
    {"zscore", 3, SIM_KEY, zscore},
    {"zcount", 4, SIM_KEY, zcount},
    {"zrange", -4, SIM_KEY, zrange},
    {"zrangebyscore", -4, SIM_KEY, zrangebyscore},
    {0},
};
