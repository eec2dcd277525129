/* SPDX-License-Identifier: BSD-3-Clause */
/* ending - ends a hold that was released by its user, lost, or granted too late. The release is repeated until the
 * store has confirmed it or the lease has run out.
 * Invariant: a release is sent only when no other request of the hold is under way, and no other handle of this client
 * asks for the name before the first answer to that release. So an undo precedes this client's next try (R4).
 *
 * A failover can lose an acknowledged release: the new master still has the hold, and no client would renew or release
 * it until its lease runs out. Therefore the latest acknowledged releases are remembered. When another server takes
 * over, they are sent once more with their own ids, which are never used again: if nothing was lost, the release finds
 * nothing. The memory for this is bounded in number and in time, and it is made when first needed; if there is none,
 * nothing else fails. Releases are remembered only for deployments that can lose writes, and at a single server only
 * for kinds with a queue: after a restart, or with another server at the address, an id may be back in the queue for
 * much longer than a lease. */
#ifndef HL_HOLD_ENDING_H
#define HL_HOLD_ENDING_H

#include "hold/hold.h"

/* Releases an id that may be at the store. 0: there is no memory, so the id lapses unless this is called again. */
int hl_ending_release_id(struct hl_core *core, const struct hilock_lock *lock, uint64_t id, struct hl_entry_parts entry,
                         enum hl_end end);
/* Ends a hold in any state but ENDING. If nothing of it is at the store, the hold is freed at once. */
void hl_ending_begin(struct hl_hold *hold, enum hl_end end);
/* Continues after an alarm, or once the loss has been reported, with what waited for that. */
void hl_ending_do_next_step(struct hl_hold *hold);
/* an acquire of this hold has no answer, so its id may be at the store */
void hl_ending_mark_acquire_unanswered(struct hl_hold *hold);
/* A request of a hold that is ours has no answer: it may still execute, until may_run_until_us. */
void hl_ending_mark_request_unanswered(struct hl_hold *hold);
/* handles the answer to a request that was sent before the hold ended */
void hl_ending_on_earlier_answer(struct hl_hold *hold, const struct hl_answer *answer);
void hl_ending_on_release_answer(struct hl_hold *hold, const struct hl_answer *answer);
/* The client closes: releases that have no answer yet are answered UNKNOWN. */
void hl_endings_answer_users(struct hl_core *core);
/* Answers the release call that ended the hold, if there was one; only the first call has an effect. */
void hl_ending_answer_user(struct hl_hold *hold, hilock_status status);
void hl_ending_free_if_done(struct hl_hold *hold); /* frees the hold if it is over and has nothing left to report */
/* A server came up, or took over: repeats the releases that it may not know. A release for which there is no memory
 * stays remembered for the next time. */
void hl_endings_repeat(struct hl_core *core);
void hl_endings_forget(struct hl_core *core);

#endif
