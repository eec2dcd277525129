/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt - an acquire asks for its name, under a new id or the one of its previous attempt. */
#ifndef HL_LOCK_ATTEMPT_H
#define HL_LOCK_ATTEMPT_H

#include "lock/core.h"

uint64_t hl_attempt_id(const struct hilock_lock *lock); /* a fresh one (R2) */
void hl_attempt_begin(struct hl_hold *hold); /* asks, under the id that it has or a new one */
void hl_attempt_counts(struct hl_hold *hold); /* a request leaves */

#endif
