/* SPDX-License-Identifier: BSD-3-Clause */
/* gauges - the present numbers of handles, waits, holds, requests and nodes, kept where any thread may read them:
 * the loop's thread writes them at the end of each turn. The ages of the oldest hold and wait cost a visit to every
 * handle, so they are kept only once another thread has asked for them, and found anew at most once a second. */
#ifndef HL_CLIENT_GAUGES_H
#define HL_CLIENT_GAUGES_H

#include "client/client.h"

/* When the oldest hold and the oldest wait began; 0: there is none. */
struct hl_ages { uint64_t hold_since_us, wait_since_us; };

struct hl_ages hl_gauges_ages(const struct hl_core *core); /* visits every handle */
void hl_gauges_publish(struct hilock_client *client);      /* writes the copy that other threads read */

#endif
