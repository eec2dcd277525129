/* SPDX-License-Identifier: BSD-3-Clause */
/* lock - see lock.h. */
#include "core/lock.h"

#include "core/lease.h"

void hl_lock_unref(struct hilock_lock *lock)
{
    struct hl_memory memory = lock->terms->cell->memory;
    struct hl_core *core = lock->terms->cell->core;
    if (--lock->refs)
        return;
    if (lock->ops->done)
        lock->ops->done(lock);
    if (core && !hl_terms_are_internal(lock->terms))
        TAILQ_REMOVE(&core->handles, lock, entry);
    hl_name_unref(core, &memory, lock->name);
    hl_terms_unref(lock->terms);
    hl_memory_free(&memory, lock->extras);
    hl_memory_free(&memory, lock);
}

struct hl_extras *hl_lock_extras(struct hilock_lock *lock)
{
    if (lock->extras || !(lock->extras = hl_memory_new(&lock->terms->cell->memory, sizeof *lock->extras)))
        return lock->extras;
    TAILQ_INIT(&lock->extras->extends);
    TAILQ_INIT(&lock->extras->entering);
    TAILQ_INIT(&lock->extras->release_calls);
    return lock->extras;
}

uint32_t hl_lock_count(const struct hilock_lock *lock) { return 1 + (lock->extras ? lock->extras->count : 0); }

uint32_t hl_lock_remaining_ms(const struct hilock_lock *lock, const struct hl_snapshot *snapshot)
{
    const struct hl_core *core = lock->terms->cell->core;
    return hl_lease_span_ms(hl_left_us(snapshot->ends_us, hl_now_us(&core->host)));
}
