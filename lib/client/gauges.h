/* SPDX-License-Identifier: BSD-3-Clause */
/* gauges - the present numbers of handles, waits, holds, requests and nodes, kept where any thread may read them:
 * the loop's thread writes them at the end of each turn. The ages of the oldest hold and wait, and the numbers of
 * shares, cost a visit to every handle. So they are kept only once another thread has asked for them, and found anew at
 * most once a second. */
#ifndef HL_CLIENT_GAUGES_H
#define HL_CLIENT_GAUGES_H

#include "client/client.h"

struct hl_census {
    uint64_t hold_since_us, wait_since_us; /* when the oldest hold and the oldest wait began; 0: there is none */
    unsigned shares, permits; /* how many handles that hold share their name, and how many of these by a number */
};

struct hl_census hl_gauges_census(const struct hl_core *core); /* visits every handle */
void hl_gauges_publish(struct hilock_client *client);      /* writes the copy that other threads read */

#endif
