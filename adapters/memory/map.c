/* SPDX-License-Identifier: BSD-3-Clause */
/* map - a store as a server of a cluster: which server has a slot, where a key is while its slot is being moved, and
 * which channels belong to a slot. See peers.h. The decisions are those of Redis 7 (getNodeByQuery). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "slot.h"
#include "peers.h"
#include "state.h"

void sim_store_join(struct sim_store *store, const struct sim_map *map)
{
    if (!store->map)
        store->map = malloc(sizeof *store->map);
    SIM_REQUIRE(store->map);
    *store->map = *map;
}

const struct sim_map *sim_store_map(const struct sim_store *store) { return store->map; }

/* ---- the map, as the test sets it ---- */

void sim_store_give_slot(struct sim_store *store, unsigned slot, unsigned to)
{
    struct sim_map *map = store->map;
    int was_own = map->owners[slot] == map->self + 1;
    map->owners[slot] = (uint8_t)(to + 1);
    if (map->leaving == (int)slot)
        map->leaving = -1;
    if (map->arriving == (int)slot)
        map->arriving = -1;
    if (was_own && to != map->self)
        sim_pubsub_evict(store, slot);
}

void sim_store_set_master(struct sim_store *store, unsigned node, unsigned master)
{
    store->map->nodes[node].master = master;
}

void sim_store_set_epoch(struct sim_store *store, unsigned node, uint64_t epoch)
{
    store->map->nodes[node].epoch = epoch;
}

void sim_store_begin_leave(struct sim_store *store, unsigned slot, unsigned to)
{
    store->map->leaving = (int)slot;
    store->map->leaves_to = to;
}

void sim_store_begin_arrive(struct sim_store *store, unsigned slot) { store->map->arriving = (int)slot; }

void sim_store_set_down(struct sim_store *store, int is_down) { store->map->is_down = is_down; }

int sim_store_migrate(struct sim_store *from, struct sim_store *to, const char *name, size_t length)
{
    struct sim_key *key = sim_key_find(&from->keys, name, length);
    int64_t left_ms;
    if (!key || sim_key_find(&to->keys, name, length))
        return 0;
    left_ms = key->expires_ms - sim_keyspace_now_ms(&from->keys);
    sim_key_copy(&to->keys, key,
                 key->expires_ms < 0 ? -1 : sim_keyspace_now_ms(&to->keys) + (left_ms < 1 ? 1 : left_ms));
    sim_key_delete(&from->keys, key);
    return 1;
}

/* ---- where a command belongs ---- */

struct keys { size_t first, count; }; /* which arguments of a command are keys */

static struct keys keys_of(const struct sim_call *call, const struct sim_command *command)
{
    int64_t count;
    if (command->flags & (SIM_KEY | SIM_CHANNEL))
        return (struct keys){1, call->argc > 1};
    if (command->flags & SIM_KEYS)
        return (struct keys){1, (size_t)call->argc - 1};
    if (command->flags & SIM_COUNTED_KEYS && sim_integer_read(call->argv[2], call->lengths[2], &count) && count > 0 &&
        count <= call->argc - 3)
        return (struct keys){3, (size_t)count};
    return (struct keys){0, 0};
}

static const struct sim_reply *redirect(const struct sim_call *call, const char *code, unsigned slot, unsigned to)
{
    const struct sim_address *address = &call->store->map->nodes[to].address;
    return sim_reply_error(&call->store->replies, "%s %u %s:%d", code, slot, address->host, address->port);
}

static const struct sim_reply *try_again(const struct sim_call *call)
{
    return sim_reply_error(&call->store->replies, "TRYAGAIN Multiple keys request during rehashing of slot");
}

static size_t present(const struct sim_call *call, struct keys keys)
{
    size_t there = 0;
    for (size_t i = keys.first; i < keys.first + keys.count; i++)
        there += sim_key_find(&call->store->keys, call->argv[i], call->lengths[i]) != NULL;
    return there;
}

/* A replica also serves the sharded channels of its master's slots. */
static int is_served(const struct sim_map *map, unsigned slot, int is_channel)
{
    unsigned owner = map->owners[slot] - 1u;
    return owner == map->self || (is_channel && map->nodes[map->self].master == owner);
}

static const struct sim_reply *place(const struct sim_call *call, struct keys keys, int is_channel, int is_asking)
{
    const struct sim_map *map = call->store->map;
    unsigned slot = sim_slot_of(call->argv[keys.first], call->lengths[keys.first]);
    size_t there = is_channel ? keys.count : present(call, keys);
    for (size_t i = keys.first; i < keys.first + keys.count; i++)
        if (sim_slot_of(call->argv[i], call->lengths[i]) != slot)
            return sim_reply_error(&call->store->replies, "CROSSSLOT Keys in request don't hash to the same slot");
    if (map->is_down)
        return sim_reply_error(&call->store->replies, "CLUSTERDOWN The cluster is down");
    if (!map->owners[slot])
        return sim_reply_error(&call->store->replies, "CLUSTERDOWN Hash slot not served");
    if (map->leaving == (int)slot && there < keys.count)
        return there ? try_again(call) : redirect(call, "ASK", slot, map->leaves_to);
    if (map->arriving == (int)slot && is_asking)
        return keys.count > 1 && there < keys.count ? try_again(call) : NULL;
    return is_served(map, slot, is_channel) ? NULL : redirect(call, "MOVED", slot, map->owners[slot] - 1u);
}

const struct sim_reply *sim_map_refusal(const struct sim_call *call, const struct sim_command *command, int is_asking)
{
    struct keys keys = keys_of(call, command);
    return call->store->map && keys.count ? place(call, keys, (command->flags & SIM_CHANNEL) != 0, is_asking) : NULL;
}

/* ---- commands ---- */

static const struct sim_reply *asking(const struct sim_call *call)
{
    if (!call->store->map)
        return sim_reply_error(&call->store->replies, "ERR This instance has cluster support disabled");
    sim_pubsub_connection(&call->store->pubsub, call->connection)->is_asking = 1;
    return &sim_ok;
}

struct id { char text[41]; };

static struct id id_of(unsigned node)
{
    struct id id;
    snprintf(id.text, sizeof id.text, "%040x", node + 1);
    return id;
}

/* Returns an array of host, port, id and metadata. */
static struct sim_reply node_entry(struct sim_replies *replies, const struct sim_map *map, unsigned node)
{
    const struct sim_address *address = &map->nodes[node].address;
    struct sim_reply *entry = sim_reply_array(replies, 4);
    if (*address->host)
        sim_reply_put(replies, entry, 0, address->host, strlen(address->host));
    sim_reply_set(entry, 1, (struct sim_reply){.type = SIM_REPLY_INTEGER, .integer = address->port});
    sim_reply_put(replies, entry, 2, id_of(node).text, sizeof(struct id) - 1);
    sim_reply_set(entry, 3, *sim_reply_array(replies, 0));
    return *entry;
}

static struct sim_reply range_entry(struct sim_replies *replies, const struct sim_map *map, unsigned from, unsigned to)
{
    unsigned owner = map->owners[from] - 1u;
    struct sim_reply *entry;
    size_t count = 3, used = 3;
    for (unsigned i = 0; i < map->count; i++)
        count += i != owner && map->nodes[i].master == owner;
    entry = sim_reply_array(replies, count);
    sim_reply_set(entry, 0, (struct sim_reply){.type = SIM_REPLY_INTEGER, .integer = from});
    sim_reply_set(entry, 1, (struct sim_reply){.type = SIM_REPLY_INTEGER, .integer = to});
    sim_reply_set(entry, 2, node_entry(replies, map, owner));
    for (unsigned i = 0; i < map->count; i++)
        if (i != owner && map->nodes[i].master == owner)
            sim_reply_set(entry, used++, node_entry(replies, map, i));
    return *entry;
}

static unsigned end_of(const struct sim_map *map, unsigned from)
{
    unsigned to = from;
    while (to + 1 < SIM_SLOTS && map->owners[to + 1] == map->owners[from])
        to++;
    return to;
}

static const struct sim_reply *tell_slots(struct sim_replies *replies, const struct sim_map *map)
{
    struct sim_reply *array;
    size_t count = 0;
    for (unsigned from = 0; from < SIM_SLOTS; from = end_of(map, from) + 1)
        count += map->owners[from] != 0;
    array = sim_reply_array(replies, count);
    count = 0;
    for (unsigned from = 0; from < SIM_SLOTS; from = end_of(map, from) + 1)
        if (map->owners[from])
            sim_reply_set(array, count++, range_entry(replies, map, from, end_of(map, from)));
    return array;
}

static void write_slots(FILE *text, const struct sim_map *map, unsigned node)
{
    for (unsigned from = 0, to; from < SIM_SLOTS; from = to + 1) {
        to = end_of(map, from);
        if (map->owners[from] == node + 1)
            fprintf(text, from == to ? " %u" : " %u-%u", from, to);
    }
    if (node == map->self && map->leaving >= 0)
        fprintf(text, " [%d->-%s]", map->leaving, id_of(map->leaves_to).text);
    if (node == map->self && map->arriving >= 0 && map->owners[map->arriving])
        fprintf(text, " [%d-<-%s]", map->arriving, id_of(map->owners[map->arriving] - 1u).text);
}

/* Returns the config epoch of a node; that of a replica is its master's. */
static void write_node(FILE *text, const struct sim_map *map, unsigned node)
{
    const struct sim_node *told = &map->nodes[node];
    int is_master = told->master == node;
    fprintf(text, "%s %s:%d@%d %s%s", id_of(node).text, told->address.host, told->address.port,
            told->address.port + 10000, node == map->self ? "myself," : "", is_master ? "master" : "slave");
    fprintf(text, " %s 0 0 %" PRIu64 " connected", is_master ? "-" : id_of(told->master).text,
            map->nodes[told->master].epoch);
    write_slots(text, map, node);
    fputc('\n', text);
}

static const struct sim_reply *tell_nodes(struct sim_replies *replies, const struct sim_map *map)
{
    const struct sim_reply *reply;
    char *bytes = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&bytes, &length);
    SIM_REQUIRE(text);
    for (unsigned i = 0; i < map->count; i++)
        write_node(text, map, i);
    SIM_REQUIRE(fclose(text) == 0);
    reply = sim_reply(replies, SIM_REPLY_STRING, bytes, length);
    free(bytes);
    return reply;
}

static const struct sim_reply *cluster(const struct sim_call *call)
{
    struct sim_replies *replies = &call->store->replies;
    const struct sim_map *map = call->store->map;
    if (!map)
        return sim_reply_error(replies, "ERR This instance has cluster support disabled");
    if (sim_argument_is(call, 1, "SLOTS") && call->argc == 2)
        return tell_slots(replies, map);
    if (sim_argument_is(call, 1, "NODES") && call->argc == 2)
        return tell_nodes(replies, map);
    return sim_unknown_subcommand(call, "CLUSTER");
}

const struct sim_command sim_commands_map[] = {
    {"asking", 1, SIM_NOSCRIPT, asking},
    {"cluster", -2, SIM_ALWAYS | SIM_NOSCRIPT, cluster},
    {0},
};
