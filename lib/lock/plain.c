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
    struct hl_acquire *acquire = lock->acquire;
    if (!acquire)
        return 0;
    if (acquire->state != ACQUIRE_DECIDED)
        hl_acquire_decide(acquire, HILOCK_CANCELLED);
    else { /* not reported yet: this is its answer now */
        hl_memory_free(&core->host.memory, acquire->words);
        acquire->words = NULL;
        acquire->status = HILOCK_CANCELLED;
    }
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

static void silence(struct hl_core *core, struct hilock_lock *lock)
{
    lock->epoch++;
    if (lock->acquire)
        hl_acquire_drop(lock->acquire);
    if (lock->hold)
        hl_turn_release(core, lock, NULL, NULL);
}

static struct hl_look look(const struct hilock_lock *lock)
{
    const struct hl_hold *hold = lock->hold;
    if (lock->acquire)
        return (struct hl_look){.state = HILOCK_STATE_WAITING, .since_us = lock->acquire->begun_us};
    if (!hold)
        return (struct hl_look){.state = HILOCK_STATE_IDLE};
    return (struct hl_look){.state = HILOCK_STATE_HELD, .since_us = hold->since_us, .count = hl_lock_count(lock),
                            .ends_us = hold->state == HOLD_HELD ? hl_hold_ends_us(hold) : 0,
                            .token = hl_hold_token(hold), .tenure = (hold->id << 8) + hold->turn};
}

const struct hl_handle_ops hl_plain_ops =
    {.acquire = acquire, .cancel = cancel, .release = hl_turn_release, .extend = extend,
     .silence = silence, .look = look, .peek = hl_inquiry_peek, .force = hl_inquiry_force,
     .teardown = hl_machine_forget_lock};
