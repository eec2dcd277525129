/* SPDX-License-Identifier: BSD-3-Clause */
/* acquire - one accepted hilock_acquire, from the call to its one answer.
 *
 *   IN_LINE -> ASKING <-> SLEEPING    IN_LINE -> STARVED -> ASKING, when memory was short
 *                 |            \
 *              GRANTED  ------> DECIDED (reported once, then freed)
 *
 * A grant with too little left goes back: its hold ends by itself, and the acquire is IN_LINE and asks with another.
 *
 * Invariants: it is answered once, at ends_us at the latest, even if the network is down; if the answer is not OK, what
 * may be at the store is released (R4); after every subscription and every message it asks again before it sleeps (R7);
 * a grant is delivered only if min_validity is left at that moment (R8). */
#ifndef HL_LOCK_ACQUIRE_H
#define HL_LOCK_ACQUIRE_H

#include "wait/waiter.h"

void hl_acquire_ask(struct hl_acquire *acquire);      /* if it may */
void hl_acquire_answered(struct hl_acquire *acquire, const struct hl_response *said);
void hl_acquire_retry(struct hl_acquire *acquire);    /* granted with too little left: give it back, try again */
void hl_acquire_resume(struct hl_acquire *acquire); /* the alarm of its hold: its pause is over */
void hl_acquire_report_waiting(struct hl_core *core, struct hl_acquire *acquire);
/* The answer follows on delivery, in place of one that was decided before. It has left the line, and at the store at
 * most an undo is pending. */
void hl_acquire_decide(struct hl_acquire *acquire, hilock_status status);
void hl_acquire_drop(struct hl_acquire *acquire);                       /* the same, without a callback */
void hl_acquire_free(struct hl_core *core, struct hl_acquire *acquire); /* DECIDED or delivered; it leaves its handle */

/* The caller has checked everything but memory. limit_us: UINT64_MAX is for ever. HILOCK_OK or HILOCK_NO_MEMORY. */
hilock_status hl_acquire_begin(struct hl_core *core, struct hilock_lock *lock, int is_try, uint64_t limit_us,
                               hilock_result_fn *on_result, void *user);
/* Its turn to ask has come: takes its place and its hold. 0: no memory, the line is advanced again later */
int hl_acquire_prepare(struct hl_acquire *acquire);
void hl_acquire_on_alarm(struct hl_alarm *alarm); /* of core->wait_alarms */
/* The holder is another program, whose release does not hand over. */
int hl_acquire_is_behind_others(struct hl_acquire *acquire);
/* Asks for the holder again, which is not such a program: when the holder changes, only the first in the queue gets a
 * message. */
void hl_acquire_recheck_holder(struct hl_acquire *acquire);

#endif
