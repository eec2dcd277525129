/* SPDX-License-Identifier: BSD-3-Clause */
/* store_map - what a server says that is part of a cluster: who has a slot, where a key is while its slot moves, channels of a slot. */
#include <stdlib.h>
#include <string.h>

#include "base/slot.h"
#include "world/store.h"

enum { KEYS_MAX = 8 };

static int is_word(struct keys_bytes bytes, const char *text) { return keys_are_same(bytes, keys_text(text)); }

/* ---- channels ---- */

static struct keys_bytes shard_of(struct keys_bytes channel, char room[2048])
{
    room[0] = STORE_SHARD;
    memcpy(room + 1, channel.bytes, channel.length);
    return (struct keys_bytes){room, channel.length + 1};
}

unsigned store_publish_to_shard(struct store *store, struct keys_bytes channel, struct keys_bytes text)
{
    char room[2048];
    struct store_peer *peer;
    unsigned heard = 0;
    TAILQ_FOREACH(peer, &store->peers, entry)
    {
        if (!store_find_channel(peer, shard_of(channel, room)))
            continue;
        peer->push(peer->arg, say_array(3, say_string("smessage"), say_bytes(channel.bytes, channel.length), say_bytes(text.bytes, text.length)));
        heard++;
    }
    return heard;
}

unsigned store_shard_listeners(struct store *store, const char *channel)
{
    char room[2048];
    struct store_peer *peer;
    unsigned count = 0;
    TAILQ_FOREACH(peer, &store->peers, entry)
        count += store_find_channel(peer, shard_of(keys_text(channel), room)) != NULL;
    return count;
}

static struct hl_reply *listen_to(struct store_peer *peer, struct keys_bytes channel, int is_on)
{
    char room[2048];
    store_listen(peer, shard_of(channel, room), is_on);
    return say_array(3, say_string(is_on ? "ssubscribe" : "sunsubscribe"), say_bytes(channel.bytes, channel.length), say_integer(0));
}

static void take_back(struct store_peer *peer, unsigned slot)
{
    struct keys_field *channel, *next;
    for (channel = TAILQ_FIRST(&peer->channels); channel; channel = next) {
        struct keys_bytes name = {channel->name.bytes + 1, channel->name.length - 1};
        next = TAILQ_NEXT(channel, entry);
        if (*channel->name.bytes != STORE_SHARD || hl_slot_of(name.bytes, name.length) != slot)
            continue;
        peer->push(peer->arg, say_array(3, say_string("sunsubscribe"), say_bytes(name.bytes, name.length), say_integer(0)));
        store_listen(peer, channel->name, 0);
    }
}

void store_give_slot(struct store *store, unsigned slot, unsigned to)
{
    int was_own = store->map->owners[slot] == store->map->self + 1;
    struct store_peer *peer;
    store->map->owners[slot] = (uint8_t)(to + 1);
    TAILQ_FOREACH(peer, &store->peers, entry)
        if (was_own && to != store->map->self)
            take_back(peer, slot);
}

/* ---- slots ---- */

static struct hl_reply *node_of(const struct store_map *map, unsigned node)
{
    return say_array(3, map->nodes[node].host ? say_string(map->nodes[node].host) : say_nil(), say_integer(map->nodes[node].port), say_string("id"));
}

static struct hl_reply *tell_slots(const struct store_map *map)
{
    struct hl_reply *ranges = say_array(0), *more;
    for (unsigned from = 0, to; from < STORE_SLOTS; from = to + 1) {
        for (to = from; to + 1 < STORE_SLOTS && map->owners[to + 1] == map->owners[from];)
            to++;
        if (!map->owners[from])
            continue;
        more = say_array(3, say_integer(from), say_integer(to), node_of(map, map->owners[from] - 1u));
        ranges = say_longer(ranges, more);
    }
    return ranges;
}

static struct hl_reply *redirect(const struct store_map *map, const char *code, unsigned slot, unsigned to)
{
    const char *host = map->nodes[to].host;
    return say_error("%s %u %s:%d", code, slot, host ? host : "", map->nodes[to].port);
}

/* Keys of a command; 0: it has none. */
static unsigned keys_of(int argc, const struct keys_bytes *words, struct keys_bytes keys[KEYS_MAX])
{
    unsigned count = 0;
    if (is_word(words[0], "EVALSHA") && argc > 3) {
        unsigned all = (unsigned)atoi(words[2].bytes);
        for (; count < all && count < KEYS_MAX; count++)
            keys[count] = words[3 + count];
    } else if (argc > 1 && (is_word(words[0], "SET") || is_word(words[0], "DELEX") || is_word(words[0], "DELIFEQ") || is_word(words[0], "SSUBSCRIBE") ||
                            is_word(words[0], "SUNSUBSCRIBE")))
        keys[count++] = words[1];
    return count;
}

/* As Redis 7 decides it. */
static struct hl_reply *place(struct store_peer *peer, const struct keys_bytes *keys, unsigned count, int is_channel)
{
    struct store *store = peer->store;
    const struct store_map *map = store->map;
    unsigned slot = hl_slot_of(keys[0].bytes, keys[0].length), there = 0;
    for (unsigned i = 0; i < count; i++)
        there += keys_find(&store->keys, keys[i], store_ms(store)) != NULL;
    if (map->arriving == (int)slot && peer->is_asking && !is_channel)
        return count > 1 && there < count ? say_error("TRYAGAIN Multiple keys request during rehashing of slot") : NULL;
    if (!map->owners[slot])
        return say_error("CLUSTERDOWN Hash slot not served");
    if (map->owners[slot] != map->self + 1)
        return redirect(map, "MOVED", slot, map->owners[slot] - 1u);
    if (map->leaving != (int)slot || there == count || is_channel)
        return NULL;
    return there ? say_error("TRYAGAIN Multiple keys request during rehashing of slot") : redirect(map, "ASK", slot, map->leaves_to);
}

struct hl_reply *store_mapped(struct store_peer *peer, int argc, const struct keys_bytes *words)
{
    const struct store_map *map = peer->store->map;
    struct keys_bytes keys[KEYS_MAX];
    unsigned count = keys_of(argc, words, keys);
    int is_channel = is_word(words[0], "SSUBSCRIBE") || is_word(words[0], "SUNSUBSCRIBE");
    struct hl_reply *reply = count ? place(peer, keys, count, is_channel) : NULL;
    peer->is_asking = is_word(words[0], "ASKING");
    if (reply)
        return reply;
    if (peer->is_asking)
        return say_status("OK");
    if (is_word(words[0], "CLUSTER"))
        return tell_slots(map);
    if (is_word(words[0], "PUBSUB"))
        return map->has_no_shards ? say_error("ERR Unknown subcommand or wrong number of arguments for 'SHARDNUMSUB'") : say_array(2, say_string("0"), say_integer(0));
    if (is_channel)
        return listen_to(peer, words[1], is_word(words[0], "SSUBSCRIBE"));
    return NULL;
}
