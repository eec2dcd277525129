/* SPDX-License-Identifier: BSD-3-Clause */
/* turn - one handle's time on a hold, from the callback with OK to release, drop or loss. */
#ifndef HL_LOCK_TURN_H
#define HL_LOCK_TURN_H

#include "wait/waiter.h"

void hl_turn_begin(struct hl_core *core, struct hilock_lock *lock, struct hl_hold *hold);
/* on_result may be NULL */
void hl_turn_release(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user);
void hl_turn_lost(struct hl_core *core, struct hl_hold *hold); /* as on_lost starts: the handle is idle */

void hl_turn_silence(struct hl_core *core, struct hilock_lock *lock); /* drop: idle, no more callbacks */
/* Changes the terms of a held handle: its lease and its hold_max. */
void hl_turn_retune(struct hl_hold *hold, struct hl_terms *terms, uint64_t since_us);

#endif
