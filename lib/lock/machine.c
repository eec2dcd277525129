/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - the begin and the end of a client's locks, and the tables of calls up. The end frees the memory of every
 * wait and hold, without traffic or callbacks. Handles stay, idle. */
#include "lock/machine.h"

#include "core/callback.h"
#include "hold/asking.h"
#include "hold/ending.h"
#include "hold/extend.h"
#include "hold/hold.h"
#include "hold/validity.h"
#include "hold/watchdog.h"
#include "lock/acquire.h"
#include "lock/inquiry.h"
#include "lock/reentry.h"
#include "lock/turn.h"
#include "wait/gate.h"
#include "wait/grants.h"
#include "wait/place.h"

/* ---- the begin ---- */

static const struct hl_owner_ops owner_ops =
    {.notice = &hl_turn_reports, .asks = hl_place_say, .answered = hl_acquire_answered, .crossed = hl_place_crossed,
     .next = hl_place_next, .next_asked = hl_place_next_asked, .next_answered = hl_place_next_answered,
     .regain = hl_acquire_regain, .resume = hl_acquire_resume, .freed = hl_gate_released};

static const struct hl_waiter_ops waiter_ops =
    {.may_ask = hl_acquire_may_ask, .ask = hl_acquire_ask, .decide = hl_acquire_decide,
     .tell_waiting = hl_acquire_tell_waiting, .pushed = hl_place_pushed};

int hl_machine_init(struct hl_core *core)
{
    hl_table_init(&core->names, &core->host.memory, hl_random_next(&core->host.random),
                  hl_random_next(&core->host.random));
    hl_table_init(&core->slot_grants, &core->host.memory, core->names.seed[0], core->names.seed[1]);
    hl_notices_init(&core->notices, hl_watchdog_sweep);
    core->owner = &owner_ops;
    core->waiters = &waiter_ops;
    TAILQ_INIT(&core->handles);
    TAILQ_INIT(&core->live);
    TAILQ_INIT(&core->inquiries);
    core->earliest_us = UINT64_MAX;
    core->cell = hl_cell_new(&core->host.memory);
    core->shortage_timer = hl_timer_new(&core->host, hl_gates_on_shortage, core);
    if (!core->cell || !core->shortage_timer || hl_asking_init(core) != 0 ||
        hl_alarms_init(&core->wait_alarms, &core->host, hl_acquire_on_alarm) != 0 ||
        hl_alarms_init(&core->call_alarms, &core->host, hl_callback_on_alarm) != 0)
        return -1;
    core->cell->core = core;
    return 0;
}

/* ---- the end ---- */

static void forget_hold(struct hl_hold *hold)
{
    hold->request.place = REQUEST_IDLE;
    if (hold->name->hold == hold)
        hold->name->hold = NULL;
    if (hl_hold_is_told(hold))
        hold->lock->hold = NULL;
    else if (hold->state == HOLD_ENDING && hold->lock)
        hl_lock_unref(hold->lock);
    hl_hold_free(hold);
}

void hl_machine_forget_lock(struct hl_core *core, struct hilock_lock *lock)
{
    struct hl_acquire *acquire = lock->acquire;
    struct hl_hold *hold = acquire ? acquire->hold : lock->hold;
    if (acquire && acquire->state != ACQUIRE_DECIDED)
        hl_gate_forget(acquire);
    if (acquire)
        hl_acquire_free(core, acquire);
    if (hold)
        forget_hold(hold);
    hl_validity_end(lock);
    hl_extends_forget(core, lock);
    hl_reentry_forget(core, lock);
}

void hl_machine_clear(struct hl_core *core)
{
    struct hilock_lock *lock, *next;
    for (lock = TAILQ_FIRST(&core->handles); lock; lock = next) {
        next = TAILQ_NEXT(lock, entry);
        lock->ops->teardown(core, lock);
    }
    hl_notices_forget(core);
    while (!TAILQ_EMPTY(&core->live))
        forget_hold(TAILQ_FIRST(&core->live));
    hl_inquiries_clear(core);
    hl_endings_forget(core);
    hl_grants_done(core);
    hl_names_detach(core);
    core->waiting = core->held = 0;
}

void hl_machine_done(struct hl_core *core)
{
    hl_timer_free(&core->host, core->shortage_timer);
    hl_alarms_done(&core->hold_alarms);
    hl_alarms_done(&core->wait_alarms);
    hl_alarms_done(&core->call_alarms);
    if (!core->cell)
        return;
    core->cell->core = NULL;
    hl_cell_unref(core->cell);
}
