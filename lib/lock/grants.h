/* SPDX-License-Identifier: BSD-3-Clause */
/* grants - the channel on which a client hears that a lock it waits for has become its own. One for all names; in a
 * cluster one for each hash slot that has such names, at the server of that slot and in that slot, so that the scripts
 * that push to it may name it, and with its slot it moves. Subscribed when a name was refused, for a free one needs no
 * grant; of FAIR with the first handle, so that a wait need not begin with that. One that nobody waits on for a minute
 * is given up when another is of use; and none is a reason to stay linked to a server (hl_listener_let_rest).
 *
 *   push -> the wait of that id (fair.h)
 *     `---> nobody waits by that id: it is released at once, by name and id; the next waiter does not wait for the end
 *           of the window
 *
 * Invariants: a push is a hint as any message (R7), and what it proves is looked into by fair.c; after each
 * subscription everybody who waits there asks again, for what was pushed before it is lost. */
#ifndef HL_LOCK_GRANTS_H
#define HL_LOCK_GRANTS_H

#include "lock/core.h"

struct hl_queue_place;

void hl_grants_init(struct hl_core *core);
void hl_grants_warm(struct hl_core *core, const struct hilock_lock *lock); /* a FAIR handle was made */
void hl_grants_join(struct hl_core *core, struct hl_queue_place *place);  /* its id may be pushed to. Without memory it
                                                                             may not: it is not found */
void hl_grants_leave(struct hl_core *core, struct hl_queue_place *place); /* who is found */
const char *hl_grants_channel(const struct hl_queue_place *place); /* for a heartbeat of one who is found to name; "":
                                                                      there is none, poll */
int hl_grants_listen(const struct hl_queue_place *place); /* who is found was refused the name, and has a place. 0:
                                                             there is nothing to hear, poll */
void hl_grants_follow(struct hl_core *core); /* slots have moved: listens where they are now */
void hl_grants_done(struct hl_core *core); /* nodes are gone, or go; nobody waits any more */

#endif
