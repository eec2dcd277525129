/* SPDX-License-Identifier: BSD-3-Clause */
/* extend - accepted extends of a hold: their leases and answers. The watchdog asks for them: a hold has one request,
 * and an extend is a renewal that asks for more.
 *
 *   accepted  --a renewal leaves-->  asked  --its answer, or its time is over-->  decided  --reported-->  gone
 *       `------------------------ the hold ends ---------------------------------> LOST
 *
 * A round is one renewal; it asks for the longest lease of all. An extend that is accepted after a renewal has left
 * waits for the next, which follows at once. Invariants: an extend is OK only by the answer to a renewal that left
 * after it was accepted; extends are decided in their order; if its hold ends first it is answered LOST, in place of
 * on_lost if that end is a loss. */
#ifndef HL_HOLD_EXTEND_H
#define HL_HOLD_EXTEND_H

#include "core/callback.h"

struct hl_extend {
    struct hl_call call;
    TAILQ_ENTRY(hl_extend) entry; /* in its handle's side, until it is reported or the hold has ended: LOST */
    uint32_t lease_ms, attempts; /* attempts: rounds that left since it was accepted */
    hilock_status status;        /* decided */
    char *detail;                /* decided; NULL: the status' own sentence */
};

/* Accepted: the watchdog of a HELD hold asks; in other states its loss will be reported. OK or NO_MEMORY */
hilock_status hl_extend_begin(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                              hilock_result_fn *on_result, void *user);
uint32_t hl_extend_round(struct hl_hold *hold); /* a renewal leaves; the lease that it asks for */
int hl_extend_is_pending(const struct hl_hold *hold); /* some are not decided */
/* the round; why NULL: the status' own sentence */
void hl_extend_answered(struct hl_hold *hold, hilock_status status, const char *why);
uint64_t hl_extend_over_us(const struct hl_hold *hold); /* by when any lease that was asked for is over at the
                                                           store, even if all got through; 0: at once */
/* the hold ends: all are LOST; is_loss: reported before all else */
void hl_extend_end(struct hl_core *core, struct hilock_lock *lock, int is_loss);
/* its answer; detail: of a loss, in place of on_lost; NULL: its own */
void hl_extend_report(struct hl_core *core, struct hl_extend *extend, const char *detail);
void hl_extends_forget(struct hl_core *core, struct hilock_lock *lock);

#endif
