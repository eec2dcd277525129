/* SPDX-License-Identifier: BSD-3-Clause */
/* peers - see peers.h: replication, and Sentinel. The cluster is in map.c. */
#include "peers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "state.h"

void sim_store_set_replica(struct sim_store *store, int is_replica) { store->is_replica = is_replica; }

int sim_store_is_replica(const struct sim_store *store)
{
    const struct sim_map *map = store->map;
    return map ? map->nodes[map->self].master != map->self : store->is_replica;
}

void sim_store_be_sentinel(struct sim_store *store, const struct sim_sentinel_knows *knows)
{
    store->is_sentinel = 1;
    store->sentinel = *knows;
}

const struct sim_sentinel_knows *sim_store_knows(const struct sim_store *store) { return &store->sentinel; }

unsigned sim_store_publish(struct sim_store *store, const char *channel, const char *text)
{
    sim_replies_reset(&store->replies);
    return sim_pubsub_tell(store, 0, channel, strlen(channel), text, strlen(text));
}

unsigned sim_store_deliver(struct sim_store *store, int is_sharded, const struct sim_said *said)
{
    sim_replies_reset(&store->replies);
    return sim_pubsub_tell(store, is_sharded, said->channel, said->channel_length, said->text, said->text_length);
}

/* ---- commands ---- */

static const struct sim_reply *role(const struct sim_call *call)
{
    struct sim_replies *replies = &call->store->replies;
    struct sim_reply *array;
    if (call->store->is_sentinel) {
        array = sim_reply_array(replies, 2);
        sim_reply_put(replies, array, 0, "sentinel", 8);
        sim_reply_set(array, 1, *sim_reply_array(replies, 0));
    } else if (sim_store_is_replica(call->store)) {
        array = sim_reply_array(replies, 5);
        sim_reply_put(replies, array, 0, "slave", 5);
        sim_reply_put(replies, array, 1, "0.0.0.0", 7);
        sim_reply_set(array, 2, sim_zero);
        sim_reply_put(replies, array, 3, "connected", 9);
        sim_reply_set(array, 4, sim_zero);
    } else {
        array = sim_reply_array(replies, 3);
        sim_reply_put(replies, array, 0, "master", 6);
        sim_reply_set(array, 1, sim_zero);
        sim_reply_set(array, 2, *sim_reply_array(replies, 0));
    }
    return array;
}

static void put_number(struct sim_replies *replies, const struct sim_reply *array, size_t i, uint64_t number)
{
    char digits[24];
    sim_reply_put(replies, array, i, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number));
}

static void put_word(struct sim_replies *replies, const struct sim_reply *array, size_t i, const char *word)
{
    sim_reply_put(replies, array, i, word, strlen(word));
}

/* Answers about a master like a Sentinel, but only with the fields that clients read. */
static const struct sim_reply *tell_master(struct sim_replies *replies, const struct sim_sentinel_knows *knows)
{
    const struct sim_reply *array = sim_reply_array(replies, 8);
    put_word(replies, array, 0, "name");
    put_word(replies, array, 1, knows->master);
    put_word(replies, array, 2, "ip");
    put_word(replies, array, 3, knows->address.host);
    put_word(replies, array, 4, "port");
    put_number(replies, array, 5, (uint64_t)knows->address.port);
    put_word(replies, array, 6, "config-epoch");
    put_number(replies, array, 7, knows->epoch);
    return array;
}

static const struct sim_reply *sentinel(const struct sim_call *call)
{
    struct sim_replies *replies = &call->store->replies;
    const struct sim_sentinel_knows *knows = &call->store->sentinel;
    int is_known = call->argc == 3 && call->lengths[2] == strlen(knows->master) &&
                   memcmp(call->argv[2], knows->master, call->lengths[2]) == 0;
    const struct sim_reply *array;
    if (sim_argument_is(call, 1, "MASTER"))
        return is_known ? tell_master(replies, knows) : sim_reply_error(replies, "ERR No such master with that name");
    if (!sim_argument_is(call, 1, "GET-MASTER-ADDR-BY-NAME"))
        return sim_unknown_subcommand(call, "SENTINEL");
    if (!is_known)
        return &sim_nil;
    array = sim_reply_array(replies, 2);
    put_word(replies, array, 0, knows->address.host);
    put_number(replies, array, 1, (uint64_t)knows->address.port);
    return array;
}

const struct sim_command sim_commands_peers[] = {
    {"role", 1, SIM_ALWAYS | SIM_NOSCRIPT | SIM_GUIDES, role},
    {"sentinel", -3, SIM_ALWAYS | SIM_NOSCRIPT | SIM_GUIDES | SIM_GUIDES_ONLY, sentinel},
    {0},
};
