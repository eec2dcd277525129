/* SPDX-License-Identifier: BSD-3-Clause */
/* cell - what a client shares with its handles. Handles, and objects of other threads (validity.h), keep it after the
 * client is gone. It shows which thread may call, whether this process is a forked child, and whether the client still
 * exists.
 *
 * A child is detected by a page that the kernel zeroes in the child when the process forks (MADV_WIPEONFORK of Linux).
 * Reading that page is cheap. getpid costs five times as much as the rest of a call, and is used only where the kernel
 * has no such pages.
 * Invariant: every call of the public API checks the cell first, and touches nothing else if the cell refuses it. So a
 * call from a wrong thread or from a forked child reads no memory that the loop's thread may be writing or freeing. A
 * turn of the loop does the same before it begins.
 *
 * Only adopt changes the owner, and not while the owner is inside a turn. Both a turn and an adopt begin with a change
 * of `turn` that only one thread can make, so neither begins while the other lasts, and a thread that may not adopt has
 * written nothing. */
#ifndef HL_CORE_CELL_H
#define HL_CORE_CELL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/plant.h"

struct hl_core;

enum hl_cell_turn {
    CELL_UNOWNED, /* no thread is the owner yet: the first turn of the loop, or adopt, makes one */
    CELL_OUTSIDE, /* the owner is not in a turn of the loop */
    CELL_INSIDE,
    CELL_ADOPTED  /* a thread is becoming the owner, which takes a few instructions */
};
enum hl_cell_page { /* what the page has in its first byte */
    PAGE_WIPED,    /* this process is a forked child */
    PAGE_OURS,     /* this process made the cell */
    PAGE_NOT_WIPED /* the kernel wipes no page: only the pid shows a forked child */
};

struct hl_cell {
    atomic_uint refs;           /* the references of terms, validities and the client; counted from any thread */
    struct hl_core *core;       /* NULL: the client is gone; used by the owner's thread, and by others between
                                   hl_cell_begin_read and hl_cell_end_read */
    atomic_uint readers;        /* how many threads are between these two; and CELL_RETIRED */
    struct hl_memory memory;
    atomic_int turn;            /* enum hl_cell_turn. Its change from UNOWNED is a release, and every call reads it with
                                   acquire */
    _Atomic pthread_t owner;
    atomic_int reported;        /* the status of the turn that was reported latest: a refusal, or at first OK */
    atomic_uint_fast64_t wrong_thread;
    pid_t pid;
    unsigned char *page;        /* page[0] is an enum hl_cell_page, written before the cell is shared */
};

enum { CELL_RETIRED = 1 << 30 }; /* the client is ending: no thread begins to read any more */

static inline int hl_cell_is_forked(const struct hl_cell *cell)
{
    int is_same = cell->page[0] == PAGE_OURS || (cell->page[0] == PAGE_NOT_WIPED && cell->pid == getpid());
    return !is_same && !HL_PLANTED(R12_FORK_IGNORED);
}

struct hl_cell *hl_cell_new(const struct hl_memory *memory); /* returns one reference, or NULL without memory */
void hl_cell_ref(struct hl_cell *cell);
void hl_cell_unref(struct hl_cell *cell);
void hl_cell_own(struct hl_cell *cell); /* this thread becomes the owner, unless another one has become it */
/* This thread runs the loop: it becomes the owner, if there is none. */
static inline void hl_cell_claim(struct hl_cell *cell)
{
    if (atomic_load_explicit(&cell->turn, memory_order_relaxed) == CELL_UNOWNED)
        hl_cell_own(cell);
}
/* Begins a turn of the loop on this thread, if it is the owner. Returns HILOCK_OK: the turn lasts until hl_cell_leave.
 * Otherwise returns WRONG_THREAD or FORKED, and no turn begins. */
hilock_status hl_cell_enter(struct hl_cell *cell);
static inline void hl_cell_leave(struct hl_cell *cell) { atomic_store(&cell->turn, CELL_OUTSIDE); }
/* This thread becomes the owner. WRONG_THREAD: another thread is inside a turn. */
hilock_status hl_cell_adopt(struct hl_cell *cell);
/* Returns 1 the first time that a turn is refused with this status. In one process there is only one: a parent refuses
 * with WRONG_THREAD, a child with FORKED. */
int hl_cell_report_once(struct hl_cell *cell, hilock_status refusal);

/* Any thread may read what only the end of a client takes away: returns the core, which stays until hl_cell_end_read;
 * NULL: the client is gone, and nothing is to be ended. Between the two nothing waits and nothing calls back. */
struct hl_core *hl_cell_begin_read(struct hl_cell *cell);
void hl_cell_end_read(struct hl_cell *cell);
/* The client is gone from now on. Waits until no thread reads it, which takes a few instructions. */
void hl_cell_retire(struct hl_cell *cell);

hilock_status hl_cell_check_thread(struct hl_cell *cell); /* the same as hl_cell_admit, but counts nothing */
/* Returns HILOCK_OK, HILOCK_WRONG_THREAD (and counts it) or HILOCK_FORKED. The caller checks for CLOSED by
 * cell->core. */
hilock_status hl_cell_admit(struct hl_cell *cell);

#endif
