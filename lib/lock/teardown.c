/* SPDX-License-Identifier: BSD-3-Clause */
/* teardown - see teardown.h. */
#include "lock/teardown.h"

#include "lock/acquire.h"
#include "lock/extend.h"
#include "lock/gate.h"
#include "lock/grants.h"
#include "lock/hold.h"
#include "lock/inquiry.h"
#include "lock/lock.h"
#include "lock/recent.h"
#include "lock/reentry.h"
#include "lock/validity.h"

static void forget_acquire(struct hl_core *core, struct hl_acquire *acquire)
{
    acquire->lock->acquire = NULL;
    hl_acquire_free(core, acquire);
}

static void empty_side(struct hl_core *core, struct hl_hold *hold)
{
    hl_validity_end(hold);
    if (!hold->side)
        return;
    hl_extends_forget(core, hold->side);
    hl_reentry_forget(core, &hold->side->desk);
}

static void forget_hold(struct hl_hold *hold)
{
    hold->request.place = REQUEST_IDLE;
    if (hold->name->hold == hold)
        hold->name->hold = NULL;
    empty_side(hl_hold_core(hold), hold);
    if (hl_hold_is_told(hold))
        hold->lock->hold = NULL;
    else if (hold->state == HOLD_ENDING && hold->lock)
        hl_lock_unref(hold->lock);
    hl_hold_free(hold);
}

void hl_teardown_lock(struct hl_core *core, struct hilock_lock *lock)
{
    struct hl_acquire *acquire = lock->acquire;
    struct hl_hold *hold = acquire ? acquire->hold : lock->hold;
    if (acquire && acquire->stands)
        hl_gate_forget(acquire);
    if (acquire)
        forget_acquire(core, acquire);
    if (hold)
        forget_hold(hold);
}

void hl_teardown(struct hl_core *core)
{
    hl_gates_clear(core);
    hl_notices_forget(core);
    while (!TAILQ_EMPTY(&core->live))
        forget_hold(TAILQ_FIRST(&core->live));
    hl_inquiries_clear(core);
    hl_recent_free(core);
    hl_grants_done(core);
    core->waiting = core->held = 0;
}
