/* SPDX-License-Identifier: BSD-3-Clause */
/* keyspace - see keyspace.h. */
#include "keyspace.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"

static struct sim_key *of(struct sim_table_entry *entry)
{
    return entry ? (struct sim_key *)(void *)((char *)entry - offsetof(struct sim_key, entry)) : NULL;
}

static void *allocate(size_t bytes)
{
    void *block = malloc(bytes);
    SIM_REQUIRE(block);
    return block;
}

struct sim_bytes *sim_bytes_new(const char *bytes, size_t length)
{
    struct sim_bytes *copy = allocate(sizeof *copy + length + 1);
    copy->length = (uint32_t)length;
    copy->at[length] = '\0';
    if (length)
        memcpy(copy->at, bytes, length);
    return copy;
}

void sim_keyspace_init(struct sim_keyspace *keys)
{
    *keys = (struct sim_keyspace){.lie = SIM_LIE_NONE};
}

void sim_keyspace_clear(struct sim_keyspace *keys)
{
    while (keys->table.first)
        sim_key_delete(keys, of(keys->table.first));
}

struct sim_key *sim_key_copy(struct sim_keyspace *to, const struct sim_key *key, int64_t expires_ms)
{
    struct sim_key *copy = sim_key_new(to, key->name, key->length, key->type);
    copy->expires_ms = expires_ms;
    for (const struct sim_item *item = sim_item_first(key); item; item = sim_item_next(item))
        sim_item_add(copy, item->name ? sim_bytes_new(item->name->at, item->name->length) : NULL,
                     item->value ? sim_bytes_new(item->value->at, item->value->length) : NULL, item->score);
    return copy;
}

void sim_keyspace_copy(struct sim_keyspace *to, const struct sim_keyspace *from)
{
    for (struct sim_table_entry *entry = from->table.first; entry; entry = entry->behind)
        sim_key_copy(to, of(entry), of(entry)->expires_ms);
}

int64_t sim_keyspace_now_ms(const struct sim_keyspace *keys) { return (int64_t)(keys->now_us / 1000); }

int sim_key_is_alive(const struct sim_keyspace *keys, const struct sim_key *key)
{
    int64_t now_ms = sim_keyspace_now_ms(keys);
    if (keys->lie == SIM_LIE_EXPIRES_EARLY)
        now_ms++;
    if (keys->lie == SIM_LIE_EXPIRES_LATE)
        now_ms--;
    return key->expires_ms < 0 || now_ms <= key->expires_ms;
}

void sim_keyspace_sweep(struct sim_keyspace *keys)
{
    struct sim_table_entry *next;
    for (struct sim_table_entry *entry = keys->table.first; entry; entry = next) {
        next = entry->behind;
        if (!sim_key_is_alive(keys, of(entry)))
            sim_key_delete(keys, of(entry));
    }
}

struct sim_key *sim_key_find(struct sim_keyspace *keys, const char *name, size_t length)
{
    struct sim_key *key = of(sim_table_find(&keys->table, name, length));
    if (!key || sim_key_is_alive(keys, key))
        return key;
    if (keys->lie != SIM_LIE_EXPIRY_RETURNS)
        sim_key_delete(keys, key);
    return NULL;
}

const struct sim_key *sim_key_peek(const struct sim_keyspace *keys, const char *name, size_t length)
{
    const struct sim_key *key = of(sim_table_find(&keys->table, name, length));
    return key && sim_key_is_alive(keys, key) ? key : NULL;
}

struct sim_key *sim_key_new(struct sim_keyspace *keys, const char *name, size_t length, enum sim_type type)
{
    struct sim_key *key = of(sim_table_find(&keys->table, name, length)); /* NULL but for a lie */
    if (key)
        sim_key_delete(keys, key);
    key = allocate(sizeof *key + length);
    *key = (struct sim_key){.type = type, .expires_ms = -1, .length = length};
    key->order.is_backward = keys->lie == SIM_LIE_SCORE_TIES;
    memcpy(key->name, name, length);
    sim_table_add(&keys->table, &key->entry, key->name, length);
    keys->writes++;
    return key;
}

void sim_key_expire(struct sim_keyspace *keys, struct sim_key *key, int64_t expires_ms)
{
    key->expires_ms = expires_ms;
    keys->writes++;
}

static struct sim_item *item_of(struct sim_table_entry *entry)
{
    return entry ? (struct sim_item *)(void *)((char *)entry - offsetof(struct sim_item, entry)) : NULL;
}

struct sim_item *sim_item_find(const struct sim_key *key, const char *name, size_t length)
{
    return item_of(sim_table_find(&key->items, name, length));
}

struct sim_item *sim_item_first(const struct sim_key *key) { return item_of(key->items.first); }

struct sim_item *sim_item_next(const struct sim_item *item) { return item_of(item->entry.behind); }

struct sim_item *sim_item_at(const struct sim_key *key, size_t i)
{
    struct sim_item *item;
    if (key->type == SIM_ZSET)
        return sim_order_at(&key->order, i);
    for (item = sim_item_first(key); item && i > 0; i--)
        item = sim_item_next(item);
    return item;
}

struct sim_item *sim_item_add(struct sim_key *key, struct sim_bytes *name, struct sim_bytes *value, double score)
{
    struct sim_item *item = allocate(sizeof *item);
    *item = (struct sim_item){.name = name, .value = value, .score = score};
    sim_table_add(&key->items, &item->entry, name ? name->at : "", name ? name->length : 0);
    if (key->type == SIM_ZSET)
        sim_order_add(&key->order, item);
    return item;
}

void sim_item_rescore(struct sim_key *key, struct sim_item *item, double score)
{
    sim_order_remove(&key->order, item);
    item->score = score;
    sim_order_add(&key->order, item);
}

static void item_free(struct sim_item *item)
{
    free(item->name);
    free(item->value);
    free(item);
}

void sim_item_remove(struct sim_key *key, struct sim_item *item)
{
    if (key->type == SIM_ZSET)
        sim_order_remove(&key->order, item);
    sim_table_remove(&key->items, &item->entry);
    item_free(item);
}

void sim_items_clear(struct sim_key *key)
{
    key->order.root = NULL;
    for (struct sim_item *item = sim_item_first(key); item; item = sim_item_first(key)) {
        sim_table_remove(&key->items, &item->entry);
        item_free(item);
    }
}

void sim_key_delete(struct sim_keyspace *keys, struct sim_key *key)
{
    sim_table_remove(&keys->table, &key->entry);
    sim_items_clear(key);
    free(key);
    keys->writes++;
}
