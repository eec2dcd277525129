/* SPDX-License-Identifier: BSD-3-Clause */
/* teardown - the client goes: every wait and hold is given back to memory, with no traffic and no callback. Handles stay, idle. */
#ifndef HL_LOCK_TEARDOWN_H
#define HL_LOCK_TEARDOWN_H

#include "lock/core.h"

void hl_teardown_lock(struct hl_core *core, struct hilock_lock *lock); /* one handle's, in a forked child whose client still stands */
void hl_teardown(struct hl_core *core); /* the route still stands, and answers nothing after */

#endif
