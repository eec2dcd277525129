/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog - keeps a hold: renews it at a third of its lease, sooner after a failure, until belief in it ends. And
 * accepted extends of it, their leases and answers: a hold has one request, and an extend is a renewal that asks for
 * more.
 *
 *   accepted  --a renewal leaves-->  asked  --its answer, or its time is over-->  decided  --reported-->  gone
 *       `------------------------ the hold ends ---------------------------------> LOST
 *
 * A round is one renewal; it asks for the longest lease of all. An extend that is accepted after a renewal has left
 * waits for the next, which follows at once.
 *
 * Invariants: an answer moves the deadline by what it proves, from its request's send (R1); an answer after the end
 * extends nothing (R11); only "not yours" ends belief before the deadline, error replies and silence never do (R5);
 * after every other end that id is released (R5); expired holds are found and reported before any other callback
 * (R6). An extend is OK only by the answer to a renewal that left after it was accepted; extends are decided in their
 * order; if its hold ends first it is answered LOST, in place of on_lost if that end is a loss. */
#ifndef HL_HOLD_WATCHDOG_H
#define HL_HOLD_WATCHDOG_H

#include "core/callback.h"
#include "hold/hold.h"

struct hl_extend {
    struct hl_call call;
    TAILQ_ENTRY(hl_extend) entry; /* in its handle's side, until it is reported or the hold has ended: LOST */
    uint32_t lease_ms, attempts; /* attempts: rounds that left since it was accepted */
    hilock_status status;        /* decided */
    char *detail;                /* decided; NULL: the status' own sentence */
};

void hl_watchdog_start(struct hl_hold *hold); /* ASKING, granted: HELD */
void hl_watchdog_go_on(struct hl_hold *hold); /* HELD: a new tenure begins, or its terms are others */
void hl_watchdog_on_alarm(struct hl_hold *hold);
void hl_watchdog_verify(struct hl_hold *hold, uint64_t within_us); /* the link is back: renew soon */
/* How long until the first hold ends that this node (NULL: any node) must renew; UINT64_MAX: there is none. Visits all
 * holds. */
uint64_t hl_watchdog_left_us(void *core, const struct hl_node *node);
void hl_watchdog_answered(struct hl_hold *hold, const struct hl_answer *answer); /* HELD: the answer to a renewal */
/* HELD and reported: reports the loss before all else, then ends it */
void hl_watchdog_lose(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason);
void hl_watchdog_end(struct hl_hold *hold, hilock_lost_reason reason); /* HELD: lost; if it was never reported, its
                                                                          owner is notified */
uint64_t hl_watchdog_sweep(struct hl_core *core); /* finds every hold that has expired; returns the time */
/* HELD: its heartbeat is out of the way: asks for what waited for it. is_ours: it proves that, for the lease from its
 * send */
void hl_watchdog_stale_answer(struct hl_hold *hold, int is_ours);

/* The handle holds. Accepted: a HELD hold is asked for; in other states its loss will be reported. OK or NO_MEMORY */
hilock_status hl_watchdog_extend(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                                 hilock_result_fn *on_result, void *user);
uint32_t hl_watchdog_begin_round(struct hl_hold *hold); /* a renewal leaves. Returns the lease that it asks for */
/* It leaves, and shortens a lease that became too long. Returns to how much; 0: it shortens nothing */
uint32_t hl_watchdog_begin_shortening(struct hl_hold *hold);
/* the hold ends: all extends are LOST; is_loss: reported before all else */
void hl_watchdog_end_extends(struct hl_core *core, struct hilock_lock *lock, int is_loss);
/* its answer; detail: of a loss, in place of on_lost; NULL: its own */
void hl_watchdog_report_extend(struct hl_core *core, struct hl_extend *extend, const char *detail);
void hl_watchdog_forget_extends(struct hl_core *core, struct hilock_lock *lock);

#endif
