/* SPDX-License-Identifier: BSD-3-Clause */
/* lock - a handle: how it stands, and how long it lives. Its user has a reference, and so has each callback that is under way. */
#ifndef HL_LOCK_LOCK_H
#define HL_LOCK_LOCK_H

#include "lock/core.h"

void hl_lock_unref(struct hilock_lock *lock);
hilock_state hl_lock_state(const struct hilock_lock *lock);
uint64_t hl_lock_left_us(const struct hilock_lock *lock, uint64_t now_us);

#endif
