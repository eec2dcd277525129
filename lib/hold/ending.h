/* SPDX-License-Identifier: BSD-3-Clause */
/* ending - the end of a hold: released by its user, lost, or granted too late. It repeats the release until the store
 * has confirmed it, or the lease has run out.
 * Invariant: a release is sent only when no other request of that hold is under way, and no sibling asks for the name
 * before the first answer to it: an undo comes before this client's next try (R4).
 *
 * A failover can lose an acknowledged release: the next master still has the hold, and no client would renew or release
 * it until its lease runs out. So releases that were acknowledged lately are remembered, and when another server takes
 * over, these holds end once more, by their own ids, which are never used again: if nothing was lost the release finds
 * nothing. Bounded in number and time, made when first needed; its failure fails nothing else. Only for deployments
 * that can lose writes, and with one server for the kinds with a queue: after a restart, or with another server behind
 * the address, an id may be back in the queue for much longer than a lease. */
#ifndef HL_HOLD_ENDING_H
#define HL_HOLD_ENDING_H

#include "hold/hold.h"

/* the id may be at the store. 0: no memory, and it lapses, unless this is called again */
int hl_ending_release_id(struct hl_core *core, const struct hilock_lock *lock, uint64_t id, struct hl_entry_words entry,
                         enum hl_end end);
/* any state but ENDING; frees it at once if nothing is there */
void hl_ending_begin(struct hl_hold *hold, enum hl_end end);
void hl_ending_go_on(struct hl_hold *hold);        /* its alarm; or its loss is reported: what waited for that */
void hl_ending_set_maybe(struct hl_hold *hold); /* an acquire of it has no answer */
void hl_ending_note_unanswered(struct hl_hold *hold); /* the same of one that is ours: until may_run_until_us */
void hl_ending_answered(struct hl_hold *hold, const struct hl_answer *answer); /* of a request from before the end */
void hl_ending_released(struct hl_hold *hold, const struct hl_answer *answer);
void hl_endings_answer(struct hl_core *core);      /* the client closes: releases without an answer are UNKNOWN now */
void hl_ending_answer(struct hl_hold *hold, hilock_status status); /* for the release that ended it, if one did; once */
void hl_ending_settle(struct hl_hold *hold);       /* frees it if it is over and has nothing left to report */
/* a server is up, or took over: releases that it may not know. Those without memory stay for the next time */
void hl_endings_repeat(struct hl_core *core);
void hl_endings_forget(struct hl_core *core);

#endif
