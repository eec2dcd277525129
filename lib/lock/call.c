/* SPDX-License-Identifier: BSD-3-Clause */
/* call - see call.h. */
#include "lock/call.h"

#include "lock/callback.h"
#include "lock/lease.h"
#include "lock/lock.h"

void *hl_call_new(struct hl_core *core, size_t size, const struct hl_notice_ops *ops, struct hilock_lock *lock,
                  hilock_result_fn *on_result, void *user)
{
    struct hl_call *call = hl_memory_new(&core->host.memory, size);
    if (!call)
        return NULL;
    *call =
        (struct hl_call){.notice = {.ops = ops, .epoch = lock->epoch}, .lock = lock, .on_result = on_result,
                         .user = user, .begun_us = hl_now_us(&core->host)};
    lock->refs++;
    return call;
}

void hl_call_free(struct hl_core *core, struct hl_call *call)
{
    struct hilock_lock *lock = call->lock;
    hl_notice_cancel(core, &call->notice);
    hl_memory_free(&core->host.memory, call);
    hl_lock_unref(lock);
}

void hl_call_answer(struct hl_core *core, struct hl_call *call, struct hilock_result result)
{
    const struct hl_call own = *call;
    hilock_result_fn *on_result = hl_callback_is_off(own.lock, &own.notice) ? NULL : own.on_result;
    result.waited_ms = hl_lease_span_ms(hl_now_us(&core->host) - own.begun_us);
    hl_notice_cancel(core, &call->notice);
    own.lock->refs++;
    own.notice.ops->forget(core, &call->notice);
    if (on_result)
        hl_callback_result(own.lock, on_result, result, own.user);
    hl_lock_unref(own.lock);
}
