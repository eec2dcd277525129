/* SPDX-License-Identifier: BSD-3-Clause */
/* owner - what becomes of the news of holds and gates: until a hold is reported the acquire that asked for it hears
 * them; whoever waits for its name hears of its release. */
#ifndef HL_LOCK_OWNER_H
#define HL_LOCK_OWNER_H

#include "lock/core.h"

void hl_owner_init(struct hl_core *core);

#endif
