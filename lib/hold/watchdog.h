/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog - renews a hold at a third of its lease, and sooner after a failure, until its deadline. It also sends the
 * extends and answers them: an extend is a renewal that asks for a longer lease, and a hold can have only one request
 * under way.
 *
 *   accepted  --a renewal is sent-->  sent  --answer or timeout-->  decided  --reported-->  freed
 *       `----------------------- the hold ends --------------------> LOST
 *
 * The drawing shows the life of an extend. A round is one renewal; it asks for the longest lease of all pending
 * extends. An extend that is accepted after a renewal was sent waits for the next round, which follows at once.
 *
 * Invariants:
 *  - An answer moves the deadline to the time that it proves, which counts from the send of its request (R1).
 *  - An answer that comes after the deadline extends nothing (R11).
 *  - Before the deadline only the answer "not yours" is a loss; error replies and silence are not. After every other
 *    end the id is released (R5).
 *  - Expired holds are found and reported before any other callback (R6).
 *  - An extend is reported OK only after the server has answered a renewal that was sent after the extend was accepted.
 *    Extends are decided in the order of their acceptance.
 *  - If the hold ends first, its extends are answered LOST. If that end is a loss, these answers replace on_lost. */
#ifndef HL_HOLD_WATCHDOG_H
#define HL_HOLD_WATCHDOG_H

#include "core/call.h"
#include "hold/hold.h"

struct hl_extend {
    struct hl_call call;
    TAILQ_ENTRY(hl_extend) entry; /* links the extend into the extras of its handle, until it is reported or the hold
                                     has ended (LOST) */
    hilock_operation operation;  /* EXTEND or DOWNGRADE: a downgrade is answered like an extend (downgrade.h) */
    uint32_t lease_ms, attempts; /* attempts: how many rounds were sent since the extend was accepted */
    hilock_status status;        /* the answer, once it is decided */
    char *detail;                /* the sentence of that answer; NULL: the general sentence of the status */
};

void hl_watchdog_start(struct hl_hold *hold); /* a hold that is acquiring was granted, and is held from now on */
/* a hold that is held begins a new tenure, or has other terms now */
void hl_watchdog_on_new_tenure(struct hl_hold *hold);
/* The link is back, or the name has moved: sends a renewal at a random moment within that time. */
void hl_watchdog_verify(struct hl_hold *hold, uint64_t within_us);
/* A hold is lost: reports that to its user. If its grant was never reported, its acquire tries again instead. */
void hl_watchdog_lose(struct hl_hold *hold, hilock_lost_reason reason);
/* The same for a hold whose grant was reported to its user: reports the loss before all else, then ends the hold. */
void hl_watchdog_take_from_user(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason);
/* 1: the hold has a watchdog, and its latest two renewals, or more, have failed. That was reported to its user. */
int hl_watchdog_is_failing(const struct hl_hold *hold);
/* Ends every hold that has expired. core->notices calls this before a report, if a hold may have. */
void hl_watchdog_sweep(struct hl_core *core, uint64_t now_us);

/* Accepts an extend. Call only if the handle has a hold. If that hold is held, the extend is sent now, or with the next
 * renewal if one is under way. If the hold was just lost, the report of that loss answers the extend. Returns OK or
 * NO_MEMORY. */
hilock_status hl_watchdog_extend(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                                 hilock_result_fn *on_result, void *user);
/* The same for a downgrade of a handle whose hold shares its name with nobody. */
hilock_status hl_watchdog_downgrade(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result,
                                    void *user);
/* A renewal is about to be sent. Returns the lease that this renewal asks for. */
uint32_t hl_watchdog_begin_round(struct hl_hold *hold);
/* The hold ends: answers LOST to all its extends. is_loss: these answers are reported before all else. */
void hl_watchdog_end_extends(struct hl_core *core, struct hilock_lock *lock, int is_loss);
/* Reports the answer to an extend. detail: the sentence of the loss, if this answer replaces on_lost; NULL: the detail
 * of the extend is used. */
void hl_watchdog_report_extend(struct hl_core *core, struct hl_extend *extend, const char *detail);
/* frees all extends of the handle, without an answer */
void hl_watchdog_forget_extends(struct hl_core *core, struct hilock_lock *lock);

/* ---- for the table of life.c ---- */

/* The hold is held by a pushed grant, and a heartbeat that was sent before that grant came has its answer, or will have
 * none: sends the extends that waited for it, or plans the next renewal. */
void hl_watchdog_on_stale(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer);
void hl_watchdog_on_no_stale(struct hl_hold *hold, const struct hl_answer *answer);
void hl_watchdog_on_due(struct hl_hold *hold); /* a renewal, an extend or a verification is due */
void hl_watchdog_on_late(struct hl_hold *hold); /* the time of the request under way is over */
void hl_watchdog_on_answer(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer);
/* a renewal has no answer, and that is a failure */
void hl_watchdog_on_silence(struct hl_hold *hold, const struct hl_answer *answer);
/* a renewal has no answer, and counts as failed already */
void hl_watchdog_on_unheard(struct hl_hold *hold, const struct hl_answer *answer);

#endif
