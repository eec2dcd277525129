/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage - a wait whose turn to ask has come, but there is no memory for its hold. It keeps its place, and the lines
 * are advanced from time to time until there is some; if its end comes first it is answered NO_MEMORY.
 * Invariant: while a wait needs memory the timer runs, which was made with the client. */
#ifndef HL_LOCK_SHORTAGE_H
#define HL_LOCK_SHORTAGE_H

#include "lock/core.h"

int hl_shortage_init(struct hl_core *core); /* 0; -1: no memory */
void hl_shortage_done(struct hl_core *core);
void hl_shortage_begin(struct hl_core *core); /* again is nothing */

#endif
