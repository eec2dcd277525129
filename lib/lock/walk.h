/* SPDX-License-Identifier: BSD-3-Clause */
/* walk - every handle that waits or holds, and every hold that is held. */
#ifndef HL_LOCK_WALK_H
#define HL_LOCK_WALK_H

#include "lock/core.h"

void hl_walk_locks(const struct hl_core *core, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg);
void hl_walk_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg); /* visit may end the hold it is given */

#endif
