/* SPDX-License-Identifier: BSD-3-Clause */
/* reentry - acquires of a handle that holds already: counted here, with no command.
 *
 *   accepted: counts at once  --a later turn-->  answered  --a release-->  the release is answered, gone
 *
 * An entry counts from the call that was accepted to the release that takes it (any: counts are alike), and carries that release's answer,
 * for which therefore no memory is needed. A hold's count is 1 and its entries; the last release is the hold's own (turn.c).
 * Invariant: an entry that is answered after its hold has ended is not answered OK. */
#ifndef HL_LOCK_REENTRY_H
#define HL_LOCK_REENTRY_H

#include "lock/entry.h"

hilock_status hl_reentry_begin(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user); /* OK or NO_MEMORY */
void hl_reentry_leave(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user); /* of a count above 1 */
int hl_reentry_cancel(struct hl_core *core, struct hilock_lock *lock); /* the newest that is not answered; 0: there is none */

#endif
