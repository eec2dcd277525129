/* SPDX-License-Identifier: BSD-3-Clause */
/* roll - objects found by a number that each was given here, holding its own entry. For what there may be very many of: an entry and its share
 * of the buckets cost 24 bytes at most, a third of what base/table needs. Numbers are given one after the other, so each is its own hash,
 * without a key: those of the objects are ours, and whoever names one from outside can only look for it.
 * Invariant: with n objects there are between n/2 and 2n buckets, unless there was no memory for more. */
#ifndef HL_BASE_ROLL_H
#define HL_BASE_ROLL_H

#include <stdint.h>
#include <sys/queue.h>

#include "base/memory.h"

struct hl_roll_entry {
    SLIST_ENTRY(hl_roll_entry) next; /* in its bucket */
    uint64_t number;
};
SLIST_HEAD(hl_roll_bucket, hl_roll_entry);

struct hl_roll {
    const struct hl_memory *memory;
    struct hl_roll_bucket *buckets; /* a power of two, or none */
    uint32_t room, count;
};

void hl_roll_init(struct hl_roll *roll, const struct hl_memory *memory);
int hl_roll_add(struct hl_roll *roll, struct hl_roll_entry *entry, uint64_t number); /* 0; -1: no memory. The number is new */
struct hl_roll_entry *hl_roll_find(const struct hl_roll *roll, uint64_t number);
void hl_roll_remove(struct hl_roll *roll, struct hl_roll_entry *entry); /* cannot fail: where there is no memory for fewer buckets they stay */

#endif
