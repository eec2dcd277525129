/* SPDX-License-Identifier: BSD-3-Clause */
/* lock - see lock.h. */
#include "lock/lock.h"

#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/name.h"
#include "lock/terms.h"

void hl_lock_unref(struct hilock_lock *lock)
{
    struct hl_memory memory = lock->terms->cell->memory;
    if (--lock->refs)
        return;
    lock->ops->done(lock);
    hl_name_unref(lock->terms->cell->core, &memory, lock->name);
    hl_terms_unref(lock->terms);
    hl_memory_free(&memory, lock);
}

hilock_state hl_lock_state(const struct hilock_lock *lock)
{
    return lock->acquire ? HILOCK_STATE_WAITING : lock->hold ? HILOCK_STATE_HELD : HILOCK_STATE_IDLE;
}

uint64_t hl_lock_left_us(const struct hilock_lock *lock, uint64_t now_us)
{
    return lock->hold && lock->hold->state == HOLD_HELD ? hl_left_us(hl_hold_ends_us(lock->hold), now_us) : 0;
}
