/* SPDX-License-Identifier: BSD-3-Clause */
/* lock - see lock.h. */
#include "core/lock.h"

void hl_lock_end(struct hilock_lock *lock)
{
    struct hl_memory memory = lock->terms->cell->memory;
    struct hl_core *core = hl_lock_core(lock);
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
