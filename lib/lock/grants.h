/* SPDX-License-Identifier: BSD-3-Clause */
/* grants - the channel on which a client is told that a FAIR lock has become its own: one for each node that keeps such locks, subscribed
 * with the first handle and until the client goes.
 *
 *   push -> the wait of that id (fair.h)
 *     `---> nobody waits by that id: it is released at once, by name and id; who comes next need not wait for the window
 *
 * Invariants: a push is a hint as any message (R7), and what it proves is looked into by fair.c; after each subscription everybody who waits
 * there asks again, for what was pushed before it is lost. */
#ifndef HL_LOCK_GRANTS_H
#define HL_LOCK_GRANTS_H

#include "lock/core.h"

void hl_grants_init(struct hl_core *core);
void hl_grants_warm(struct hl_core *core, const struct hilock_lock *lock); /* a FAIR handle was made */
const char *hl_grants_channel(struct hl_core *core, struct hl_node *node); /* to be named there; "": none is to be had, poll */
void hl_grants_undo(struct hl_core *core, struct hl_name *name, uint64_t id); /* a grant of ours that nobody wants. Without memory it lapses */
void hl_grants_done(struct hl_core *core); /* nodes are gone, or go; nobody waits any more */

#endif
