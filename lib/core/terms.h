/* SPDX-License-Identifier: BSD-3-Clause */
/* terms - the options of a handle after checks and defaults. Handles that are made one after the other with the same
 * options share their terms. */
#ifndef HL_CORE_TERMS_H
#define HL_CORE_TERMS_H

#include "core/core.h"
#include "wire/kind.h"
#include "wire/queued.h"

/* Whose terms these are. The terms of members change when their group is granted, and when it waits again. */
enum hl_terms_owner {
    TERMS_OF_USER,
    TERMS_OF_WAITING_GROUP, /* its members are neither counted nor listed, and report to the group only */
    TERMS_OF_HELD_GROUP     /* the same, and their acquires are sent even to a server under its restart guard */
};

enum { HL_HOLDERS_ANY = 1000000 }; /* "any number" of holders_max, also in the queue at the store */

struct hl_terms {
    unsigned refs;
    struct hl_cell *cell;
    const struct hl_kind *kind;
    hilock_event_fn *on_lost, *on_event;
    uint32_t poll_min_ms, poll_jitter_ms;
    uint32_t lease_ms, hold_max_ms, min_validity_ms, wait_report_ms; /* hold_max_ms, wait_report_ms: 0 is off */
    uint32_t replica_timeout_ms;
    uint32_t holders_max;         /* how many may hold the name together with such a handle, itself included */
    uint32_t share_local_ms;      /* for how long readers of this client may join a share (lock/joining.h); 0: not */
    uint8_t replicas;             /* how many replicas must confirm a grant */
    uint8_t is_renewed, is_reentrant, is_polling; /* is_polling: waits without a subscription */
    uint8_t owner;                /* enum hl_terms_owner */
};

static inline int hl_terms_are_internal(const struct hl_terms *terms) { return terms->owner != TERMS_OF_USER; }

static inline void hl_terms_unref(struct hl_terms *terms)
{
    struct hl_cell *cell = terms->cell;
    if (--terms->refs)
        return;
    hl_memory_free(&cell->memory, terms);
    hl_cell_unref(cell);
}
/* Returns by how much a handle of these terms raises the counts that the user reads. */
static inline unsigned hl_terms_count(const struct hl_terms *terms) { return !hl_terms_are_internal(terms); }
static inline uint64_t hl_terms_lease_us(const struct hl_terms *terms) { return (uint64_t)terms->lease_ms * 1000; }
/* Returns how much of a grant must be left when it is reported: by default half of it. */
static inline uint64_t hl_terms_min_validity_us(const struct hl_terms *terms, uint32_t granted_ms)
{
    return (uint64_t)(terms->min_validity_ms ? terms->min_validity_ms : granted_ms / 2) * 1000;
}
/* Traces an event of a handle of the user; internal handles are not traced. */
static inline void hl_terms_trace(const struct hl_terms *terms, enum hl_what what, const struct hl_fact *fact)
{
    if (!hl_terms_are_internal(terms))
        hl_trace(&terms->cell->core->host, what, fact);
}

#endif
