/* SPDX-License-Identifier: BSD-3-Clause */
/* validity - shows other threads until when a handle holds. It is a counted object with an atomic deadline, which only
 * the loop's thread writes. Whenever the deadline of a hold moves, or a hold ends, the validity of its handle is
 * brought up to date. For a member of a group, that is the validity of the group's handle.
 *
 * Invariants: a validity never promises more than the deadline that its handle had at some moment since the hold last
 * stopped counting. It is 0 from the end of the hold on, before any report, and before a release is sent. A handle has
 * at most one validity for a hold, and a validity never shows another hold. It touches neither the client nor the lock,
 * because both may be gone. In a forked child it is 0. */
#ifndef HL_HOLD_VALIDITY_H
#define HL_HOLD_VALIDITY_H

#include "core/lock.h"

struct hilock_validity {
    atomic_uint refs; /* the references of the users, and that of the handle until the hold ends */
    uint64_t (*now_us)(const void *clock);
    const void *clock;
    struct hl_cell *cell;
    atomic_uint_fast64_t ends_us; /* when the validity ends; 0: it is over */
};

/* ---- the loop's thread ---- */

/* The handle is HELD. Returns one more reference, or NULL without memory. */
struct hilock_validity *hl_validity_of(struct hilock_lock *lock);
/* The deadline of what this handle holds (it may be a member of a group) has moved, or the hold has ended. */
void hl_validity_follow(const struct hilock_lock *lock);
/* The hold is over: the validity is 0 for ever. A second call changes nothing. */
void hl_validity_end(struct hilock_lock *lock);

/* ---- any thread ---- */

uint64_t hl_validity_left_us(const struct hilock_validity *validity);
void hl_validity_ref(struct hilock_validity *validity);
void hl_validity_unref(struct hilock_validity *validity);

#endif
