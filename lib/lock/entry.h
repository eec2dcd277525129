/* SPDX-License-Identifier: BSD-3-Clause */
/* entry - one re-entry of a handle (reentry.h): its place in the hold's list, and its end. */
#ifndef HL_LOCK_ENTRY_H
#define HL_LOCK_ENTRY_H

#include "lock/core.h"

enum { REPORT_ENTERED = 1, REPORT_LEFT = 2 };

struct hl_entry {
    struct hl_notice notice;      /* the bits above */
    TAILQ_ENTRY(hl_entry) entry;  /* at its desk: in entries while it counts, then in leaving until it is answered */
    struct hl_desk *desk;         /* NULL: in neither */
    struct hilock_lock *lock;     /* referenced */
    uint64_t tenure;              /* of the hold that it entered */
    hilock_result_fn *on_entered, *on_left;
    void *entered_user, *left_user;
    uint64_t entered_us, left_us; /* times of the calls */
    uint32_t entered_count, left_count; /* the hold's count after them */
    uint8_t is_leaving, is_cancelled;
};

void hl_entry_unlink(struct hl_entry *entry); /* it no longer counts, or was answered */
void hl_entry_free(struct hl_core *core, struct hl_entry *entry);
void hl_entries_end(struct hl_core *core, struct hl_desk *desk); /* all counts end; entries without an answer get one */
void hl_entries_forget(struct hl_core *core, struct hl_desk *desk);

#endif
