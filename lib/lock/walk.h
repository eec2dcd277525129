/* SPDX-License-Identifier: BSD-3-Clause */
/* walk - every handle that waits or holds. */
#ifndef HL_LOCK_WALK_H
#define HL_LOCK_WALK_H

#include "lock/core.h"

void hl_walk_locks(const struct hl_core *core, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg);

#endif
