/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - see machine.h. The end of a client frees the memory of every wait and hold, without traffic and without
 * callbacks. The handles stay, and are idle. */
#include "lock/machine.h"

#include "hold/ending.h"
#include "hold/life.h"
#include "hold/recheck.h"
#include "hold/seat.h"
#include "hold/validity.h"
#include "hold/watchdog.h"
#include "lock/acquire.h"
#include "lock/grant_channel.h"
#include "lock/inquiry.h"
#include "lock/line.h"
#include "lock/place.h"
#include "lock/reentry.h"
#include "lock/tenure.h"

int hl_machine_init(struct hl_core *core)
{
    hl_table_init(&core->names, &core->host.memory, hl_random_next(&core->host.random),
                  hl_random_next(&core->host.random));
    hl_table_init(&core->locks->grant_channels, &core->host.memory, core->names.seed[0], core->names.seed[1]);
    hl_notices_init(&core->notices, hl_watchdog_sweep);
    core->holds->on_event = hl_acquire_on_hold_event;
    core->holds->reports = &hl_tenure_reports;
    TAILQ_INIT(&core->handles);
    TAILQ_INIT(&core->holds->live);
    TAILQ_INIT(&core->locks->inquiries);
    core->cell = hl_cell_new(&core->host.memory);
    core->locks->shortage_timer = hl_timer_new(&core->host, hl_lines_after_shortage, core);
    if (!core->cell || !core->locks->shortage_timer || hl_life_init(core) != 0 ||
        hl_alarms_init(&core->locks->alarms, &core->host, hl_acquire_on_alarm) != 0 ||
        hl_alarms_init(&core->call_alarms, &core->host, hl_call_on_alarm) != 0 || hl_rechecks_init(core) != 0)
        return -1;
    core->cell->core = core;
    return 0;
}

static void forget_hold(struct hl_hold *hold)
{
    hl_request_forget(&hold->request);
    if (hl_hold_is_held(hold))
        LIST_REMOVE(hold, held.entry);
    else if (hl_hold_is_ending(hold) && hold->ending.caller.lock)
        hl_lock_unref(hold->ending.caller.lock);
    hl_hold_free(hold);
}

void hl_machine_forget_lock(struct hl_core *core, struct hilock_lock *lock)
{
    struct hl_acquire *acquire = lock->acquire;
    struct hl_hold *hold = acquire ? acquire->hold : lock->hold;
    if (acquire && acquire->state != ACQUIRE_DECIDED)
        hl_line_remove_quietly(acquire);
    if (acquire)
        hl_acquire_free(core, acquire);
    if (hold) {
        lock->hold = NULL;
        if (hl_hold_leave(hold, lock))
            forget_hold(hold);
    }
    hl_validity_end(lock);
    hl_watchdog_forget_extends(core, lock);
    hl_reentry_end(core, lock);
}

void hl_machine_clear(struct hl_core *core)
{
    struct hilock_lock *lock, *next;
    for (lock = TAILQ_FIRST(&core->handles); lock; lock = next) {
        next = TAILQ_NEXT(lock, entry);
        lock->ops->teardown(core, lock);
    }
    hl_notices_forget(core);
    while (!TAILQ_EMPTY(&core->holds->live))
        forget_hold(TAILQ_FIRST(&core->holds->live));
    hl_inquiries_clear(core);
    hl_rechecks_clear(core);
    hl_endings_forget(core);
    hl_grant_channels_done(core);
    while (core->names.first) /* the handles keep their names */
        hl_table_remove(&core->names, core->names.first);
    core->waiting = core->held = 0;
}

void hl_machine_done(struct hl_core *core)
{
    hl_timer_free(&core->host, core->locks->shortage_timer);
    hl_alarms_done(&core->holds->alarms);
    hl_alarms_done(&core->locks->alarms);
    hl_alarms_done(&core->call_alarms);
    hl_alarms_done(&core->holds->recheck_alarms);
    if (!core->cell)
        return;
    hl_cell_retire(core->cell);
    hl_cell_unref(core->cell);
}

static int cancel(struct hl_core *core, struct hilock_lock *lock)
{
    (void)core;
    if (lock->acquire)
        hl_acquire_decide(lock->acquire, HILOCK_CANCELLED);
    return lock->acquire != NULL;
}

static void silence(struct hl_core *core, struct hilock_lock *lock)
{
    lock->epoch++;
    if (lock->acquire)
        hl_acquire_drop(lock->acquire);
    (void)hl_tenure_release(core, lock, NULL, NULL);
}

static struct hl_snapshot snapshot(const struct hilock_lock *lock)
{
    const struct hl_hold *hold = lock->hold;
    if (lock->acquire)
        return (struct hl_snapshot){.state = HILOCK_STATE_WAITING, .since_us = lock->acquire->begun_us};
    if (!hold)
        return (struct hl_snapshot){.state = HILOCK_STATE_IDLE};
    return (struct hl_snapshot){.state = HILOCK_STATE_HELD, .since_us = hl_seat_since_us(hold, lock),
                                .count = hl_lock_count(lock),
                                .ends_us = hl_hold_is_held(hold) ? hl_hold_ends_at_us(hold, lock) : 0,
                                .token = hl_hold_token(hold), .tenure = (hold->id << 8) + hold->served};
}

const struct hl_handle_ops hl_machine_ops =
    {.acquire = hl_acquire_begin, .cancel = cancel, .release = hl_tenure_release, .extend = hl_watchdog_extend,
     .downgrade = hl_watchdog_downgrade, .silence = silence, .snapshot = snapshot, .inquire = hl_inquiry_begin,
     .list = hl_inquiry_begin_list, .teardown = hl_machine_forget_lock};
