/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_channel - the channel on which the store notifies a client of its grants. One for all names; in a cluster one
 * for each hash slot with such names, at the server of that slot and in that slot, so that scripts may publish to it,
 * and it moves with its slot. Subscribed when a name is refused, because a free name needs no push; for FAIR with the
 * first handle, so that a wait need not begin with that. A channel without waiters for a minute is given up when
 * another is needed; none keeps a link up (may_rest).
 *
 *   push -> the wait of that id (place.h)
 *     `---> no wait has that id: it is released at once, by name and id; the next waiter does not wait for the end of
 *           the window
 *
 * Invariants: a push is a hint like any message (R7), and place.c checks what it proves; after each subscription all
 * its waiters ask again, because earlier pushes are lost. */
#ifndef HL_WAIT_GRANT_CHANNEL_H
#define HL_WAIT_GRANT_CHANNEL_H

#include "wait/waiter.h"

struct hl_queue_place;

void hl_grant_channel_open_early(struct hl_core *core, const struct hilock_lock *lock); /* a FAIR handle was made */
void hl_grant_channel_join(struct hl_core *core, struct hl_queue_place *place); /* pushes find it, if there is memory */
/* place NULL: nothing */
void hl_grant_channel_leave(struct hl_queue_place *place); /* no longer: before its hold goes, or gets another id */
/* A place with a ticket listens from here on. How its questions name the channel; ENTRY_POLLS: no push finds it */
enum hl_entry_channel hl_grant_channel_listen(const struct hl_queue_place *place);
void hl_grant_channels_follow(struct hl_core *core); /* slots have moved: listens at their new nodes */
void hl_grant_channels_done(struct hl_core *core); /* the nodes end, and there are no waiters */

#endif
