/* SPDX-License-Identifier: BSD-3-Clause */
/* reentry - acquires of a handle that already holds: counted here, without a command.
 *
 * An acquire counts from the accepted call to the release that takes its count (any release: counts are alike). It is
 * answered in a later turn. With it comes the memory for the answer to that release. A hold's count is 1 plus its
 * re-entries; the last release is the hold's own (lock/turn.c).
 * Invariant: an acquire that is answered after its hold has ended is not answered OK. */
#ifndef HL_HOLD_REENTRY_H
#define HL_HOLD_REENTRY_H

#include "hold/hold.h"

void hl_reentry_init(struct hl_desk *desk);
/* OK or NO_MEMORY; desk NULL: there was no memory for one */
hilock_status hl_reentry_begin(struct hl_core *core, struct hilock_lock *lock, struct hl_desk *desk,
                               hilock_result_fn *on_result, void *user);
/* of a count above 1 */
void hl_reentry_leave(struct hl_core *core, struct hl_desk *desk, hilock_result_fn *on_result, void *user);
int hl_reentry_cancel(struct hl_core *core, struct hl_desk *desk); /* the newest without an answer; 0: there is none */
void hl_reentry_end(struct hl_core *core, struct hl_desk *desk); /* all counts end; pending answers still come */
void hl_reentry_forget(struct hl_core *core, struct hl_desk *desk); /* they do not */

#endif
