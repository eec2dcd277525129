/* SPDX-License-Identifier: BSD-3-Clause */
/* ending - the end of a hold: released by its user, lost, or granted too late to be wanted. Releases what may be at the
 * store until the store has said that it is gone, or the lease has run out.
 * Invariant: a release is sent only when no other request of that hold is under way, and no sibling asks for the name
 * before the first answer to it: an undo is ordered before this client's next try (R4). */
#ifndef HL_LOCK_ENDING_H
#define HL_LOCK_ENDING_H

#include "lock/core.h"

/* that id may be at the store. 0: no memory, it lapses */
int hl_ending_of(struct hl_core *core, const struct hilock_lock *lock, uint64_t id);
void hl_ending_begin(struct hl_hold *hold);        /* any state but ENDING; may free it at once when nothing is there */
void hl_ending_give_up(struct hl_hold *hold);      /* the same of an attempt whose grant was never reported */
void hl_ending_return(struct hl_hold *hold);       /* ASKING, granted with too little left: hl_acquire_returned
                                                      follows */
void hl_ending_retry(struct hl_hold *hold);        /* after a refused release, or when the loss that came first was
                                                      reported */
void hl_ending_haunt(struct hl_hold *hold); /* an acquire of it went unanswered */
void hl_ending_may_run(struct hl_hold *hold);  /* its unanswered request, until haunted_until_us */
void hl_ending_tick(struct hl_hold *hold);
void hl_ending_answered(struct hl_hold *hold, const struct hl_answer *answer); /* of what was asked before the end */
void hl_ending_released(struct hl_hold *hold, const struct hl_answer *answer);
void hl_endings_answer(struct hl_core *core);      /* the client goes: releases without an answer are UNKNOWN now */
void hl_ending_answer(struct hl_hold *hold, hilock_status status); /* of the release that ended it, once; nothing if
                                                                      none did */
void hl_ending_settle(struct hl_hold *hold);       /* frees it if it is over and has nothing left to tell */

#endif
