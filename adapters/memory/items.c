/* SPDX-License-Identifier: BSD-3-Clause */
/* items - code for both hashes and sorted sets: a key of either type has items with names. */
#include "state.h"

const struct sim_reply *sim_items_count(const struct sim_call *call, enum sim_type type)
{
    const struct sim_reply *error;
    struct sim_key *key;
    if (!sim_argument_key(call, 1, type, &key, &error))
        return error;
    return sim_reply_integer(&call->store->replies, key ? (int64_t)key->items.count : 0);
}

const struct sim_reply *sim_items_remove(const struct sim_call *call, enum sim_type type)
{
    int may_stay_empty = type == SIM_HASH && call->store->keys.lie == SIM_LIE_HASH_STAYS_EMPTY;
    const struct sim_reply *error;
    struct sim_key *key;
    int64_t removed = 0;
    if (!sim_argument_key(call, 1, type, &key, &error))
        return error;
    sim_touch(call, (size_t)call->argc - 2);
    for (int i = 2; key && i < call->argc; i++) {
        struct sim_item *item = sim_item_find(key, call->argv[i], call->lengths[i]);
        if (item)
            sim_item_remove(key, item);
        removed += item != NULL;
    }
    call->store->keys.writes += removed > 0;
    if (key && key->items.count == 0 && !may_stay_empty)
        sim_key_delete(&call->store->keys, key);
    return sim_reply_integer(&call->store->replies, removed);
}
