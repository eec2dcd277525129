/* SPDX-License-Identifier: BSD-3-Clause */
/* locks - what this folder keeps for a client: the alarms of its acquires, its inquiries, the count of its lines, the
 * places that pushes can find, the grant channels, and the timer for a shortage of memory. The client has this struct
 * beside its core, and core->locks points to it. */
#ifndef HL_LOCK_LOCKS_H
#define HL_LOCK_LOCKS_H

#include "core/core.h"

struct hl_queue_place;
struct hl_terms;

TAILQ_HEAD(hl_inquiries, hl_inquiry);
LIST_HEAD(hl_queue_places, hl_queue_place);
enum { HL_PLACE_BUCKETS = 509 }; /* a prime, because a group takes ids in blocks of a power of two */

struct hl_locks {
    struct hl_alarms alarms;       /* acquire.c: one for each acquire that has a limit or reports that it waits */
    struct hl_inquiries inquiries; /* inquiry.c */
    unsigned inquiries_open;       /* how many inquiries are not decided yet */
    unsigned lines;                /* how many names are waited for */
    uint64_t silent_releases_until_us; /* until then another program may hold a name, and its release may wake no
                                          waiter of ours (line.c) */
    struct hl_queue_places *places;    /* grant_channel.c: HL_PLACE_BUCKETS lists of places, by the ids of their
                                          holds. NULL: no place was made yet */
    struct hl_table grant_channels;    /* grant_channel.c: by slot */
    struct hl_terms *undo_terms;       /* the terms whose scripts release unknown grants; referenced. NULL: no queue was
                                          used yet */
    void *shortage_timer;              /* line.c */
    int is_memory_short;               /* shortage_timer runs */
};

/* Returns the list of places with ids like this one. The ids are our own and are given out in order, so the remainder
 * spreads them evenly. */
static inline struct hl_queue_places *hl_locks_places(const struct hl_locks *locks, uint64_t id)
{
    return &locks->places[id % HL_PLACE_BUCKETS];
}

#endif
