/* SPDX-License-Identifier: BSD-3-Clause */
/* closing - the end of a client: waits end CLOSED, holds live on while it drains, then it waits for releases, each step
 * with its limit.
 *
 * Any thread may ask for it. On the loop's thread it begins at once. Another thread writes down what it wants and wakes
 * the loop, which begins it in its next turn.
 * Invariant: the client is there as long as a thread is inside hilock_client_close, and each on_closed runs once for
 * each user. */
#ifndef HL_CLIENT_CLOSING_H
#define HL_CLIENT_CLOSING_H

#include "client/client.h"

void hl_closing_init(struct hl_closing *closing);
/* Asked twice by the same it is told once. HILOCK_IN_USE: there are too many. Any thread. */
hilock_status hl_closing_keep(struct hl_closing *closing, hilock_closed_fn *on_closed, void *user);
void hl_closing_begin(struct hilock_client *client, uint64_t ends_us); /* again: it can only shorten the drain */
/* On another thread than the loop's. WRONG_THREAD: this loop cannot be woken. IN_USE. */
hilock_status hl_closing_ask(struct hilock_client *client, uint64_t ends_us, hilock_closed_fn *on_closed, void *user);
void hl_closing_begin_asked(struct hilock_client *client); /* begins what another thread has asked for */
int hl_closing_advance(struct hilock_client *client); /* at each leave: the next step, where it can. 1: it is over */
void hl_closing_timer(void *client);
void hl_closing_report(const struct hl_closing *closing); /* of a client that is gone */

#endif
