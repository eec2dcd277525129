/* SPDX-License-Identifier: BSD-3-Clause */
/* tenure - one handle's time on a hold, from the callback with OK to release, drop or loss. The hold goes to the next
 * handle in line of this client without a command: the handles have it one after the other.
 *
 *   granted --> tenure 0 --release--> tenure 1 --release--> ... --the bound, or the next one does not fit--> ENDING
 *
 * Handing on cannot fail. A release that wants an answer needs a receipt for it; without one the release goes to the
 * store, which needs no memory.
 * Invariants:
 *  - the old handle is idle, and other threads see the end of its tenure, before the next one is notified;
 *  - the tokens of the tenures rise, and are among those that the acquire reserved: below that of any later grant;
 *  - a hold with a release under way is not handed on; a hold with too little left for the next one is released (R8:
 *    checked here, and when it is reported);
 *  - a tenure has the lease that those before it asked for: a hold goes on only to a renewed handle of the same
 *    lease, and not if it was extended;
 *  - where another server may take over and forget writes, no tenure begins if the server of the grant is away or was
 *    replaced: the hold is released, and the name asked for again;
 *  - a hold serves turns_max handles, and none that would begin after a third of the lease: then it is released, and
 *    other clients go first. */
#ifndef HL_LOCK_TENURE_H
#define HL_LOCK_TENURE_H

#include "wait/waiter.h"

extern const struct hl_notice_ops hl_tenure_reports; /* of a hold: losses, renewals, answers to releases */

/* on_result may be NULL */
void hl_tenure_release(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user);
/* Changes the terms of a held handle: its lease and its hold_max. */
void hl_tenure_change_terms(struct hl_hold *hold, struct hl_terms *terms, uint64_t since_us);

/* ---- the next tenure ---- */

/* The handle that gets the hold after this tenure; NULL: it is released. */
struct hl_acquire *hl_tenure_next(struct hl_core *core, const struct hl_hold *hold);
/* HELD, and its tenure is over. The hold goes to next, which is GRANTED and reported as such. */
void hl_tenure_hand_on(struct hl_core *core, struct hl_hold *hold, struct hl_acquire *next);

#endif
