/* SPDX-License-Identifier: BSD-3-Clause */
/* validity - see validity.h.
 *
 * Memory orders. Each value of ends_us is true by itself, so no reader depends on what was written before it. Readers
 * load it with memory_order_acquire, so that the clock is read afterwards: an old time with a new deadline would
 * promise too much, while a new time with an old deadline promises too little. The loop's thread writes it with
 * memory_order_release, so that its earlier writes cannot become visible afterwards. A 0 must be visible to all threads
 * before another client can find the lock released. It is, because the system call that sends the release comes after
 * the write of 0. A reader that checked just before the end acts on an answer that was true then; fencing tokens
 * protect against that. */
#include "hold/validity.h"

#include "core/lease.h"

static void set(struct hilock_validity *validity, uint64_t ends_us)
{
    atomic_store_explicit(&validity->ends_us, ends_us, memory_order_release);
}

struct hilock_validity *hl_validity_of(struct hilock_lock *lock)
{
    struct hl_core *core = lock->terms->cell->core;
    struct hl_extras *extras = hl_lock_extras(lock);
    struct hilock_validity *validity = extras ? extras->validity : NULL;
    if (extras && !validity)
        validity = extras->validity = hl_memory_new(&core->host.memory, sizeof *validity);
    if (!validity)
        return NULL;
    if (!validity->cell) { /* the validity was made just now, and is zeroed */
        atomic_init(&validity->refs, 1);
        atomic_init(&validity->ends_us, 0);
        validity->now_us = core->host.loop.now_us;
        validity->clock = core->host.loop.clock;
        validity->cell = core->cell;
        hl_cell_ref(validity->cell);
    }
    hl_validity_follow(lock);
    hl_validity_ref(validity);
    return validity;
}

void hl_validity_follow(const struct hilock_lock *lock)
{
    const struct hilock_lock *whole = lock->attempt ? lock->attempt->lock : lock;
    if (whole->extras && whole->extras->validity)
        set(whole->extras->validity, whole->ops->snapshot(whole).ends_us);
}

void hl_validity_end(struct hilock_lock *lock)
{
    if (!lock->extras || !lock->extras->validity)
        return;
    set(lock->extras->validity, 0);
    hl_validity_unref(lock->extras->validity);
    lock->extras->validity = NULL;
}

uint64_t hl_validity_left_us(const struct hilock_validity *validity)
{
    uint64_t ends_us;
    if (hl_cell_is_forked(validity->cell))
        return 0;
    ends_us = atomic_load_explicit(&validity->ends_us, memory_order_acquire);
    return ends_us ? hl_left_us(ends_us, validity->now_us(validity->clock)) : 0;
}

/* Memory orders as in cell.c: counting up is relaxed, counting down is acquire and release. */
void hl_validity_ref(struct hilock_validity *validity)
{
    atomic_fetch_add_explicit(&validity->refs, 1, memory_order_relaxed);
}

void hl_validity_unref(struct hilock_validity *validity)
{
    struct hl_cell *cell = validity->cell;
    if (atomic_fetch_sub_explicit(&validity->refs, 1, memory_order_acq_rel) != 1)
        return;
    hl_memory_free(&cell->memory, validity);
    hl_cell_unref(cell);
}
