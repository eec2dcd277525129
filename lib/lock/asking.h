/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - a hold asks for its name; the answer is granted, held by another, refused, or silence. Invariant: after a
 * silence the id counts as being at the store until it is released (R3); belief counts from the send of the answered
 * request (R1). */
#ifndef HL_LOCK_ASKING_H
#define HL_LOCK_ASKING_H

#include "lock/core.h"

void hl_asking_answered(struct hl_hold *hold, const struct hl_answer *answer);

uint64_t hl_asking_id(const struct hilock_lock *lock); /* a fresh one (R2) */
void hl_asking_begin(struct hl_hold *hold); /* asks, under the id that it has or a new one */
void hl_asking_counts(struct hl_hold *hold); /* a request leaves */

#endif
