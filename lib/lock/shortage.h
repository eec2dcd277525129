/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage - a wait whose turn to ask has come, and for whose hold there is no memory. It keeps its place, and the
 * lines are advanced again every now and then until there is some; whose end comes first is answered NO_MEMORY.
 * Invariant: while somebody waits for memory the timer runs, which was made with the client. */
#ifndef HL_LOCK_SHORTAGE_H
#define HL_LOCK_SHORTAGE_H

#include "lock/core.h"

int hl_shortage_init(struct hl_core *core); /* 0; -1: no memory */
void hl_shortage_done(struct hl_core *core);
void hl_shortage_begin(struct hl_core *core); /* again is nothing */

#endif
