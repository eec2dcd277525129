/* SPDX-License-Identifier: BSD-3-Clause */
/* tenure - one handle's time on a hold, from the callback with OK until the user releases or drops it, or until the
 * hold is lost. A released hold goes to the next handle in line of this client, without a command.
 *
 *   granted --> tenure 0 --release--> tenure 1 --release--> ... --a limit, or the next handle does not fit--> ending
 *
 * Handing on cannot fail. A release with a callback needs a receipt for its answer; without memory for the receipt the
 * release goes to the store, which needs no memory.
 * Invariants:
 *  - The old handle is idle, and other threads see the end of its tenure, before the next handle is notified.
 *  - The fencing tokens of the tenures rise. They are among those that the acquire reserved, so they are below the
 *    token of any later grant.
 *  - A hold with a release under way is not handed on. A hold whose lease has too little left for the next handle is
 *    released (R8); this is checked here, and again when the tenure is reported.
 *  - All tenures of a hold have the same lease: a hold goes on only to a handle that has a watchdog and the same lease,
 *    and only if no extend made the lease longer.
 *  - If another server may take over and forget writes, no tenure begins while the server of the grant is away, or
 *    after it was replaced. Then the hold is released, and the next handle sends an acquire.
 *  - A hold has two limits: it serves turns_max handles, and no tenure begins after a third of the lease. Then the hold
 *    is released, and other clients go first. */
#ifndef HL_LOCK_TENURE_H
#define HL_LOCK_TENURE_H

#include "lock/acquire.h"

extern const struct hl_notice_ops hl_tenure_reports; /* the reports of a hold: losses, renewals, answers to releases */

/* Ends the tenure of this handle: hands the hold on, or releases it. on_result may be NULL. Returns OK or NOT_HELD. */
hilock_status hl_tenure_release(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result,
                                void *user);
/* Changes the terms of a hold that is held, from which its lease and its hold_max_ms come. since_us: when the tenure
 * began. */
void hl_tenure_change_terms(struct hl_hold *hold, struct hl_terms *terms, uint64_t since_us);

/* ---- the next tenure ---- */

/* Returns the acquire that gets the hold after this tenure; NULL: the hold must be released. */
struct hl_acquire *hl_tenure_next(struct hl_core *core, const struct hl_hold *hold);
/* The hold is held, and its tenure is over. The hold goes to next, which becomes GRANTED and is reported as such. */
void hl_tenure_hand_on(struct hl_core *core, struct hl_hold *hold, struct hl_acquire *next);

#endif
