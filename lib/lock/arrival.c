/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival - an acquire begins, and gets its hold when its turn to ask comes. Who is served by a hand-off never needs one. */
#include "lock/arrival.h"

#include "lock/acquire.h"
#include "lock/fair.h"
#include "lock/gate.h"
#include "lock/hold.h"
#include "lock/known.h"
#include "lock/multi.h"
#include "lock/shortage.h"
#include "lock/wait.h"

void hl_arrival_on_alarm(struct hl_alarm *alarm)
{
    hl_acquire_tick((struct hl_acquire *)(void *)((char *)alarm - offsetof(struct hl_acquire, alarm)));
}

/* 0: no memory. */
static int take_hold(struct hl_core *core, struct hl_acquire *acquire)
{
    acquire->hold = hl_hold_new(core, acquire->lock);
    if (!acquire->hold)
        return 0;
    acquire->hold->owner.acquire = acquire;
    hl_wait_resume_at(acquire, UINT64_MAX);
    hl_wait_stop(acquire);
    return 1;
}

/* Who is likely to ask soon has its hold from the begin, so that a lack of memory refuses the call; the others are many. */
static int asks_soon(const struct hl_acquire *acquire)
{
    return acquire->is_try || acquire->lock->terms->kind->has_queue || !hl_gate_waiting(hl_wait_name(acquire));
}

int hl_arrival_may_ask(struct hl_core *core, struct hl_acquire *acquire)
{
    int has_hold = acquire->hold || take_hold(core, acquire);
    if (!has_hold)
        hl_shortage_begin(core);
    acquire->is_starved = !has_hold;
    return has_hold;
}

/* is_denied: it will not ask. */
static struct hl_acquire *acquire_new(struct hl_core *core, struct hilock_lock *lock, uint32_t wait_ms, int is_denied)
{
    struct hl_acquire *acquire = hl_memory_new(&core->host.memory, hl_fair_size(lock->terms));
    uint32_t limit_ms = wait_ms == HILOCK_TRY ? core->limits.command_timeout_ms : wait_ms;
    if (!acquire)
        return NULL;
    acquire->notice.ops = core->acquire_notice;
    acquire->notice.epoch = lock->epoch;
    acquire->lock = lock;
    acquire->is_try = wait_ms == HILOCK_TRY;
    acquire->begun_us = hl_now_us(&core->host);
    acquire->ends_us = wait_ms == HILOCK_FOREVER ? UINT64_MAX : acquire->begun_us + (uint64_t)limit_ms * 1000;
    acquire->report_us = UINT64_MAX;
    if (is_denied || (asks_soon(acquire) ? take_hold(core, acquire) : hl_wait_take_alarm(core, acquire)))
        return acquire;
    hl_memory_free(&core->host.memory, acquire);
    return NULL;
}

static void undo_new(struct hl_core *core, struct hl_acquire *acquire)
{
    if (acquire->hold)
        hl_hold_free(acquire->hold);
    hl_acquire_free(core, acquire);
}

hilock_status hl_arrival_begin(struct hl_core *core, struct hilock_lock *lock, uint32_t wait_ms, hilock_result_fn *on_result, void *user)
{
    int held_at = lock->terms->kind->has_queue ? -1 : hl_multi_held_at(lock), is_denied = wait_ms == HILOCK_TRY && held_at >= 0;
    struct hl_acquire *acquire = acquire_new(core, lock, wait_ms, is_denied);
    if (!acquire)
        return HILOCK_NO_MEMORY;
    acquire->on_result = on_result;
    acquire->user = user;
    if (!is_denied && hl_gate_join(core, acquire) != HILOCK_OK) {
        undo_new(core, acquire);
        return HILOCK_NO_MEMORY;
    }
    lock->acquire = acquire;
    core->waiting++;
    hl_trace(&core->host, HL_ACQUIRE_BEGUN, &(struct hl_fact){.name = lock->name->bytes});
    if (is_denied) {
        acquire->at = (uint8_t)held_at;
        hl_acquire_decide(acquire, HILOCK_TIMED_OUT);
    } else if (hl_known_is_held(lock->name))
        hl_gate_tell_waiting(core, lock->name);
    return HILOCK_OK;
}

