/* SPDX-License-Identifier: BSD-3-Clause */
/* inspect - reads a store from outside, for tests, and copies its keys. Nothing here changes or expires a key. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "state.h"

static const struct sim_key *of(const struct sim_table_entry *entry)
{
    return (const struct sim_key *)(const void *)((const char *)entry - offsetof(struct sim_key, entry));
}

uint64_t sim_store_writes(const struct sim_store *store) { return store->keys.writes; }

uint64_t sim_store_touched(const struct sim_store *store) { return store->keys.touched; }

uint64_t sim_store_started_us(const struct sim_store *store) { return store->started_us; }

uint64_t sim_store_commands(const struct sim_store *store) { return store->commands; }

int64_t sim_store_left_us(const struct sim_store *store, const char *name, size_t length)
{
    const struct sim_key *key = sim_key_peek(&store->keys, name, length);
    if (!key || key->expires_ms < 0)
        return key ? -1 : -2;
    return (key->expires_ms + 1) * 1000 - (int64_t)store->keys.now_us;
}

static const struct sim_key *hash_of(const struct sim_store *store, const char *name, size_t length)
{
    const struct sim_key *key = sim_key_peek(&store->keys, name, length);
    return key && key->type == SIM_HASH ? key : NULL;
}

const char *sim_store_hash_get(const struct sim_store *store, const char *name, size_t length, const char *field,
                               size_t field_length, size_t *ret_length)
{
    const struct sim_key *key = hash_of(store, name, length);
    struct sim_store_field only;
    const struct sim_item *item;
    if (!key && sim_store_hash_field(store, name, length, 0, &only) && only.name_length == field_length &&
        memcmp(only.name, field, field_length) == 0) {
        *ret_length = 0;
        return only.value;
    }
    item = key ? sim_item_find(key, field, field_length) : NULL;
    if (!item)
        return NULL;
    *ret_length = item->value->length;
    return item->value->at;
}

int sim_store_hash_field(const struct sim_store *store, const char *name, size_t length, size_t i,
                         struct sim_store_field *ret_field)
{
    const struct sim_key *key = sim_key_peek(&store->keys, name, length);
    const struct sim_item *item;
    if (key && key->type == SIM_STRING && i == 0) {
        const struct sim_bytes *value = sim_item_first(key)->value;
        *ret_field = (struct sim_store_field){value->at, "", value->length, 0, 0};
        return 1;
    }
    if (!key || (key->type != SIM_HASH && key->type != SIM_ZSET) || !(item = sim_item_at(key, i)))
        return 0;
    *ret_field = (struct sim_store_field){.name = item->name->at, .name_length = item->name->length, .value = "",
                                          .score = item->score};
    if (key->type == SIM_HASH) {
        ret_field->value = item->value->at;
        ret_field->value_length = item->value->length;
    }
    return 1;
}

void sim_store_each_key(const struct sim_store *store, void (*fn)(void *arg, const char *key, size_t length), void *arg)
{
    const struct sim_table *table = &store->keys.table;
    for (const struct sim_table_entry *entry = table->first; entry; entry = entry->behind)
        if (sim_key_is_alive(&store->keys, of(entry)))
            fn(arg, of(entry)->name, of(entry)->length);
}

static void count_one(void *arg, const char *key, size_t length)
{
    (void)key, (void)length;
    ++*(size_t *)arg;
}

size_t sim_store_keys(const struct sim_store *store)
{
    size_t count = 0;
    sim_store_each_key(store, count_one, &count);
    return count;
}

size_t sim_store_connections(const struct sim_store *store)
{
    size_t count = 0;
    for (unsigned i = 0; i < store->pubsub.count; i++)
        count += store->pubsub.connections[i].is_open != 0;
    return count;
}

size_t sim_store_subscriptions(const struct sim_store *store) { return store->pubsub.subscriptions; }

size_t sim_store_listeners(const struct sim_store *store, int is_sharded, const char *name, size_t length)
{
    const struct sim_channel *channel = sim_pubsub_channel(&store->pubsub, is_sharded, name, length);
    return channel ? channel->count : 0;
}

/* ---- digest: the sum of the FNV-1a hashes of all parts, so that their order does not matter ---- */

static void mix(uint64_t *hash, const void *bytes, size_t length) { *hash = sim_table_mix(*hash, bytes, length); }

static void mix_bytes(uint64_t *hash, const struct sim_bytes *bytes)
{
    if (bytes)
        mix(hash, bytes->at, bytes->length);
}

static uint64_t key_digest(const struct sim_key *key)
{
    uint64_t hash = SIM_TABLE_NOTHING;
    const struct sim_item *item = NULL;
    mix(&hash, key->name, key->length);
    mix(&hash, &key->type, sizeof key->type);
    mix(&hash, &key->expires_ms, sizeof key->expires_ms);
    for (size_t i = 0; i < key->items.count; i++) {
        item = key->type == SIM_ZSET ? sim_item_at(key, i) : item ? sim_item_next(item) : sim_item_first(key);
        mix_bytes(&hash, item->name);
        mix_bytes(&hash, item->value);
        mix(&hash, &item->score, sizeof item->score);
    }
    return hash;
}

uint64_t sim_store_digest(const struct sim_store *store)
{
    const struct sim_table *keys = &store->keys.table;
    uint64_t sum = sim_scripts_digest(store);
    for (const struct sim_table_entry *entry = keys->first; entry; entry = entry->behind)
        if (sim_key_is_alive(&store->keys, of(entry)))
            sum += key_digest(of(entry));
    for (unsigned number = 0; number < store->pubsub.count; number++)
        for (size_t i = 0; i < store->pubsub.connections[number].count; i++) {
            uint64_t hash = number;
            mix(&hash, store->pubsub.connections[number].channels[i]->name,
                store->pubsub.connections[number].channels[i]->length);
            sum += hash;
        }
    return sum;
}

/* ---- copies ---- */

struct sim_store_data { struct sim_keyspace keys; };

struct sim_store_data *sim_store_save(const struct sim_store *store)
{
    struct sim_store_data *data = malloc(sizeof *data);
    SIM_REQUIRE(data);
    sim_keyspace_init(&data->keys);
    sim_keyspace_copy(&data->keys, &store->keys);
    return data;
}

void sim_store_load(struct sim_store *store, const struct sim_store_data *data)
{
    sim_keyspace_clear(&store->keys);
    sim_keyspace_copy(&store->keys, &data->keys);
}

void sim_store_data_free(struct sim_store_data *data)
{
    if (!data)
        return;
    sim_keyspace_clear(&data->keys);
    free(data);
}

/* ---- the lies (lies.h) and their names ---- */

static const char *const lie_names[] = {
#define X(name, what) #name,
    SIM_LIES(X)
#undef X
    "NONE",
};

const char *sim_store_lie_name(enum sim_store_lie lie) { return lie_names[lie]; }
