/* SPDX-License-Identifier: BSD-3-Clause */
/* lock - see lock.h. */
#include "lock/lock.h"

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

uint32_t hl_lock_remaining_ms(const struct hilock_lock *lock, const struct hl_look *look)
{
    return look->ends_us ? hl_lease_span_ms(hl_left_us(look->ends_us, hl_now_us(&lock->terms->cell->core->host))) : 0;
}
