/* SPDX-License-Identifier: BSD-3-Clause */
/* desk - where the re-entries of what a handle holds are kept (entry.h). */
#ifndef HL_LOCK_DESK_H
#define HL_LOCK_DESK_H

#include "lock/core.h"

void hl_desk_init(struct hl_desk *desk);
int hl_desk_is_empty(const struct hl_desk *desk);

#endif
