/* SPDX-License-Identifier: BSD-3-Clause */
/* joining - a reader gets the share that another handle of its client has already (share_local_ms), without a command.
 *
 *   the request of a share is sent --its answer: granted--> open --share_local_ms after that send--> closed
 *
 * Invariants:
 *  - A handle joins only while the share is open. So readers of this client pass a writer in the queue at the store for
 *    share_local_ms at most.
 *  - A share that was granted by a push is never open: its request may be old, and its grant lasts for a window only.
 *  - All handles of a share have the same terms, as far as the hold depends on them.
 *  - The share is proved at the server that answers for the name now. Enough of its lease is left for the handle (R8),
 *    which is checked here, and again when the grant is reported.
 *  - A handle joins the newest share of its client, or none. So joining takes the same time however many there are. */
#ifndef HL_LOCK_JOINING_H
#define HL_LOCK_JOINING_H

#include "lock/acquire.h"

/* The hold was just granted to this acquire, whose handle has the option, and is held: it is open from now on. */
void hl_joining_open(struct hl_acquire *acquire);
/* The acquire begins. Returns 1 if it has joined a share: then it is GRANTED, and is reported as such. */
int hl_joining_begin(struct hl_acquire *acquire);

#endif
