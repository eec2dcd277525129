/* SPDX-License-Identifier: BSD-3-Clause */
/* handles - all handles that the user made and that wait or hold, plain ones and those made of several. */
#ifndef HL_CLIENT_HANDLES_H
#define HL_CLIENT_HANDLES_H

#include "lock/lock.h"

void hl_handles_visit(const struct hl_core *core, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg);

#endif
