/* SPDX-License-Identifier: BSD-3-Clause */
/* table - finds objects by a byte string; each object holds its own entry. uthash does the work. This file adds the
 * client's allocator, an error when memory runs out, and a keyed hash: names come from outside, and an attacker who can
 * predict the hash could put all of them into one bucket. */
#ifndef HL_BASE_TABLE_H
#define HL_BASE_TABLE_H

#include "base/memory.h"

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(bytes, length, hash) ((hash) = hl_table_hash(hl_table_here, (bytes), (length)))
#define uthash_malloc(size) hl_memory_new(hl_table_here->memory, (size))
#define uthash_free(block, size) hl_memory_free(hl_table_here->memory, (block))
#define uthash_nonfatal_oom(entry) ((void)(entry))
#include <stdint.h>
#include <uthash.h>

struct hl_table_entry { UT_hash_handle hh; }; /* the object owns the bytes of the key */

struct hl_table {
    struct hl_table_entry *first;
    const struct hl_memory *memory;
    uint64_t seed[2];
};

void hl_table_init(struct hl_table *table, const struct hl_memory *memory, uint64_t seed0, uint64_t seed1);
/* Adds an entry whose key is not in the table. Returns 0, or -1 if there is no memory. */
int hl_table_add(struct hl_table *table, struct hl_table_entry *entry, const char *key, size_t length);
struct hl_table_entry *hl_table_find(const struct hl_table *table, const char *key, size_t length);
void hl_table_remove(struct hl_table *table, struct hl_table_entry *entry);
/* Returns the entry that was added after this one; for entry NULL, the oldest. */
struct hl_table_entry *hl_table_next(const struct hl_table *table, const struct hl_table_entry *entry);

unsigned hl_table_hash(const struct hl_table *table, const void *bytes, size_t length);

#endif
