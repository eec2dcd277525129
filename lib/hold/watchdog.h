/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog - keeps a hold: renews it at a third of its lease, and sooner after a failure, until its deadline. It also
 * keeps the extends of a hold, their leases and their answers, because a hold has one request, and an extend is a
 * renewal that asks for a longer lease.
 *
 *   accepted  --a renewal is sent-->  asked  --answer or timeout-->  decided  --reported-->  gone
 *       `------------------------ the hold ends --------------------> LOST
 *
 * A round is one renewal; it asks for the longest lease of all pending extends. An extend that is accepted after a
 * renewal was sent waits for the next round, which follows at once.
 *
 * Invariants: an answer moves the deadline by what it proves, counted from the send of its request (R1). An answer
 * after the end extends nothing (R11). Before the deadline only the answer "not yours" ends a hold; error replies and
 * silence never do (R5). After every other end the id is released (R5). Expired holds are found and reported before any
 * other callback (R6). An extend is OK only by the answer to a renewal that was sent after the extend was accepted, and
 * extends are decided in the order in which they were accepted. If the hold ends first, its extends are answered LOST;
 * if that end is a loss, these answers take the place of on_lost. */
#ifndef HL_HOLD_WATCHDOG_H
#define HL_HOLD_WATCHDOG_H

#include "core/callback.h"
#include "hold/hold.h"

struct hl_extend {
    struct hl_call call;
    TAILQ_ENTRY(hl_extend) entry; /* links the extend into the extras of its handle, until it is reported or the hold
                                     has ended (LOST) */
    uint32_t lease_ms, attempts; /* attempts: rounds that were sent since the extend was accepted */
    hilock_status status;        /* once decided */
    char *detail;                /* once decided; NULL: the sentence of the status serves */
};

void hl_watchdog_start(struct hl_hold *hold); /* an ASKING hold was granted and becomes HELD */
void hl_watchdog_on_new_tenure(struct hl_hold *hold); /* a HELD hold begins a new tenure, or has other terms now */
void hl_watchdog_on_alarm(struct hl_hold *hold);
/* the link is back: renews at a random moment within that time */
void hl_watchdog_verify(struct hl_hold *hold, uint64_t within_us);
/* Returns how long it takes until the first of the holds ends that must be renewed at this node (NULL: at any node);
 * UINT64_MAX: there is none. Visits all holds. */
uint64_t hl_watchdog_left_us(void *core, const struct hl_node *node);
/* the hold is HELD; handles the answer to a renewal */
void hl_watchdog_on_answer(struct hl_hold *hold, const struct hl_answer *answer);
/* The hold is HELD, and its user knows of the grant: reports the loss before all else, then ends the hold. */
void hl_watchdog_lose_reported(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason);
/* A HELD hold is lost. If its grant was never reported, its acquire tries again. */
void hl_watchdog_lose(struct hl_hold *hold, hilock_lost_reason reason);
uint64_t hl_watchdog_sweep(struct hl_core *core); /* ends every hold that has expired; returns the time */
/* The hold is HELD, and the heartbeat that was sent before the grant has been answered: sends what waited for that.
 * is_ours: the answer proves that the hold is ours for a lease, counted from the send of that heartbeat. */
void hl_watchdog_on_stale_answer(struct hl_hold *hold, int is_ours);

/* The handle holds. An accepted extend is asked for if the hold is HELD; in other states the loss of the hold will be
 * reported. Returns OK or NO_MEMORY. */
hilock_status hl_watchdog_extend(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                                 hilock_result_fn *on_result, void *user);
/* A renewal is about to be sent. Returns the lease that it asks for. */
uint32_t hl_watchdog_begin_round(struct hl_hold *hold);
/* The same renewal may shorten a lease that became too long. Returns the length to which it does, or 0: it shortens
 * nothing. */
uint32_t hl_watchdog_begin_shortening(struct hl_hold *hold);
/* The hold ends: all extends are answered LOST. is_loss: they are reported before all else. */
void hl_watchdog_end_extends(struct hl_core *core, struct hilock_lock *lock, int is_loss);
/* Reports the answer to an extend. detail: the sentence of a loss, if this answer takes the place of on_lost; NULL: the
 * extend's own. */
void hl_watchdog_report_extend(struct hl_core *core, struct hl_extend *extend, const char *detail);
void hl_watchdog_forget_extends(struct hl_core *core, struct hilock_lock *lock);

#endif
