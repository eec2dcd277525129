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
    for (const struct sim_item *item = key->items; item < key->items + key->count; item++)
        sim_item_add(copy, (struct sim_item){item->name ? sim_bytes_new(item->name->at, item->name->length) : NULL,
                                             item->value ? sim_bytes_new(item->value->at, item->value->length) : NULL,
                                             item->score});
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
    struct sim_key *key = of(sim_table_find(&keys->table, name, length)); /* none, but for SIM_LIE_EXPIRY_RETURNS */
    if (key)
        sim_key_delete(keys, key);
    key = allocate(sizeof *key + length);
    *key = (struct sim_key){.type = type, .expires_ms = -1, .length = length};
    memcpy(key->name, name, length);
    sim_table_add(&keys->table, &key->entry, key->name, length);
    keys->writes++;
    return key;
}

void sim_items_clear(struct sim_key *key)
{
    for (size_t i = 0; i < key->count; i++) {
        free(key->items[i].name);
        free(key->items[i].value);
    }
    key->count = 0;
}

void sim_key_delete(struct sim_keyspace *keys, struct sim_key *key)
{
    sim_table_remove(&keys->table, &key->entry);
    sim_items_clear(key);
    free(key->items);
    free(key);
    keys->writes++;
}

void sim_key_expire(struct sim_keyspace *keys, struct sim_key *key, int64_t expires_ms)
{
    key->expires_ms = expires_ms;
    keys->writes++;
}

struct sim_item *sim_item_find(const struct sim_key *key, const char *name, size_t length)
{
    for (struct sim_item *item = key->items; item < key->items + key->count; item++)
        if (item->name->length == length && memcmp(item->name->at, name, length) == 0)
            return item;
    return NULL;
}

void sim_item_add(struct sim_key *key, struct sim_item item)
{
    if (key->count == key->room) {
        key->room = key->room ? key->room * 2 : 2;
        key->items = realloc(key->items, key->room * sizeof *key->items);
        SIM_REQUIRE(key->items);
    }
    key->items[key->count++] = item;
}

void sim_item_remove(struct sim_key *key, struct sim_item *item)
{
    size_t behind = key->count - 1 - (size_t)(item - key->items);
    free(item->name);
    free(item->value);
    memmove(item, item + 1, behind * sizeof *item);
    key->count--;
}
