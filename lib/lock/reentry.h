/* SPDX-License-Identifier: BSD-3-Clause */
/* reentry - acquires of a handle that already holds: counted here, without a command, for a plain handle and a group
 * alike.
 *
 * An acquire counts from the accepted call to the release that takes its count (any release: counts are alike). It is
 * answered in a later turn. With it comes the memory for the answer to that release. A handle's count is 1 plus its
 * re-entries; the last release is that of the hold.
 * Invariant: an acquire that is answered after its hold has ended is not answered OK. */
#ifndef HL_LOCK_REENTRY_H
#define HL_LOCK_REENTRY_H

#include "core/lock.h"

/* The handle holds. OK or NO_MEMORY */
hilock_status hl_reentry_begin(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result,
                               void *user);
/* 1: the release took a count, and is answered; 0: it is that of the hold, and of all counts if the hold is over */
int hl_reentry_leave(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user);
int hl_reentry_cancel(struct hl_core *core, struct hilock_lock *lock); /* the newest without an answer; 0: there is
                                                                          none */
/* All counts end. Pending answers still come, or are forgotten with all notices. */
void hl_reentry_end(struct hl_core *core, struct hilock_lock *lock);

#endif
