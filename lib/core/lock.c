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
    if (core && !lock->terms->is_internal)
        TAILQ_REMOVE(&core->handles, lock, entry);
    hl_name_unref(core, &memory, lock->name);
    hl_terms_unref(lock->terms);
    hl_memory_free(&memory, lock->side);
    hl_memory_free(&memory, lock);
}

struct hl_side *hl_lock_side(struct hilock_lock *lock)
{
    if (lock->side || !(lock->side = hl_memory_new(&lock->terms->cell->memory, sizeof *lock->side)))
        return lock->side;
    TAILQ_INIT(&lock->side->extends);
    TAILQ_INIT(&lock->side->entering);
    TAILQ_INIT(&lock->side->leaves);
    return lock->side;
}

uint32_t hl_lock_count(const struct hilock_lock *lock) { return 1 + (lock->side ? lock->side->count : 0); }

uint32_t hl_lock_remaining_ms(const struct hilock_lock *lock, const struct hl_look *look)
{
    return look->ends_us ? hl_lease_span_ms(hl_left_us(look->ends_us, hl_now_us(&lock->terms->cell->core->host))) : 0;
}
