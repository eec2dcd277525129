/* SPDX-License-Identifier: BSD-3-Clause */
/* belief - how long a client believes in a hold, measured from outside: hilock_lock_remaining_ms tells the deadline, to the millisecond and to
 * what passed while it was asked. Each look narrows it down, as long as the deadline stands still. */
#ifndef LIVE_BELIEF_H
#define LIVE_BELIEF_H

#include "client.h"

struct belief { uint64_t from_us, until_us; }; /* the deadline lies in here, on CLOCK_BOOTTIME; all 0: no look yet */

void belief_look(struct belief *belief, const struct handle *handle); /* of a hold that is still valid; else nothing */
void belief_settle(struct belief *belief, const struct handle *handle); /* looks until it is known to a few milliseconds */

/* Turns until the loss of handle is reported, and fails the test if a whole turn began after the deadline without that report. A loop that
 * counts milliseconds is as late as the lease allows for: 5 ms. */
void belief_until_lost(struct belief *belief, struct handle *handle);

#endif
