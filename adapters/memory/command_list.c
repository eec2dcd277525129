/* SPDX-License-Identifier: BSD-3-Clause */
/* command_list - commands on lists: only those that Redisson's fair lock uses for its queue, and our scripts read. */
#include "state.h"

static const struct sim_reply *rpush(const struct sim_call *call)
{
    const struct sim_reply *error;
    struct sim_key *key;
    if (!sim_argument_key(call, 1, SIM_LIST, &key, &error))
        return error;
    if (!key)
        key = sim_argument_new_key(call, 1, SIM_LIST);
    for (int i = 2; i < call->argc; i++)
        sim_item_add(key, NULL, sim_bytes_new(call->argv[i], call->lengths[i]), 0);
    call->store->keys.writes++;
    return sim_reply_integer(&call->store->replies, (int64_t)key->items.count);
}

static const struct sim_reply *lindex(const struct sim_call *call)
{
    const struct sim_reply *error;
    const struct sim_item *item;
    struct sim_key *key;
    int64_t at, count;
    if (!sim_argument_key(call, 1, SIM_LIST, &key, &error))
        return error;
    if (!key)
        return &sim_nil;
    if (!sim_argument_integer(call, 2, &at, &error))
        return error;
    count = (int64_t)key->items.count;
    at += at < 0 ? count : 0;
    if (at < 0 || at >= count)
        return &sim_nil;
    item = sim_item_at(key, (size_t)at);
    return sim_reply(&call->store->replies, SIM_REPLY_STRING, item->value->at, item->value->length);
}

const struct sim_command sim_commands_list[] = {
    {"rpush", -3, SIM_WRITES | SIM_GROWS | SIM_KEY, rpush},
    {"lindex", 3, SIM_KEY, lindex},
    {0},
};
