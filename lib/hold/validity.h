/* SPDX-License-Identifier: BSD-3-Clause */
/* validity - what a handle holds, for other threads: a counted object with an atomic deadline, which only the loop's
 * thread writes. Each time a hold's deadline moves, or a hold ends, its handle is looked at again; a member of a group
 * moves that of the group.
 *
 * Invariants: it never promises more than the handle's own deadline at some moment not before the last end of belief,
 * and it is 0 from the end of the hold on, before any report and before a release leaves; a handle has one for a hold
 * at most, and it never shows another hold. It touches neither client nor lock: both may be gone. In a forked child it
 * is 0. */
#ifndef HL_HOLD_VALIDITY_H
#define HL_HOLD_VALIDITY_H

#include "core/lock.h"

struct hilock_validity {
    atomic_uint refs; /* the users' references, and its handle's until the hold ends */
    uint64_t (*now_us)(const void *clock);
    const void *clock;
    struct hl_cell *cell;
    atomic_uint_fast64_t ends_us; /* 0: over */
};

/* ---- the loop's thread ---- */

struct hilock_validity *hl_validity_of(struct hilock_lock *lock); /* HELD: one more reference; NULL: no memory */
void hl_validity_follow(const struct hilock_lock *lock); /* what it holds, a member of a group perhaps, has moved or
                                                            ended */
void hl_validity_end(struct hilock_lock *lock); /* its hold is over: 0 for ever. A second call changes nothing */

/* ---- any thread ---- */

uint64_t hl_validity_left_us(const struct hilock_validity *validity);
void hl_validity_ref(struct hilock_validity *validity);
void hl_validity_unref(struct hilock_validity *validity);

#endif
