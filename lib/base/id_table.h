/* SPDX-License-Identifier: BSD-3-Clause */
/* id_table - finds objects by a number that the table gave them; each object holds its own entry. For very many
 * objects: an entry and its share of the buckets cost 24 bytes at most, a third of what base/table needs. Numbers are
 * given one after the other, so each is its own hash, without a key: we choose them, and an outsider can only look one
 * up. Invariant: with n objects there are between n/2 and 2n buckets, unless there was no memory for more. */
#ifndef HL_BASE_ID_TABLE_H
#define HL_BASE_ID_TABLE_H

#include <stdint.h>
#include <sys/queue.h>

#include "base/memory.h"

struct hl_id_table_entry {
    SLIST_ENTRY(hl_id_table_entry) next; /* in its bucket */
    uint64_t number;                     /* 0: it is in no table */
};
SLIST_HEAD(hl_id_table_bucket, hl_id_table_entry);

struct hl_id_table {
    const struct hl_memory *memory;
    struct hl_id_table_bucket *buckets; /* a power of two, or none */
    uint32_t room, count;
};

void hl_id_table_init(struct hl_id_table *id_table, const struct hl_memory *memory);
/* 0; -1: no memory. The number is new */
int hl_id_table_add(struct hl_id_table *id_table, struct hl_id_table_entry *entry, uint64_t number);
struct hl_id_table_entry *hl_id_table_find(const struct hl_id_table *id_table, uint64_t number);
void hl_id_table_remove(struct hl_id_table *id_table,
                        struct hl_id_table_entry *entry); /* cannot fail: without memory it keeps its buckets */

static inline int hl_id_table_is_in(const struct hl_id_table_entry *entry) { return entry->number != 0; }

#endif
