/* SPDX-License-Identifier: BSD-3-Clause */
/* cell - see cell.h. */
#include "lock/cell.h"

struct hl_cell *hl_cell_new(const struct hl_memory *memory)
{
    struct hl_cell *cell = hl_memory_new(memory, sizeof *cell);
    if (!cell)
        return NULL;
    cell->refs = 1;
    cell->memory = *memory;
    cell->alive = hl_alive_new(memory);
    if (cell->alive)
        return cell;
    hl_memory_free(memory, cell);
    return NULL;
}

void hl_cell_unref(struct hl_cell *cell)
{
    struct hl_memory memory = cell->memory;
    if (--cell->refs)
        return;
    hl_alive_unref(cell->alive);
    hl_memory_free(&memory, cell);
}

void hl_cell_claim(struct hl_cell *cell)
{
    if (atomic_load_explicit(&cell->has_owner, memory_order_relaxed))
        return;
    cell->owner = pthread_self();
    atomic_store_explicit(&cell->has_owner, 1, memory_order_release);
}

int hl_cell_is_forked(const struct hl_cell *cell) { return hl_alive_is_forked(cell->alive); }

hilock_status hl_cell_admit(struct hl_cell *cell)
{
    if (hl_cell_is_forked(cell))
        return HILOCK_FORKED;
    if (!atomic_load_explicit(&cell->has_owner, memory_order_acquire) || pthread_equal(cell->owner, pthread_self()))
        return HILOCK_OK;
    atomic_fetch_add_explicit(&cell->wrong_thread, 1, memory_order_relaxed);
    return HILOCK_WRONG_THREAD;
}
