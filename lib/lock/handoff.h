/* SPDX-License-Identifier: BSD-3-Clause */
/* handoff - a hold goes from one handle of this client to the next in line, with no command: the handles take turns on it.
 *
 *   granted --> turn 0 --release--> turn 1 --release--> ... --the bound, or the next one does not fit--> ENDING
 *
 * Handing on cannot fail. A release that is to be answered needs a receipt for that, without which nothing is handed on: the release goes to the
 * store, and that needs no memory.
 * Invariants:
 *  - the old handle is idle and what other threads see of its turn is over before the next one is told;
 *  - the tokens of the turns rise, and are out of those that the acquire set aside: below that of anybody's later grant;
 *  - nothing is handed on of which a release was sent; what is too little for the next one is released (R8: looked at here, and as it is told);
 *  - a turn never believes in a lease that was not asked for, and never has one at the store that is longer than its own;
 *  - where another server may take over and forget, no turn begins on a grant whose server is away or was replaced: it is released, and asked for anew;
 *  - a hold serves turns_max handles, and none that would begin when a third of the lease is over: then it is released, and others go first. */
#ifndef HL_LOCK_HANDOFF_H
#define HL_LOCK_HANDOFF_H

#include "lock/core.h"

struct hl_receipt { /* the answer to the release of a hold that was handed on */
    struct hl_notice notice;  /* one thing to tell */
    struct hilock_lock *lock; /* referenced */
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us;
};

struct hl_acquire *hl_handoff_next(struct hl_core *core, const struct hl_hold *hold); /* who gets it when its turn is over; NULL: it is released */
/* HELD, and its turn is over. The hold is next's, which is GRANTED and told so. */
void hl_handoff(struct hl_core *core, struct hl_hold *hold, struct hl_acquire *next);

struct hl_receipt *hl_handoff_receipt(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user); /* NULL: no memory */

#endif
