/* SPDX-License-Identifier: BSD-3-Clause */
/* cell - see cell.h. */
#include "core/cell.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/plant.h"
#include "base/platform.h"

enum { PAGE_BYTES = 1 }; /* the kernel maps whole pages */

struct hl_cell *hl_cell_new(const struct hl_memory *memory)
{
    struct hl_cell *cell = hl_memory_new(memory, sizeof *cell);
    unsigned char *page;
    if (!cell)
        return NULL;
    page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        hl_memory_free(memory, cell);
        return NULL;
    }
    /* a kernel that does not wipe the page is older than 4.14, or not really Linux */
    page[0] = hl_platform_wipe_on_fork(page, PAGE_BYTES) ? PAGE_OURS : PAGE_NOT_WIPED;
    atomic_init(&cell->refs, 1);
    cell->memory = *memory;
    cell->pid = getpid();
    cell->page = page;
    return cell;
}

/* relaxed: a thread that takes a reference has one already, and no other read depends on the count */
void hl_cell_ref(struct hl_cell *cell) { atomic_fetch_add_explicit(&cell->refs, 1, memory_order_relaxed); }

/* release: the reads of a thread come before its decrement. acquire: the last thread frees the memory after all
 * reads. */
void hl_cell_unref(struct hl_cell *cell)
{
    struct hl_memory memory = cell->memory;
    if (atomic_fetch_sub_explicit(&cell->refs, 1, memory_order_acq_rel) != 1)
        return;
    munmap(cell->page, PAGE_BYTES);
    hl_memory_free(&memory, cell);
}

struct hl_core *hl_cell_begin_read(struct hl_cell *cell)
{
    if (!(atomic_fetch_add(&cell->readers, 1) & CELL_RETIRED))
        return cell->core;
    hl_cell_end_read(cell);
    return NULL;
}

void hl_cell_end_read(struct hl_cell *cell) { atomic_fetch_sub(&cell->readers, 1); }

/* A forked child has no other thread, so a read that its parent was in never ends there. */
void hl_cell_retire(struct hl_cell *cell)
{
    atomic_fetch_or(&cell->readers, CELL_RETIRED);
    while (!hl_cell_is_forked(cell) && atomic_load(&cell->readers) != CELL_RETIRED)
        sched_yield();
    cell->core = NULL;
}

/* There is an owner from now on. Another thread may have said so before, and may be in a turn already. */
static void mark_owned(struct hl_cell *cell)
{
    int turn = CELL_UNOWNED;
    atomic_compare_exchange_strong(&cell->turn, &turn, CELL_OUTSIDE);
}

void hl_cell_own(struct hl_cell *cell)
{
    atomic_store_explicit(&cell->owner, pthread_self(), memory_order_relaxed);
    mark_owned(cell);
}

static int is_owner(struct hl_cell *cell)
{
    return pthread_equal(atomic_load(&cell->owner), pthread_self());
}

hilock_status hl_cell_enter(struct hl_cell *cell)
{
    if (hl_cell_is_forked(cell) && !HL_PLANTED(R12_TURN_IN_A_CHILD))
        return HILOCK_FORKED;
    hl_cell_claim(cell);
    if (is_owner(cell)) {
        atomic_store(&cell->turn, CELL_INSIDE);
        if (is_owner(cell))
            return HILOCK_OK;
        atomic_store(&cell->turn, CELL_OUTSIDE);
    }
    atomic_fetch_add_explicit(&cell->wrong_thread, 1, memory_order_relaxed);
    return HILOCK_WRONG_THREAD;
}

hilock_status hl_cell_adopt(struct hl_cell *cell)
{
    pthread_t before = atomic_load(&cell->owner);
    int had_owner = atomic_load(&cell->turn) != CELL_UNOWNED;
    if (hl_cell_is_forked(cell))
        return HILOCK_FORKED;
    if (had_owner && is_owner(cell))
        return HILOCK_OK;
    atomic_store(&cell->owner, pthread_self());
    int is_taken = had_owner && atomic_load(&cell->turn) == CELL_INSIDE;
    if (is_taken) {
        atomic_store(&cell->owner, before);
        return HILOCK_WRONG_THREAD;
    }
    mark_owned(cell);
    return HILOCK_OK;
}

int hl_cell_report_once(struct hl_cell *cell, hilock_status refusal)
{
    return atomic_exchange(&cell->reported, refusal) != (int)refusal;
}

hilock_status hl_cell_check_thread(struct hl_cell *cell)
{
    if (hl_cell_is_forked(cell))
        return HILOCK_FORKED;
    if (atomic_load_explicit(&cell->turn, memory_order_acquire) == CELL_UNOWNED || is_owner(cell))
        return HILOCK_OK;
    return HILOCK_WRONG_THREAD;
}

hilock_status hl_cell_admit(struct hl_cell *cell)
{
    hilock_status status = hl_cell_check_thread(cell);
    if (status == HILOCK_WRONG_THREAD)
        atomic_fetch_add_explicit(&cell->wrong_thread, 1, memory_order_relaxed);
    return status;
}
