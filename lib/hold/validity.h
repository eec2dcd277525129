/* SPDX-License-Identifier: BSD-3-Clause */
/* validity - shows other threads until when a handle holds. It is a counted object with an atomic deadline, which only
 * the loop's thread writes. Whenever the deadline of a hold moves, or a hold ends, the validity of its handle is
 * brought up to date. For a member of a group, that is the validity of the group's handle.
 *
 * Invariants: the time in a validity is never later than the deadline that the hold of its handle has now, or had a
 * moment ago. When the hold ends, the validity becomes 0 for ever, before the end is reported and before a release is
 * sent. A handle has at most one validity for a hold, and a validity never shows another hold. A validity uses neither
 * the client nor the handle, because both may be gone. In a forked child every validity is 0. */
#ifndef HL_HOLD_VALIDITY_H
#define HL_HOLD_VALIDITY_H

#include "hold/hold.h"

struct hilock_validity {
    atomic_uint refs; /* one for each reference of the user, and one of the handle until the hold ends */
    uint64_t (*now_us)(const void *clock);
    const void *clock;
    struct hl_cell *cell;
    atomic_uint_fast64_t ends_us; /* when the validity ends; 0: the hold has ended */
};

/* ---- the loop's thread ---- */

/* The handle is HELD. Returns one more reference, or NULL without memory. */
struct hilock_validity *hl_validity_of(struct hilock_lock *lock);
/* The deadline of this handle, which may be a member of a group, has moved, or its hold has ended: brings the validity
 * up to date. */
void hl_validity_follow(const struct hilock_lock *lock);
/* the same for the handles of this hold */
static inline void hl_validity_follow_all(const struct hl_hold *hold)
{
    const struct hilock_lock *lock;
    TAILQ_FOREACH(lock, &hold->handles, by_hold)
        hl_validity_follow(lock);
}
/* The hold has ended: sets the validity to 0 for ever. A second call changes nothing. */
void hl_validity_end(struct hilock_lock *lock);

/* ---- any thread ---- */

/* returns how long the handle still holds; 0: it does not */
uint64_t hl_validity_left_us(const struct hilock_validity *validity);
void hl_validity_ref(struct hilock_validity *validity);
void hl_validity_unref(struct hilock_validity *validity);

#endif
