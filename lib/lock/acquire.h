/* SPDX-License-Identifier: BSD-3-Clause */
/* acquire - one accepted hilock_acquire, from the call to its one answer.
 *
 *   IN_LINE -> ASKING <-> SLEEPING
 *                 |            \
 *              GRANTED  ------> DECIDED (told once, then freed)
 *
 * Invariants: it is answered once, at ends_us at the latest whatever the network does; an answer other than OK leaves nothing wanted at
 * the store (R4); after every subscription and every message it asks again before it sleeps (R7); a grant is handed over only with
 * min_validity left at that very moment (R8). */
#ifndef HL_LOCK_ACQUIRE_H
#define HL_LOCK_ACQUIRE_H

#include "lock/core.h"

struct hl_name *hl_acquire_name(const struct hl_acquire *acquire); /* in whose line it stands */

/* The caller has checked all that can be refused but memory. HILOCK_OK or HILOCK_NO_MEMORY. */
hilock_status hl_acquire_begin(struct hl_core *core, struct hilock_lock *lock, uint32_t wait_ms, hilock_result_fn *on_result, void *user);
int hl_acquire_may_ask(struct hl_core *core, struct hl_acquire *acquire); /* has its hold from here on; 0: no memory, the gate is advanced again */
void hl_acquire_ask(struct hl_acquire *acquire);      /* IN_LINE or SLEEPING, with a hold */
void hl_acquire_answered(struct hl_acquire *acquire, const struct hl_asked *asked);
void hl_acquire_returned(struct hl_acquire *acquire); /* what was granted too late is given back, its hold IDLE: try again */
void hl_acquire_regain(struct hl_acquire *acquire);   /* GRANTED, but what is left is too little: give it back, try again */
void hl_acquire_tick(struct hl_acquire *acquire);
void hl_acquire_on_alarm(struct hl_alarm *alarm);     /* of core->wait_alarms */
void hl_acquire_sleep_on(struct hl_acquire *acquire); /* as before, with its end and its report looked at again */
void hl_acquire_stop(struct hl_acquire *acquire);     /* it has nothing to do with time any more, but for its hold */
uint64_t hl_acquire_least_us(const struct hl_acquire *acquire); /* of a grant: with less left it is not handed over */
void hl_acquire_resume_at(struct hl_acquire *acquire, uint64_t at_us); /* wakes then, or at its end; with a hold */
void hl_acquire_tell_waiting(struct hl_core *core, struct hl_acquire *acquire);
/* The answer follows on delivery; nothing of it is in line or, but for its undoing, at the store any more. */
void hl_acquire_decide(struct hl_acquire *acquire, hilock_status status);
void hl_acquire_overrule(struct hl_acquire *acquire, hilock_status status); /* DECIDED, not told yet: this is the answer instead */
void hl_acquire_drop(struct hl_acquire *acquire);                       /* the same, and nobody is told */
void hl_acquire_taken_over(struct hl_acquire *acquire, struct hl_hold *hold); /* IN_LINE or SLEEPING: GRANTED by a hold that is held */
struct hl_hold *hl_acquire_hand_over(struct hl_acquire *acquire);       /* GRANTED: the hold is the caller's; free the acquire */
void hl_acquire_free(struct hl_core *core, struct hl_acquire *acquire); /* DECIDED or handed over */

#endif
