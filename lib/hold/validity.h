/* SPDX-License-Identifier: BSD-3-Clause */
/* validity - a handle's hold for other threads: a counted object with an atomic deadline for each of its holds (one for
 * a plain handle), which only the loop's thread writes. It is valid until the needed-th longest of them.
 *
 * Invariants: it never promises more than the hold's own deadline at some moment not before the last end of belief, and
 * it is 0 from the end of the hold on, before any report and before a release leaves; a hold has at most one, and it
 * never shows another hold. It touches neither client nor lock: both may be gone. In a forked child it is 0. */
#ifndef HL_HOLD_VALIDITY_H
#define HL_HOLD_VALIDITY_H

#include "hold/hold.h"

enum { HL_VALIDITY_MAX = 64 }; /* names of a multi */

struct hilock_validity {
    atomic_uint refs; /* the users' references, and its hold's until that ends */
    uint64_t (*now_us)(const void *clock);
    const void *clock;
    struct hl_cell *cell;
    unsigned count, needed;
    atomic_uint_fast64_t deadlines_us[]; /* 0: over */
};

/* ---- the loop's thread ---- */

/* one reference; NULL: no memory */
struct hilock_validity *hl_validity_new(struct hl_core *core, unsigned count, unsigned needed);
struct hilock_validity *hl_validity_of(struct hl_core *core, struct hl_hold *hold); /* for a plain handle: one more
                                                                                       reference; NULL: no memory */
/* -1: no memory */
int hl_validity_join(struct hl_core *core, struct hl_hold *hold, struct hilock_validity *validity, unsigned at);
void hl_validity_follow(struct hl_hold *hold); /* its deadline has moved */
void hl_validity_end(struct hl_hold *hold);    /* the hold is over: 0 for ever. A second call changes nothing */

/* ---- any thread ---- */

uint64_t hl_validity_left_us(const struct hilock_validity *validity);
void hl_validity_ref(struct hilock_validity *validity);
void hl_validity_unref(struct hilock_validity *validity);

#endif
