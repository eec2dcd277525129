/* SPDX-License-Identifier: BSD-3-Clause */
/* validity - one hold as other threads see it: a counted object with one atomic deadline, which the loop's thread alone writes.
 *
 * Invariants: what it says is never more than the hold's own deadline at some moment not before the last end of belief, and 0 from the
 * end of the hold on, before anybody is told and before a release leaves; a hold has at most one, and it never shows another hold. It
 * touches neither client nor lock: both may be gone. In a forked child it says 0. */
#ifndef HL_LOCK_VALIDITY_H
#define HL_LOCK_VALIDITY_H

#include "lock/core.h"

struct hilock_validity {
    atomic_uint refs; /* the users', and its hold's until that ends */
    atomic_uint_fast64_t deadline_us; /* 0: over */
    uint64_t (*now_us)(const void *clock);
    const void *clock;
    struct hl_alive *alive;
    struct hl_memory memory;
};

/* ---- the loop's thread ---- */

struct hilock_validity *hl_validity_of(struct hl_core *core, struct hl_hold *hold); /* one more reference; NULL: no memory */
void hl_validity_follow(struct hl_hold *hold); /* its deadline has moved */
void hl_validity_end(struct hl_hold *hold);    /* it is over: 0 for ever. Once more is nothing */

/* ---- any thread ---- */

uint64_t hl_validity_left_us(const struct hilock_validity *validity);
void hl_validity_ref(struct hilock_validity *validity);
void hl_validity_unref(struct hilock_validity *validity);

#endif
