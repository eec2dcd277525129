/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival - an acquire begins. */
#ifndef HL_LOCK_ARRIVAL_H
#define HL_LOCK_ARRIVAL_H

#include "lock/core.h"

/* The caller has checked everything but memory. HILOCK_OK or HILOCK_NO_MEMORY. */
hilock_status hl_arrival_begin(struct hl_core *core, struct hilock_lock *lock, int is_try, uint64_t ends_us,
                               hilock_result_fn *on_result, void *user);
int hl_arrival_may_ask(struct hl_core *core, struct hl_acquire *acquire); /* makes its hold; 0: no memory, the gate is
                                                                             advanced again later */
void hl_arrival_on_alarm(struct hl_alarm *alarm); /* of core->wait_alarms */

#endif
