/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_channel - the channel on which the store notifies a client of its grants. There is one for all names. In a
 * cluster there is one for each hash slot with such names, at the server of that slot: its name is in that slot, so
 * that scripts may publish to it, and it moves with the slot. It is subscribed when a name is refused, because a free
 * name needs no push; for FAIR it is subscribed with the first handle, so that a wait need not begin with the
 * subscription. A channel that had no waiters for a minute is given up when another one is needed. No channel keeps a
 * link up (may_rest).
 *
 *   push -> the wait with that id (place.h)
 *     `---> no wait has that id: it is released at once, by name and id, so that the next waiter does not wait for the
 *           end of the window
 *
 * Invariants: a push is a hint like any message (R7), and push.c checks what it proves. After each subscription all
 * waiters of the channel ask again, because earlier pushes are lost. */
#ifndef HL_WAIT_GRANT_CHANNEL_H
#define HL_WAIT_GRANT_CHANNEL_H

#include "wait/waiter.h"

struct hl_queue_place;

/* Call when a FAIR handle is made. */
void hl_grant_channel_open_early(struct hl_core *core, const struct hilock_lock *lock);
/* From now on pushes find this place, if there is memory for that. */
void hl_grant_channel_join(struct hl_core *core, struct hl_queue_place *place);
/* Call before the hold of this place goes away or gets another id: pushes no longer find the place. place NULL: does
 * nothing. */
void hl_grant_channel_leave(struct hl_queue_place *place);
/* From now on a place with a ticket listens for its grants. Returns how the questions of this place name the channel;
 * ENTRY_POLLS: no push finds the place. */
enum hl_entry_channel hl_grant_channel_listen(const struct hl_queue_place *place);
void hl_grant_channels_follow(struct hl_core *core); /* slots have moved: listens at the nodes that serve them now */
void hl_grant_channels_done(struct hl_core *core); /* the nodes are about to end, and there are no waiters left */

#endif
