/* SPDX-License-Identifier: BSD-3-Clause */
/* callback - see callback.h. */
#include "core/callback.h"

#include "base/container.h"
#include "core/lease.h"

void hl_callback_result(struct hilock_lock *lock, hilock_result_fn *on_result, struct hilock_result result, void *user)
{
    const struct hl_snapshot now = lock->ops->snapshot(lock);
    result.size = sizeof result;
    result.lock = lock;
    result.state = now.state;
    result.remaining_ms = hl_lease_span_ms(hl_left_us(now.ends_us, hl_now_us(&hl_lock_core(lock)->host)));
    result.fencing_token = now.token;
    result.hold_count = result.hold_count ? result.hold_count : now.count;
    result.holder = result.holder ? result.holder : "";
    result.holder_label = hl_holder_label(result.holder);
    lock->refs++;
    on_result(&result, user);
    hl_lock_unref(lock);
}

void hl_callback_event(struct hl_core *core, struct hilock_lock *lock, hilock_event_fn *on_event,
                       struct hilock_event *event)
{
    event->size = sizeof *event;
    event->client = core->client;
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

int hl_callback_is_silenced(const struct hilock_lock *lock, const struct hl_notice *notice)
{
    return lock->epoch != notice->epoch;
}

void *hl_callback_new(struct hl_core *core, size_t size, const struct hl_notice_ops *ops,
                      void (*expire)(struct hl_core *core, struct hl_call *call), struct hilock_lock *lock,
                      hilock_result_fn *on_result, void *user)
{
    struct hl_call *call = hl_memory_new(&core->host.memory, size);
    if (!call)
        return NULL;
    *call = (struct hl_call){.notice = {.ops = ops, .epoch = lock->epoch}, .lock = lock, .on_result = on_result,
                             .user = user, .begun_us = hl_now_us(&core->host), .expire = expire};
    lock->refs++;
    if (!expire)
        return call;
    if (hl_alarm_begin(&core->call_alarms, &call->alarm) != 0) {
        hl_callback_free(core, call);
        return NULL;
    }
    hl_alarm_set(&core->call_alarms, &call->alarm, call->begun_us + (uint64_t)core->limits.command_timeout_ms * 1000);
    return call;
}

void hl_callback_on_alarm(struct hl_alarm *alarm)
{
    struct hl_call *call = HL_CONTAINER(alarm, struct hl_call, alarm);
    call->expire(hl_lock_core(call->lock), call);
}

void hl_callback_decided(struct hl_core *core, struct hl_call *call, int is_loss)
{
    hl_alarm_stop(&core->call_alarms, &call->alarm);
    if (is_loss)
        hl_notice_post_loss(core, &call->notice, 1);
    else
        hl_notice_post(core, &call->notice, 1);
}

void hl_callback_free(struct hl_core *core, struct hl_call *call)
{
    struct hilock_lock *lock = call->lock;
    hl_notice_cancel(core, &call->notice);
    hl_alarm_end(&core->call_alarms, &call->alarm);
    hl_memory_free(&core->host.memory, call);
    hl_lock_unref(lock);
}

void hl_callback_answer(struct hl_core *core, struct hl_call *call, struct hilock_result result)
{
    const struct hl_call own = *call;
    hilock_result_fn *on_result = hl_callback_is_silenced(own.lock, &own.notice) ? NULL : own.on_result;
    result.waited_ms = hl_lease_span_ms(hl_now_us(&core->host) - own.begun_us);
    hl_notice_cancel(core, &call->notice); /* `forget` may keep the object until its request is answered */
    own.lock->refs++;
    own.notice.ops->forget(core, &call->notice);
    if (on_result)
        hl_callback_result(own.lock, on_result, result, own.user);
    hl_lock_unref(own.lock);
}
