/* SPDX-License-Identifier: BSD-3-Clause */
/* callback - see callback.h. */
#include "lock/callback.h"

#include "base/plant.h"
#include "lock/lease.h"
#include "lock/lock.h"

static void add_state(const struct hilock_lock *lock, struct hilock_result *result)
{
    const struct hl_look look = lock->ops->look(lock, hl_now_us(&lock->terms->cell->core->host));
    result->state = look.state;
    result->remaining_ms = hl_lease_span_ms(look.left_us);
    result->fencing_token = look.token;
    result->hold_count = result->hold_count ? result->hold_count : look.count;
}

void hl_callback_result(struct hilock_lock *lock, hilock_result_fn *on_result, struct hilock_result result, void *user)
{
    result.size = sizeof result;
    result.lock = lock;
    result.holder = result.holder ? result.holder : "";
    result.holder_label = hl_holder_label(result.holder);
    add_state(lock, &result);
    lock->refs++;
    on_result(&result, user);
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

int hl_callback_is_off(const struct hilock_lock *lock, const struct hl_notice *notice)
{
    return lock->epoch != notice->epoch && !HL_PLANTED(SILENCE_BROKEN);
}
