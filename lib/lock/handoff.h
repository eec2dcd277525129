/* SPDX-License-Identifier: BSD-3-Clause */
/* handoff - a hold goes from one handle of this client to the next in line without a command: the handles take turns.
 *
 *   granted --> turn 0 --release--> turn 1 --release--> ... --the bound, or the next one does not fit--> ENDING
 *
 * Handing on cannot fail. A release that wants an answer needs a receipt for it; without one the release goes to the
 * store, which needs no memory.
 * Invariants:
 *  - the old handle is idle, and other threads see the end of its turn, before the next one is notified;
 *  - the tokens of the turns rise, and are among those that the acquire reserved: below that of any later grant;
 *  - a hold with a release under way is not handed on; a hold with too little left for the next one is released (R8:
 *    checked here, and when it is reported);
 *  - a turn never counts on a lease that was not asked for, and never has a longer one at the store than its own;
 *  - where another server may take over and forget writes, no turn begins if the server of the grant is away or was
 *    replaced: the hold is released, and the name asked for again;
 *  - a hold serves turns_max handles, and none that would begin after a third of the lease: then it is released, and
 *    other clients go first. */
#ifndef HL_LOCK_HANDOFF_H
#define HL_LOCK_HANDOFF_H

#include "core/callback.h"

struct hl_acquire *hl_handoff_next(struct hl_core *core, const struct hl_hold *hold); /* the handle that gets it
                                                                                         after this turn; NULL: it is
                                                                                         released */
/* HELD, and its turn is over. The hold goes to next, which is GRANTED and reported as such. */
void hl_handoff(struct hl_core *core, struct hl_hold *hold, struct hl_acquire *next);

/* The answer to the release of a hold that was handed on. NULL: no memory */
struct hl_call *hl_handoff_receipt(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result,
                                   void *user);

#endif
