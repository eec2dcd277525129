/* SPDX-License-Identifier: BSD-3-Clause */
/* recent - holds whose release the store acknowledged lately. A failover can lose an acknowledged release: the next
 * master still has the hold, and no client would renew or release it until its lease runs out. So when another server
 * takes over, these holds end once more (ending.h), by their own ids, which are never used again: if nothing was lost
 * the release finds nothing. Bounded in number and time, made when first needed; its failure fails nothing else. Only
 * for deployments that can lose writes, and with one server for the kinds with a queue: after a restart, or with
 * another server behind the address, an id may be back in the queue for much longer than a lease. */
#ifndef HL_HOLD_RECENT_H
#define HL_HOLD_RECENT_H

#include "hold/hold.h"

struct hl_recent;

void hl_recent_add(const struct hl_hold *hold); /* its release was answered */
/* a server is up, or took over: releases that it may not know. Those without memory stay for the next time */
void hl_recent_repeat(struct hl_core *core);
void hl_recent_free(struct hl_core *core);

#endif
