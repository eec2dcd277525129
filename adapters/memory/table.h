/* SPDX-License-Identifier: BSD-3-Clause */
/* table - objects found by a byte string, each holding its own entry, gone through in the order of their arrival.
 * Invariant: there are at least as many buckets as entries, or none while there are few, for those are quickly walked;
 * and none when it is empty: an empty table need not be ended. */
#ifndef SIM_STORE_TABLE_H
#define SIM_STORE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct sim_table_entry {
    struct sim_table_entry *before, *behind, *next_in_bucket;
    const char *key; /* the object's */
    size_t length;
    uint64_t hash;
};

struct sim_table {
    struct sim_table_entry *first, *last, **buckets;
    size_t count, room;
};

/* the key is new */
void sim_table_add(struct sim_table *table, struct sim_table_entry *entry, const char *key, size_t length);
/* NULL: there is none */
struct sim_table_entry *sim_table_find(const struct sim_table *table, const char *key, size_t length);
void sim_table_remove(struct sim_table *table, struct sim_table_entry *entry);
uint64_t sim_table_mix(uint64_t hash, const void *bytes, size_t length); /* FNV-1a, of these bytes after others */
#define SIM_TABLE_NOTHING UINT64_C(14695981039346656037)                 /* which begins with it */

#endif
