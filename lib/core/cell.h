/* SPDX-License-Identifier: BSD-3-Clause */
/* cell - what a client and its handles share, and what they and other threads' objects (validity.h) keep after it:
 * which thread may call, whether this is a forked child, and whether the client still exists.
 *
 * A child is detected by a page that a fork leaves zeroed in it (MADV_WIPEONFORK of Linux). That costs a read; getpid
 * costs five times as much as the rest of a call, and is used only where no kernel promises such a page.
 * Invariant: every call of the public API asks the cell first and touches nothing else if it is refused, so that a call
 * from a wrong thread or a forked child reads no memory that the loop's thread may be writing or freeing. The same is
 * asked before a turn of the loop.
 *
 * The owner changes by adopt only, and not while it is inside a turn. A turn first marks that it is inside and then
 * reads the owner; adopt first writes the owner and then reads the mark: so at least one of them sees the other. */
#ifndef HL_CORE_CELL_H
#define HL_CORE_CELL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/memory.h"

struct hl_core;

struct hl_cell {
    atomic_uint refs;           /* handles' terms, validities, and the client; any thread */
    struct hl_core *core;       /* NULL: the client is gone; the owner's thread only */
    struct hl_memory memory;
    atomic_int has_owner;       /* set in the loop's first turn, or by adopt (release), read by every call (acquire) */
    _Atomic pthread_t owner;
    atomic_int is_inside;       /* its owner is in a turn */
    atomic_uint reported;       /* refusals of turns that have been reported: 1u << -status */
    atomic_uint_fast64_t wrong_thread;
    pid_t pid;
    unsigned char *page; /* NULL: compare pid. [0] is 1 in the process that made it; written before it is shared */
};

struct hl_cell *hl_cell_new(const struct hl_memory *memory); /* one reference; NULL: no memory */
void hl_cell_ref(struct hl_cell *cell);
void hl_cell_unref(struct hl_cell *cell);
void hl_cell_claim(struct hl_cell *cell); /* this thread runs the loop */
/* May a turn begin here? HILOCK_OK: this thread is the owner, and inside until hl_cell_leave. WRONG_THREAD, FORKED. */
hilock_status hl_cell_enter(struct hl_cell *cell);
void hl_cell_leave(struct hl_cell *cell);
hilock_status hl_cell_adopt(struct hl_cell *cell); /* this thread is the owner now. WRONG_THREAD: another is inside */
int hl_cell_report_once(struct hl_cell *cell, hilock_status refusal); /* once for each refusal of a turn */

int hl_cell_is_forked(const struct hl_cell *cell);
hilock_status hl_cell_check_thread(struct hl_cell *cell); /* as hl_cell_admit, but counts nothing */
/* HILOCK_OK, HILOCK_WRONG_THREAD (counted) or HILOCK_FORKED. The caller checks for CLOSED: cell->core. */
hilock_status hl_cell_admit(struct hl_cell *cell);

#endif
