/* SPDX-License-Identifier: BSD-3-Clause */
/* entry - see entry.h. */
#include "lock/entry.h"

#include "lock/lock.h"

void hl_entry_unlink(struct hl_entry *entry)
{
    struct hl_side *side = entry->side;
    if (side && entry->is_leaving)
        TAILQ_REMOVE(&side->leaving, entry, entry);
    else if (side) {
        TAILQ_REMOVE(&side->entries, entry, entry);
        side->entries_count--;
    }
    entry->side = NULL;
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

void hl_entries_end(struct hl_core *core, struct hl_hold *hold)
{
    if (!hold->side)
        return;
    part_with(core, &hold->side->entries);
    part_with(core, &hold->side->leaving);
}

void hl_entries_forget(struct hl_core *core, struct hl_side *side)
{
    struct hl_entry *entry;
    while ((entry = TAILQ_FIRST(&side->entries)) != NULL)
        hl_entry_free(core, entry);
    while ((entry = TAILQ_FIRST(&side->leaving)) != NULL)
        hl_entry_free(core, entry);
}
