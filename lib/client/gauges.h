/* SPDX-License-Identifier: BSD-3-Clause */
/* gauges - what stands now, kept so that any thread may read it: the loop's thread writes it at the end of each turn.
 * The ages cost a look at every handle: they are kept only once another thread has asked, and looked for once a second
 * at most. */
#ifndef HL_CLIENT_GAUGES_H
#define HL_CLIENT_GAUGES_H

#include "client/client.h"

struct hl_ages { uint64_t hold_since_us, wait_since_us; }; /* 0: there is none */

struct hl_ages hl_gauges_ages(const struct hl_core *core); /* now */
void hl_gauges_publish(struct hilock_client *client);

#endif
