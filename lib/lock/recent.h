/* SPDX-License-Identifier: BSD-3-Clause */
/* recent - holds whose release the store acknowledged lately. A failover can lose an acknowledged release: the next
 * master still has the hold, and no client would renew or release it until its lease runs out. So when another server
 * takes over, these holds are released again, by their own ids, which are never used again: if nothing was lost the
 * release finds nothing. While that server cannot do it (it loads, or has too few replicas), the release is repeated
 * from time to time, as long as a lost hold would last. Bounded in number and time, made when first needed; its failure
 * fails nothing else. Only for deployments that can lose writes, and with one server for the kinds with a queue: after
 * a restart, or with another server behind the address, an id may be back in the queue for much longer than a lease. */
#ifndef HL_LOCK_RECENT_H
#define HL_LOCK_RECENT_H

#include "lock/core.h"

struct hl_recent;

void hl_recent_add(struct hl_core *core, const struct hl_hold *hold); /* its release was answered */
void hl_recent_again(struct hl_core *core); /* after a failover: acknowledged releases may be lost */
void hl_recent_at(struct hl_core *core, const struct hl_node *node); /* the node is up: the same, if it is another run
                                                                        than the one that acknowledged */
void hl_recent_free(struct hl_core *core); /* the nodes are gone: no answer comes any more */

#endif
