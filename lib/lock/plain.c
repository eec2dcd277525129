/* SPDX-License-Identifier: BSD-3-Clause */
/* plain - see plain.h. */
#include "lock/plain.h"

#include "hold/extend.h"
#include "hold/hold.h"
#include "hold/watchdog.h"
#include "lock/acquire.h"
#include "lock/inquiry.h"
#include "lock/machine.h"
#include "lock/turn.h"

static hilock_status acquire(struct hl_core *core, struct hilock_lock *lock, uint32_t wait_ms,
                             hilock_result_fn *on_result, void *user)
{
    uint64_t limit_ms = wait_ms == HILOCK_TRY ? core->limits.command_timeout_ms : wait_ms;
    uint64_t limit_us = wait_ms == HILOCK_FOREVER ? UINT64_MAX : limit_ms * 1000;
    return hl_acquire_begin(core, lock, wait_ms == HILOCK_TRY, limit_us, on_result, user);
}

static int cancel(struct hl_core *core, struct hilock_lock *lock)
{
    (void)core;
    if (!lock->acquire)
        return 0;
    if (lock->acquire->state == ACQUIRE_DECIDED)
        hl_acquire_overrule(lock->acquire, HILOCK_CANCELLED);
    else
        hl_acquire_decide(lock->acquire, HILOCK_CANCELLED);
    return 1;
}

static hilock_status extend(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                            hilock_result_fn *on_result, void *user)
{
    hilock_status status = hl_extend_begin(core, lock, lease_ms, on_result, user);
    if (status == HILOCK_OK && lock->hold->state == HOLD_HELD)
        hl_watchdog_ask(lock->hold);
    return status;
}

static struct hl_look look(const struct hilock_lock *lock)
{
    struct hl_look look = {.state = lock->acquire ? HILOCK_STATE_WAITING : lock->hold ? HILOCK_STATE_HELD
                               : HILOCK_STATE_IDLE};
    if (lock->acquire)
        look.since_us = lock->acquire->begun_us;
    if (look.state != HILOCK_STATE_HELD)
        return look;
    look.since_us = lock->hold->since_us;
    look.ends_us = lock->hold->state == HOLD_HELD ? hl_hold_ends_us(lock->hold) : 0;
    look.count = hl_lock_count(lock);
    look.token = hl_hold_token(lock->hold);
    look.tenure = (lock->hold->id << 8) + lock->hold->turn;
    return look;
}

const struct hl_handle_ops hl_plain_ops =
    {.acquire = acquire, .cancel = cancel, .release = hl_turn_release, .extend = extend,
     .silence = hl_turn_silence, .look = look, .peek = hl_inquiry_peek, .force = hl_inquiry_force,
     .teardown = hl_machine_forget_lock};
