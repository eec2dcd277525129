/* SPDX-License-Identifier: BSD-3-Clause */
/* owner - what becomes of the news of a hold: until it is told the acquire that asked for it hears them, and who waits for its name when it is
 * released. */
#ifndef HL_LOCK_OWNER_H
#define HL_LOCK_OWNER_H

#include "lock/core.h"

void hl_owner_init(struct hl_core *core);

#endif
