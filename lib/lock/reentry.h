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

#include "lock/core.h"

enum { REPORT_ENTERED = 1, REPORT_LEFT = 2 };

struct hl_entry {
    struct hl_notice notice;      /* TELL_ bits above */
    TAILQ_ENTRY(hl_entry) entry;  /* in its side: entries while it counts, then leaving until it is answered */
    struct hl_side *side;         /* NULL: stands in neither */
    struct hilock_lock *lock;     /* referenced */
    uint64_t hold_id;
    hilock_result_fn *on_entered, *on_left;
    void *entered_user, *left_user;
    uint64_t entered_us, left_us; /* the calls */
    uint32_t entered_count, left_count; /* what they made of the hold's count */
    uint8_t is_leaving, is_cancelled;
    uint8_t turn;                 /* of that hold */
};

hilock_status hl_reentry_begin(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user); /* OK or NO_MEMORY */
void hl_reentry_leave(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user); /* of a count above 1 */
int hl_reentry_cancel(struct hl_core *core, struct hilock_lock *lock); /* the newest that is not answered; 0: there is none */
void hl_reentry_end(struct hl_core *core, struct hl_hold *hold); /* all counts are over; who was not answered will be */

void hl_entry_free(struct hl_core *core, struct hl_entry *entry);
void hl_entries_forget(struct hl_core *core, struct hl_side *side);

#endif
