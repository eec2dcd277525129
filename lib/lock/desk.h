/* SPDX-License-Identifier: BSD-3-Clause */
/* desk - keeps the re-entries of a handle's hold (entry.h). */
#ifndef HL_LOCK_DESK_H
#define HL_LOCK_DESK_H

#include "lock/core.h"

void hl_desk_init(struct hl_desk *desk);
int hl_desk_is_empty(const struct hl_desk *desk);

#endif
