/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_channel - the channel on which the store notifies a client of its grants. A client has one at each master, for
 * all names there. In a cluster it has one for each hash slot with names that it waits for, at the server of that slot:
 * the name of the channel is in that slot, so that scripts may publish to it, and the channel moves with the slot. The
 * client subscribes to it when a request is answered "held" for the first time, because a free name needs no push. For
 * FAIR it subscribes when the first handle is made, so that a wait need not begin with the subscription. A channel that
 * had no waiters for a minute is given up when another one is needed. No channel keeps a link up (may_rest).
 *
 *   push -> the wait with that id (place.h)
 *     |---> no place has that id, but a hold has: it asks the store again
 *     `---> nothing of this client has that id: the grant is released at once, by name and id, so that the next waiter
 *           does not wait for the end of the window
 *
 * Invariants: a push is a hint like any message (R7), and place.c checks what it proves. After each subscription all
 * waiters of the channel send a heartbeat, because earlier pushes are lost. */
#ifndef HL_LOCK_GRANT_CHANNEL_H
#define HL_LOCK_GRANT_CHANNEL_H

#include "lock/acquire.h"

struct hl_queue_place;

/* Call when a FAIR handle is made: subscribes already. */
void hl_grant_channel_open_early(struct hl_core *core, const struct hilock_lock *lock);
/* From now on pushes find this place, if there is memory for that. */
void hl_grant_channel_join(struct hl_core *core, struct hl_queue_place *place);
/* Subscribes, if the place has a ticket. Returns what the requests of this place say about its channel; ENTRY_POLLS: no
 * push finds the place. */
enum hl_entry_channel hl_grant_channel_listen(const struct hl_queue_place *place);
void hl_grant_channels_follow(struct hl_core *core); /* slots have moved: subscribes at the nodes that serve them now */
void hl_grant_channels_done(struct hl_core *core); /* the nodes are about to end, and there are no waiters left */

#endif
