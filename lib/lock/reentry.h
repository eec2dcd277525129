/* SPDX-License-Identifier: BSD-3-Clause */
/* reentry - acquires of a handle that already holds: counted here, without a command.
 *
 *   accepted: counts at once  --a later turn-->  answered  --a release-->  the release is answered, gone
 *
 * An entry counts from the accepted call to the release that takes it (any release: counts are alike), and carries that
 * release's answer, which thus needs no memory. A hold's count is 1 plus its entries; the last release is the hold's
 * own (turn.c).
 * Invariant: an entry that is answered after its hold has ended is not answered OK. */
#ifndef HL_LOCK_REENTRY_H
#define HL_LOCK_REENTRY_H

#include "lock/entry.h"

hilock_status hl_reentry_begin(struct hl_core *core, struct hilock_lock *lock, struct hl_desk *desk,
                               hilock_result_fn *on_result,
                               void *user); /* OK or NO_MEMORY; desk NULL: there was no memory for one */
/* of a count above 1 */
void hl_reentry_leave(struct hl_core *core, struct hl_desk *desk, hilock_result_fn *on_result, void *user);
int hl_reentry_cancel(struct hl_core *core, struct hl_desk *desk); /* the newest without an answer; 0: there is none */

#endif
