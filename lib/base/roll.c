/* SPDX-License-Identifier: BSD-3-Clause */
/* roll - see roll.h. */
#include "base/roll.h"

enum { ROOM_MIN = 8, CROWDED = 2 };

void hl_roll_init(struct hl_roll *roll, const struct hl_memory *memory) { *roll = (struct hl_roll){.memory = memory}; }

static struct hl_roll_bucket *bucket_of(const struct hl_roll *roll, uint64_t number) { return &roll->buckets[number & (roll->room - 1)]; }

static int resize(struct hl_roll *roll, uint32_t room)
{
    struct hl_roll old = *roll;
    struct hl_roll_bucket *buckets = hl_memory_new(roll->memory, room * sizeof *buckets);
    struct hl_roll_entry *entry;
    if (!buckets)
        return -1;
    roll->buckets = buckets;
    roll->room = room;
    for (uint32_t i = 0; i < old.room; i++)
        while ((entry = SLIST_FIRST(&old.buckets[i])) != NULL) {
            SLIST_REMOVE_HEAD(&old.buckets[i], next);
            SLIST_INSERT_HEAD(bucket_of(roll, entry->number), entry, next);
        }
    hl_memory_free(roll->memory, old.buckets);
    return 0;
}

int hl_roll_add(struct hl_roll *roll, struct hl_roll_entry *entry, uint64_t number)
{
    if (roll->count == CROWDED * roll->room && resize(roll, roll->room ? 2 * roll->room : ROOM_MIN) != 0 && !roll->room)
        return -1;
    entry->number = number;
    SLIST_INSERT_HEAD(bucket_of(roll, number), entry, next);
    roll->count++;
    return 0;
}

struct hl_roll_entry *hl_roll_find(const struct hl_roll *roll, uint64_t number)
{
    struct hl_roll_entry *entry = roll->room ? SLIST_FIRST(bucket_of(roll, number)) : NULL;
    while (entry && entry->number != number)
        entry = SLIST_NEXT(entry, next);
    return entry;
}

void hl_roll_remove(struct hl_roll *roll, struct hl_roll_entry *entry)
{
    SLIST_REMOVE(bucket_of(roll, entry->number), entry, hl_roll_entry, next);
    if (--roll->count == 0) {
        hl_memory_free(roll->memory, roll->buckets);
        hl_roll_init(roll, roll->memory);
    } else if (roll->count < roll->room / CROWDED && roll->room > ROOM_MIN)
        (void)resize(roll, roll->room / 2);
}
