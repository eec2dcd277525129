/* SPDX-License-Identifier: BSD-3-Clause */
/* callback - see callback.h. */
#include "lock/callback.h"

#include "base/plant.h"
#include "lock/lease.h"
#include "lock/lock.h"

void hl_callback_result(struct hilock_lock *lock, hilock_result_fn *on_result, const struct hilock_result *result,
                        void *user)
{
    struct hilock_result told = *result;
    told.holder_label = hl_holder_label(told.holder);
    lock->refs++;
    on_result(&told, user);
    hl_lock_unref(lock);
}

void hl_callback_event(struct hl_core *core, struct hilock_lock *lock, hilock_event_fn *on_event,
                       struct hilock_event *event)
{
    event->size = sizeof *event;
    event->client = (struct hilock_client *)(void *)core;
    event->lock = lock;
    event->holder = event->holder ? event->holder : "";
    event->node = event->node ? event->node : "";
    event->detail = event->detail ? event->detail : "";
    event->holder_label = hl_holder_label(event->holder);
    if (!on_event)
        return;
    lock->refs++;
    on_event(event, lock->user);
    hl_lock_unref(lock);
}

void hl_callback_fill(struct hl_core *core, const struct hilock_lock *lock, struct hilock_result *result)
{
    const struct hl_look look = lock->ops->look(lock, hl_now_us(&core->host));
    result->size = sizeof *result;
    result->state = look.state;
    result->remaining_ms = hl_lease_span_ms(look.left_us);
    result->fencing_token = look.token;
    result->hold_count = look.count;
    result->votes = look.votes;
}

int hl_callback_is_off(const struct hilock_lock *lock, const struct hl_notice *notice)
{
    return lock->epoch != notice->epoch && !HL_PLANTED(SILENCE_BROKEN);
}
