/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival - an acquire begins, and what it has from then on: so little that very many can wait. Who stands in line behind another has no hold,
 * and an alarm only if its wait may end or is reported. When its turn to ask comes it gets its hold, whose alarm has nothing else to do until the
 * grant, and is the wait's until then. Who is served by a hand-off never needs one. */
#include "lock/acquire.h"
#include "lock/fair.h"
#include "lock/gate.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/multi.h"
#include "lock/shortage.h"

static struct hl_core *core_of(const struct hl_acquire *acquire) { return acquire->lock->terms->cell->core; }

/* ---- its time ---- */

/* When it has something to do, but for going on. */
static uint64_t due_us(const struct hl_acquire *acquire)
{
    return acquire->report_us < acquire->ends_us ? acquire->report_us : acquire->ends_us;
}

static void sleep_without_hold(struct hl_acquire *acquire)
{
    struct hl_alarms *alarms = &core_of(acquire)->wait_alarms;
    if (!hl_alarm_has_begun(&acquire->alarm))
        return;
    if (due_us(acquire) == UINT64_MAX)
        hl_alarm_stop(alarms, &acquire->alarm);
    else
        hl_alarm_set(alarms, &acquire->alarm, due_us(acquire));
}

void hl_acquire_resume_at(struct hl_acquire *acquire, uint64_t at_us)
{
    if (acquire->state != ACQUIRE_ASKING && hl_multi_keeps_until_us(acquire) < at_us)
        at_us = hl_multi_keeps_until_us(acquire);
    acquire->hold->resume_us = at_us;
    hl_hold_wake_at(acquire->hold, due_us(acquire) < at_us ? due_us(acquire) : at_us);
}

void hl_acquire_sleep_on(struct hl_acquire *acquire)
{
    if (acquire->hold)
        hl_acquire_resume_at(acquire, acquire->hold->resume_us);
    else
        sleep_without_hold(acquire);
}

void hl_acquire_on_alarm(struct hl_alarm *alarm)
{
    hl_acquire_tick((struct hl_acquire *)(void *)((char *)alarm - offsetof(struct hl_acquire, alarm)));
}

void hl_acquire_stop(struct hl_acquire *acquire)
{
    hl_alarm_end(&core_of(acquire)->wait_alarms, &acquire->alarm);
}

/* ---- its begin ---- */

/* 0: no memory. */
static int take_hold(struct hl_core *core, struct hl_acquire *acquire)
{
    acquire->hold = hl_hold_new(core, acquire->lock);
    if (!acquire->hold)
        return 0;
    acquire->hold->owner.acquire = acquire;
    hl_acquire_resume_at(acquire, UINT64_MAX);
    hl_acquire_stop(acquire);
    return 1;
}

static int take_alarm(struct hl_core *core, struct hl_acquire *acquire)
{
    if (acquire->ends_us == UINT64_MAX && !acquire->lock->terms->wait_report_ms)
        return 1;
    if (hl_alarm_begin(&core->wait_alarms, &acquire->alarm) != 0)
        return 0;
    sleep_without_hold(acquire);
    return 1;
}

/* Who is likely to ask soon has its hold from the begin, so that a lack of memory refuses the call; the others are many. */
static int asks_soon(const struct hl_acquire *acquire)
{
    return acquire->is_try || acquire->lock->terms->kind->has_queue || !hl_gate_waiting(hl_acquire_name(acquire));
}

int hl_acquire_may_ask(struct hl_core *core, struct hl_acquire *acquire)
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
    if (is_denied || (asks_soon(acquire) ? take_hold(core, acquire) : take_alarm(core, acquire)))
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

hilock_status hl_acquire_begin(struct hl_core *core, struct hilock_lock *lock, uint32_t wait_ms, hilock_result_fn *on_result, void *user)
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
    } else if (hl_gate_knows_held(lock->name))
        hl_gate_tell_waiting(core, lock->name);
    return HILOCK_OK;
}

void hl_acquire_taken_over(struct hl_acquire *acquire, struct hl_hold *hold)
{
    acquire->hold = hold;
    acquire->state = ACQUIRE_GRANTED;
    acquire->is_starved = 0;
    hl_acquire_stop(acquire);
}
