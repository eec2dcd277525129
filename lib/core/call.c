/* SPDX-License-Identifier: BSD-3-Clause */
/* call - see call.h. */
#include "core/call.h"

#include "base/container.h"
#include "core/lease.h"

void *hl_call_new(struct hl_core *core, size_t size, const struct hl_notice_ops *ops,
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
        hl_call_free(core, call);
        return NULL;
    }
    hl_alarm_set(&core->call_alarms, &call->alarm, call->begun_us + (uint64_t)core->limits.command_timeout_ms * 1000);
    return call;
}

void hl_call_on_alarm(struct hl_alarm *alarm)
{
    struct hl_call *call = HL_CONTAINER(alarm, struct hl_call, alarm);
    call->expire(hl_lock_core(call->lock), call);
}

void hl_call_decided(struct hl_core *core, struct hl_call *call, int is_loss)
{
    hl_alarm_stop(&core->call_alarms, &call->alarm);
    if (is_loss)
        hl_notice_post_loss(core, &call->notice, 1);
    else
        hl_notice_post(core, &call->notice, 1);
}

void hl_call_free(struct hl_core *core, struct hl_call *call)
{
    struct hilock_lock *lock = call->lock;
    hl_notice_cancel(core, &call->notice);
    hl_alarm_end(&core->call_alarms, &call->alarm);
    hl_memory_free(&core->host.memory, call);
    hl_lock_unref(lock);
}

void hl_call_answer(struct hl_core *core, struct hl_call *call, struct hilock_result result)
{
    const struct hl_call own = *call;
    hilock_result_fn *on_result = hl_notice_is_silenced(own.lock, &own.notice) ? NULL : own.on_result;
    result.waited_ms = hl_lease_span_ms(hl_now_us(&core->host) - own.begun_us);
    hl_notice_cancel(core, &call->notice); /* `forget` may keep the object until its request is answered */
    own.lock->refs++;
    own.notice.ops->forget(core, &call->notice);
    if (on_result)
        hl_notice_give_result(own.lock, on_result, result, own.user);
    hl_lock_unref(own.lock);
}
