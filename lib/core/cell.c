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

/* Returns 1 if the cell had this value of `turn`: then this thread is the owner now. */
static int take(struct hl_cell *cell, int turn)
{
    if (!atomic_compare_exchange_strong(&cell->turn, &turn, CELL_ADOPTED))
        return 0;
    atomic_store(&cell->owner, pthread_self());
    atomic_store(&cell->turn, CELL_OUTSIDE);
    return 1;
}

void hl_cell_own(struct hl_cell *cell) { (void)take(cell, CELL_UNOWNED); }

static int is_owner(struct hl_cell *cell)
{
    return pthread_equal(atomic_load(&cell->owner), pthread_self());
}

/* If the cell is inside a turn of its owner, a callback of that turn turns the loop. */
hilock_status hl_cell_enter(struct hl_cell *cell)
{
    int turn = CELL_OUTSIDE, is_begun;
    if (hl_cell_is_forked(cell) && !HL_PLANTED(R12_TURN_IN_A_CHILD))
        return HILOCK_FORKED;
    hl_cell_claim(cell);
    is_begun = is_owner(cell) && atomic_compare_exchange_strong(&cell->turn, &turn, CELL_INSIDE);
    if (is_owner(cell) && (is_begun || turn == CELL_INSIDE))
        return HILOCK_OK;
    if (is_begun) /* another thread adopted the cell in between */
        atomic_store(&cell->turn, CELL_OUTSIDE);
    atomic_fetch_add_explicit(&cell->wrong_thread, 1, memory_order_relaxed);
    return HILOCK_WRONG_THREAD;
}

hilock_status hl_cell_adopt(struct hl_cell *cell)
{
    if (hl_cell_is_forked(cell))
        return HILOCK_FORKED;
    for (;;) {
        int turn = atomic_load(&cell->turn);
        if (turn != CELL_UNOWNED && is_owner(cell))
            return HILOCK_OK;
        if (turn == CELL_INSIDE)
            return HILOCK_WRONG_THREAD;
        if (turn != CELL_ADOPTED && take(cell, turn))
            return HILOCK_OK;
        sched_yield();
    }
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
