/* SPDX-License-Identifier: BSD-3-Clause */
/* grants - the channel on which a client is told that a FAIR lock has become its own. One for all names; in a cluster one for each hash slot that
 * has such names, at the server of that slot and in that slot, so that the scripts that push to it may name it, and with its slot it moves.
 * Subscribed with the first handle, so that a wait need not begin with that. One that nobody waits on for a minute is given up when another is
 * of use; and none is a reason to stay linked to a server (hl_listener_let_rest).
 *
 *   push -> the wait of that id (fair.h)
 *     `---> nobody waits by that id: it is released at once, by name and id; who comes next need not wait for the window
 *
 * Invariants: a push is a hint as any message (R7), and what it proves is looked into by fair.c; after each subscription everybody who waits
 * there asks again, for what was pushed before it is lost. */
#ifndef HL_LOCK_GRANTS_H
#define HL_LOCK_GRANTS_H

#include "lock/core.h"

struct hl_fair;

void hl_grants_init(struct hl_core *core);
void hl_grants_warm(struct hl_core *core, const struct hilock_lock *lock); /* a FAIR handle was made */
void hl_grants_join(struct hl_core *core, struct hl_fair *fair);  /* its id may be pushed to. Without memory it may not: it is not found */
void hl_grants_leave(struct hl_core *core, struct hl_fair *fair); /* who is found */
const char *hl_grants_channel(const struct hl_fair *fair); /* for a heartbeat of one who is found to name; "": none is to be had, poll */
void hl_grants_follow(struct hl_core *core); /* slots have moved: listens where they are now */
void hl_grants_done(struct hl_core *core); /* nodes are gone, or go; nobody waits any more */

#endif
