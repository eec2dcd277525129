/* SPDX-License-Identifier: BSD-3-Clause */
/* multi - what is different when a handle stands for several names, all of them.
 *
 * Its hold has a part for each name, and all are asked for at once. Its acquire stands in the line of one name at a time, as any waiter does:
 * first that of the first name, then that of the name which was found busy. Before it asks, and when it is refused, it looks where it has
 * to stand. Whatever an attempt got goes back when another part of it is refused (acquire.c), so nothing is kept while something is
 * waited for: there is no order to remember, and no deadlock.
 * Invariant: a name that a sibling holds, that a release of ours is still out for, or that siblings wait for, is not asked for past them. */
#ifndef HL_LOCK_MULTI_H
#define HL_LOCK_MULTI_H

#include "lock/core.h"

struct hl_names { /* in the order given, each referenced */
    unsigned count;
    struct hl_name *of[];
};

/* The references become its own. NULL: no memory, and nothing has changed. */
struct hl_names *hl_multi_names_new(const struct hl_memory *memory, struct hl_name *const *names, unsigned count);
void hl_multi_names_free(struct hl_core *core, const struct hl_memory *memory, struct hl_names *names); /* core NULL: the client is gone */

/* Index of a name, other than the one in whose line it stands, that it may not ask for now; -1: none, as for every plain acquire. */
int hl_multi_barred_at(const struct hl_acquire *acquire);
int hl_multi_held_at(const struct hilock_lock *lock); /* index of a name that is known to be held; -1: none. Also of a plain handle */

#endif
