/* SPDX-License-Identifier: BSD-3-Clause */
/* teardown - the client ends: frees the memory of every wait and hold, without traffic or callbacks. Handles stay,
 * idle. */
#ifndef HL_LOCK_TEARDOWN_H
#define HL_LOCK_TEARDOWN_H

#include "lock/core.h"

void hl_teardown_lock(struct hl_core *core, struct hilock_lock *lock); /* one handle's, in a forked child whose client
                                                                          still exists */
void hl_teardown(struct hl_core *core); /* the route still exists; it sends no answers after this */

#endif
