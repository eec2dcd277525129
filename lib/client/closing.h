/* SPDX-License-Identifier: BSD-3-Clause */
/* closing - how a client ends: waits end CLOSED, holds live on while the client drains, and then the client waits for
 * the answers to releases. Each step has a time limit.
 *
 * Any thread may ask for the close. On the loop's thread the close begins at once. Another thread writes its request
 * down and wakes the loop, which begins to close in its next turn.
 * Invariant: the client exists as long as a thread is inside hilock_client_close, and each pair of an on_closed and its
 * user is called once. */
#ifndef HL_CLIENT_CLOSING_H
#define HL_CLIENT_CLOSING_H

#include "client/client.h"

void hl_closing_init(struct hl_closing *closing);
/* Keeps a callback for the end of the client. A pair of on_closed and user that was kept before is not kept again. May
 * be called on any thread. HILOCK_IN_USE: there are HL_CLOSERS_MAX pairs already. */
hilock_status hl_closing_keep(struct hl_closing *closing, hilock_closed_fn *on_closed, void *user);
/* Begins to close. If the client is closing already, this can only bring the end of the drain time forward. */
void hl_closing_begin(struct hilock_client *client, uint64_t ends_us);
/* Asks for the close from another thread than the loop's. WRONG_THREAD: this loop cannot be woken. IN_USE: as above. */
hilock_status hl_closing_ask(struct hilock_client *client, uint64_t ends_us, hilock_closed_fn *on_closed, void *user);
void hl_closing_begin_asked(struct hilock_client *client); /* begins the close if another thread has asked for it */
/* Takes the next step, if it is due; called at the end of each call from the loop. Returns 1 when the client has ended,
 * and may be freed. */
int hl_closing_advance(struct hilock_client *client);
void hl_closing_timer(void *client);
void hl_closing_report(const struct hl_closing *closing); /* calls every on_closed, after the client has been freed */

#endif
