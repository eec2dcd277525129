/* SPDX-License-Identifier: BSD-3-Clause */
/* reentry - acquires of a handle that already has the lock. They are counted here, without a command, for a plain
 * handle and for a group alike.
 *
 * An acquire counts from the accepted call to the release that takes its count; any release may take it, because all
 * counts are alike. The result of the acquire is reported in a later turn of the loop. The call also allocates the
 * memory for the report of the release that will take its count. The count of a handle is 1 plus its re-entries; the
 * last release releases the hold.
 * Invariant: an acquire that is reported after its hold has ended is not reported OK. */
#ifndef HL_LOCK_REENTRY_H
#define HL_LOCK_REENTRY_H

#include "core/lock.h"

/* The handle has the lock. Counts one more acquire. Returns OK or NO_MEMORY. */
hilock_status hl_reentry_begin(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result,
                               void *user);
/* The count of the handle is 2 at least. 1: the release took a count, and is answered. 0: the release must end the
 * hold, because it is over for all counts. */
int hl_reentry_leave(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user);
/* cancels the newest re-entry that has no answer; 0: there is none */
int hl_reentry_cancel(struct hl_core *core, struct hilock_lock *lock);
/* The hold is over, or its handle is dropped: all counts end. Answers that are pending are still reported; if the
 * handle was dropped, its notices are withdrawn, and these answers with them. */
void hl_reentry_end(struct hl_core *core, struct hilock_lock *lock);

#endif
