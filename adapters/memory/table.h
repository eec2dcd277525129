/* SPDX-License-Identifier: BSD-3-Clause */
/* table - a hash table of objects, each of which contains its own entry. Objects are found by a byte string, and
 * walked in the order of their arrival. Invariant: there are at least as many buckets as entries; or none while
 * entries are few, because these are walked quickly. An empty table has no buckets, so it need not be ended. */
#ifndef SIM_STORE_TABLE_H
#define SIM_STORE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct sim_table_entry {
    struct sim_table_entry *before, *behind, *next_in_bucket;
    const char *key; /* belongs to the object */
    size_t length;
    uint64_t hash;
};

struct sim_table {
    struct sim_table_entry *first, *last, **buckets;
    size_t count, room;
};

/* Adds an object; no other may have its key. */
void sim_table_add(struct sim_table *table, struct sim_table_entry *entry, const char *key, size_t length);
/* Finds an object. NULL: there is none. */
struct sim_table_entry *sim_table_find(const struct sim_table *table, const char *key, size_t length);
void sim_table_remove(struct sim_table *table, struct sim_table_entry *entry);
uint64_t sim_table_mix(uint64_t hash, const void *bytes, size_t length); /* continues an FNV-1a hash with these bytes */
#define SIM_TABLE_NOTHING UINT64_C(14695981039346656037)                 /* the hash to begin with */

#endif
