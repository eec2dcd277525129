/* SPDX-License-Identifier: BSD-3-Clause */
/* owner - where the news of holds, gates and channels go: until a hold is reported, to the acquire that asked for it;
 * after its release, to the waiters of its name. A table, so that no file knows one above it. */
#ifndef HL_LOCK_OWNER_H
#define HL_LOCK_OWNER_H

#include "lock/core.h"

void hl_owner_init(struct hl_core *core);

#endif
