/* SPDX-License-Identifier: BSD-3-Clause */
/* acquire - one accepted hilock_acquire, from the call to its one answer.
 *
 *   IN_LINE -> ASKING <-> SLEEPING    IN_LINE -> STARVED -> ASKING, when memory was short
 *                 |            \
 *              GRANTED  ------> DECIDED (reported once, then freed)
 *
 * Invariants: it is answered once, at ends_us at the latest whatever the network does; an answer other than OK leaves
 * nothing wanted at the store (R4); after every subscription and every message it asks again before it sleeps (R7); a
 * grant is handed over only with min_validity left at that very moment (R8). */
#ifndef HL_LOCK_ACQUIRE_H
#define HL_LOCK_ACQUIRE_H

#include "lock/core.h"

void hl_acquire_ask(struct hl_acquire *acquire);      /* IN_LINE or SLEEPING, with a hold */
void hl_acquire_answered(struct hl_acquire *acquire, const struct hl_asked *asked);
void hl_acquire_returned(struct hl_acquire *acquire); /* what was granted too late is given back, its hold IDLE: try
                                                         again */
void hl_acquire_regain(struct hl_acquire *acquire);   /* GRANTED, but what is left is too little: give it back, try
                                                         again */
void hl_acquire_tick(struct hl_acquire *acquire);
void hl_acquire_tell_waiting(struct hl_core *core, struct hl_acquire *acquire);
/* The answer follows on delivery; nothing of it is in line or, but for its undoing, at the store any more. */
void hl_acquire_decide(struct hl_acquire *acquire, hilock_status status);
void hl_acquire_overrule(struct hl_acquire *acquire, hilock_status status); /* DECIDED, not reported yet: this answer
                                                                               replaces that one */
void hl_acquire_drop(struct hl_acquire *acquire);                       /* the same, and nobody is called back */
struct hl_hold *hl_acquire_hand_over(struct hl_acquire *acquire);       /* GRANTED: the hold is the caller's; free the
                                                                           acquire */
void hl_acquire_free(struct hl_core *core, struct hl_acquire *acquire); /* DECIDED or handed over */

#endif
