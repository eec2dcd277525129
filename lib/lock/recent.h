/* SPDX-License-Identifier: BSD-3-Clause */
/* recent - the holds whose release the store acknowledged lately. A failover can lose an acknowledged release: the next
 * master still has the hold, and nobody would renew or release it until its lease runs out. So when another server
 * takes over, what may come back to life there is released again, by its own id, which is never used again: where
 * nothing was lost it finds nothing. While that server refuses it for now (it loads, it is given too few replicas to
 * write), it is said again from time to time, for as long as what was lost would last. Bounded in number and time, made
 * when first needed, and never a reason for anything to fail. Only where a deployment can lose writes, and with one
 * server for the kinds with a queue: a restart, or another server behind its address, may put back into the queue who
 * has left it, for much longer than a lease. */
#ifndef HL_LOCK_RECENT_H
#define HL_LOCK_RECENT_H

#include "lock/core.h"

struct hl_recent;

void hl_recent_add(struct hl_core *core, const struct hl_hold *hold); /* its release was answered */
void hl_recent_again(struct hl_core *core); /* after a failover: what was acknowledged before may be lost */
void hl_recent_at(struct hl_core *core, const struct hl_node *node); /* it is up: the same, if it is another run
                                                                        than the one that acknowledged */
void hl_recent_free(struct hl_core *core); /* the nodes are gone: no answer comes any more */

#endif
