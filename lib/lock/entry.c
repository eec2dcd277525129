/* SPDX-License-Identifier: BSD-3-Clause */
/* entry - see entry.h. */
#include "lock/entry.h"

#include "lock/lock.h"

void hl_entry_unlink(struct hl_entry *entry)
{
    struct hl_desk *desk = entry->desk;
    if (desk && entry->is_leaving)
        TAILQ_REMOVE(&desk->leaving, entry, entry);
    else if (desk) {
        TAILQ_REMOVE(&desk->entries, entry, entry);
        desk->count--;
    }
    entry->desk = NULL;
}

void hl_entry_free(struct hl_core *core, struct hl_entry *entry)
{
    struct hilock_lock *lock = entry->lock;
    hl_entry_unlink(entry);
    hl_notice_cancel(core, &entry->notice);
    hl_memory_free(&core->host.memory, entry);
    hl_lock_unref(lock);
}

static void part_with(struct hl_core *core, struct hl_entries *entries)
{
    struct hl_entry *entry;
    while ((entry = TAILQ_FIRST(entries)) != NULL) {
        hl_entry_unlink(entry);
        entry->is_leaving = 0;
        if (!entry->notice.pending)
            hl_entry_free(core, entry);
    }
}

void hl_entries_end(struct hl_core *core, struct hl_desk *desk)
{
    part_with(core, &desk->entries);
    part_with(core, &desk->leaving);
}

void hl_entries_forget(struct hl_core *core, struct hl_desk *desk)
{
    struct hl_entry *entry;
    while ((entry = TAILQ_FIRST(&desk->entries)) != NULL)
        hl_entry_free(core, entry);
    while ((entry = TAILQ_FIRST(&desk->leaving)) != NULL)
        hl_entry_free(core, entry);
}
