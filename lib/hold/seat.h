/* SPDX-License-Identifier: BSD-3-Clause */
/* seat - what a handle has while it counts on a share together with other handles of its client (share_local_ms). As
 * long as a hold has one handle, that handle has no seat. With the second handle each of them gets one, and keeps it
 * until its own tenure ends.
 *
 * Invariants:
 *  - If a hold has several handles, each has a seat. The last handle may have one as well.
 *  - A seat has the memory for the answer to the release of its handle, so such a release cannot fail: it ends the
 *    tenure of that handle, and the hold goes on for the others.
 *  - What is reported of the hold is reported to each handle that counted on it as it happened. */
#ifndef HL_HOLD_SEAT_H
#define HL_HOLD_SEAT_H

#include "core/call.h"
#include "hold/hold.h"

struct hl_seat {
    struct hl_call receipt;  /* the answer to the release of the handle, if others still count on the hold */
    uint64_t since_us;       /* when the tenure of the handle began */
    uint8_t answer;          /* enum hl_seat_answer: the release is answered */
    uint8_t untold;          /* TENURE_ bits: what the handle was not told yet. TENURE_LOST while the hold is held: the
                                time of this handle alone is over (hold_max_ms) */
};

static inline struct hl_seat *hl_seat_of(const struct hilock_lock *lock)
{
    return lock->extras ? lock->extras->seat : NULL;
}

/* held: returns when the tenure of this handle began. */
static inline uint64_t hl_seat_since_us(const struct hl_hold *hold, const struct hilock_lock *lock)
{
    return hl_seat_of(lock) ? hl_seat_of(lock)->since_us : hold->since_us;
}
/* 1: the time of this handle alone is over, and it was not told yet. */
static inline int hl_seat_is_lost(const struct hilock_lock *lock)
{
    return hl_seat_of(lock) && (hl_seat_of(lock)->untold & TENURE_LOST);
}

/* From now on the handle counts on this hold, which is held, beside those that do already. -1: there is no memory, and
 * the handle does not. */
int hl_seat_take(struct hl_hold *hold, struct hilock_lock *lock);

enum hl_seat_answer { /* the answer to the release of a handle */
    SEAT_ANSWERS_NOT, /* the release ends the hold, or the hold has ended: not answered here */
    SEAT_ANSWERS_OK,  /* others still count on the hold */
    SEAT_ANSWERS_LOST /* the tenure of the handle was over already, perhaps that of all */
};
/* A handle with a seat releases its hold. Posts the answer to that if others count on the hold, or if the time of
 * this handle alone was over. Call this before the handle leaves the hold. */
enum hl_seat_answer hl_seat_answer(struct hl_hold *hold, struct hilock_lock *lock, hilock_result_fn *on_result,
                                   void *user);
/* The tenure of the handle ends: frees its seat. */
void hl_seat_free(struct hl_core *core, struct hilock_lock *lock);

/* Posts a report of this hold, for each handle that counts on it now. */
void hl_seats_post(struct hl_hold *hold, unsigned bit);
/* A report of this bit is due. Returns a handle that was not told of it yet, which is told now; NULL: there is none. If
 * there are more, the report is posted again. */
struct hilock_lock *hl_seats_next_untold(struct hl_hold *hold, unsigned bit);

/* 1: the time of all handles is over, not only of some. */
int hl_seats_are_over(const struct hl_hold *hold, uint64_t now_us);
/* The time of some handles is over (hold_max_ms), and the hold goes on for the others: posts the loss of the former. */
void hl_seats_lose_some(struct hl_hold *hold, uint64_t now_us);
/* All handles lose the hold, for the reason that it has: traces that, once for each handle. */
void hl_seats_trace_loss(const struct hl_hold *hold);

#endif
