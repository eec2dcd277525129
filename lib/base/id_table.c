/* SPDX-License-Identifier: BSD-3-Clause */
/* id_table - see id_table.h. */
#include "base/id_table.h"

enum { ROOM_MIN = 8, CROWDED = 2 };

void hl_id_table_init(struct hl_id_table *id_table, const struct hl_memory *memory)
{
    *id_table = (struct hl_id_table){.memory = memory};
}

static struct hl_id_table_bucket *bucket_of(const struct hl_id_table *id_table, uint64_t number)
{
    return &id_table->buckets[number & (id_table->room - 1)];
}

static int resize(struct hl_id_table *id_table, uint32_t room)
{
    struct hl_id_table old = *id_table;
    struct hl_id_table_bucket *buckets = hl_memory_new(id_table->memory, room * sizeof *buckets);
    struct hl_id_table_entry *entry;
    if (!buckets)
        return -1;
    id_table->buckets = buckets;
    id_table->room = room;
    for (uint32_t i = 0; i < old.room; i++)
        while ((entry = SLIST_FIRST(&old.buckets[i])) != NULL) {
            SLIST_REMOVE_HEAD(&old.buckets[i], next);
            SLIST_INSERT_HEAD(bucket_of(id_table, entry->number), entry, next);
        }
    hl_memory_free(id_table->memory, old.buckets);
    return 0;
}

int hl_id_table_add(struct hl_id_table *id_table, struct hl_id_table_entry *entry, uint64_t number)
{
    if (id_table->count == CROWDED * id_table->room &&
        resize(id_table, id_table->room ? 2 * id_table->room : ROOM_MIN) != 0 && !id_table->room)
        return -1;
    entry->number = number;
    SLIST_INSERT_HEAD(bucket_of(id_table, number), entry, next);
    id_table->count++;
    return 0;
}

struct hl_id_table_entry *hl_id_table_find(const struct hl_id_table *id_table, uint64_t number)
{
    struct hl_id_table_entry *entry = id_table->room ? SLIST_FIRST(bucket_of(id_table, number)) : NULL;
    while (entry && entry->number != number)
        entry = SLIST_NEXT(entry, next);
    return entry;
}

void hl_id_table_remove(struct hl_id_table *id_table, struct hl_id_table_entry *entry)
{
    SLIST_REMOVE(bucket_of(id_table, entry->number), entry, hl_id_table_entry, next);
    entry->number = 0;
    if (--id_table->count == 0) {
        hl_memory_free(id_table->memory, id_table->buckets);
        hl_id_table_init(id_table, id_table->memory);
    } else if (id_table->count < id_table->room / CROWDED && id_table->room > ROOM_MIN)
        (void)resize(id_table, id_table->room / 2);
}
