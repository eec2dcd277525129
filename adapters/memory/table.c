/* SPDX-License-Identifier: BSD-3-Clause */
/* table - see table.h. */
#include "table.h"

#include <string.h>

#include "contract.h"

enum { FEW = 8 }; /* a table of up to so many entries has no buckets; `room` of a larger one is a power of two */

uint64_t sim_table_mix(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return (hash ^ length) * UINT64_C(1099511628211);
}

static struct sim_table_entry **bucket_of(const struct sim_table *table, uint64_t hash)
{
    return &table->buckets[(hash ^ hash >> 32) & (table->room - 1)];
}

static void put(const struct sim_table *table, struct sim_table_entry *entry)
{
    struct sim_table_entry **bucket = bucket_of(table, entry->hash);
    entry->next_in_bucket = *bucket;
    *bucket = entry;
}

static void grow(struct sim_table *table)
{
    free(table->buckets);
    table->room = table->room ? 2 * table->room : 2 * FEW;
    table->buckets = calloc(table->room, sizeof(struct sim_table_entry *));
    SIM_REQUIRE(table->buckets);
    for (struct sim_table_entry *entry = table->first; entry; entry = entry->behind)
        put(table, entry);
}

void sim_table_add(struct sim_table *table, struct sim_table_entry *entry, const char *key, size_t length)
{
    if (table->count >= FEW && table->count >= table->room)
        grow(table);
    *entry = (struct sim_table_entry){
        .before = table->last, .key = key, .length = length, .hash = sim_table_mix(SIM_TABLE_NOTHING, key, length)};
    *(table->last ? &table->last->behind : &table->first) = entry;
    table->last = entry;
    table->count++;
    if (table->room)
        put(table, entry);
}

struct sim_table_entry *sim_table_find(const struct sim_table *table, const char *key, size_t length)
{
    uint64_t hash = sim_table_mix(SIM_TABLE_NOTHING, key, length);
    struct sim_table_entry *entry = table->room ? *bucket_of(table, hash) : table->first;
    while (entry && (entry->hash != hash || entry->length != length || memcmp(entry->key, key, length) != 0))
        entry = table->room ? entry->next_in_bucket : entry->behind;
    return entry;
}

void sim_table_remove(struct sim_table *table, struct sim_table_entry *entry)
{
    if (table->room) {
        struct sim_table_entry **place = bucket_of(table, entry->hash);
        while (*place != entry)
            place = &(*place)->next_in_bucket;
        *place = entry->next_in_bucket;
    }
    *(entry->before ? &entry->before->behind : &table->first) = entry->behind;
    *(entry->behind ? &entry->behind->before : &table->last) = entry->before;
    if (--table->count > 0)
        return;
    free(table->buckets);
    table->buckets = NULL;
    table->room = 0;
}
