/* SPDX-License-Identifier: BSD-3-Clause */
/* callback - the only place that calls a lock's user. It keeps the handle until the callback returns, even if the
 * callback frees it. */
#ifndef HL_LOCK_CALLBACK_H
#define HL_LOCK_CALLBACK_H

#include "lock/core.h"

/* Adds how the handle stands right now; hold_count 0: what it has. */
void hl_callback_result(struct hilock_lock *lock, hilock_result_fn *on_result, struct hilock_result result, void *user);
void hl_callback_event(struct hl_core *core, struct hilock_lock *lock, hilock_event_fn *on_event,
                       struct hilock_event *event);
/* The handle was dropped or freed meanwhile. */
int hl_callback_is_off(const struct hilock_lock *lock, const struct hl_notice *notice);

#endif
