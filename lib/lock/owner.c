/* SPDX-License-Identifier: BSD-3-Clause */
/* owner - see owner.h. */
#include "lock/owner.h"

#include "lock/acquire.h"
#include "lock/asking.h"
#include "lock/next.h"
#include "lock/place.h"
#include "lock/recent.h"
#include "lock/gate.h"
#include "lock/report.h"
#include "lock/wait.h"

static void asks(struct hl_hold *hold, struct hl_params *params)
{
    hl_asking_counts(hold);
    if (hold->terms->kind->has_queue)
        hl_place_say(hold, params);
}

static void answered(struct hl_hold *hold, const struct hl_acquire_result *asked)
{
    hl_acquire_answered(hold->lock->acquire, asked);
}

static void ended(struct hl_hold *hold) { hl_acquire_regain(hold->lock->acquire); }

static void returned(struct hl_hold *hold) { hl_acquire_returned(hold->lock->acquire); }

static void wake_at(struct hl_hold *hold, uint64_t at_us) { hl_wait_resume_at(hold->lock->acquire, at_us); }

static void tick(struct hl_hold *hold) { hl_acquire_tick(hold->lock->acquire); }

static void wake(struct hl_acquire *acquire, uint64_t within_us) { hl_place_wake(acquire->place, within_us); }

void hl_owner_init(struct hl_core *core)
{
    static const struct hl_owner_ops ops =
        {.notice = &hl_report_hold, .asks = asks, .answered = answered, .crossed = hl_place_crossed,
         .next = hl_next_of, .next_asked = hl_next_asked, .next_answered = hl_next_answered, .ended = ended,
         .returned = returned, .wake_at = wake_at, .tick = tick, .freed = hl_gate_released,
         .acknowledged = hl_recent_add};
    static const struct hl_waiter_ops waiter =
        {.may_ask = hl_acquire_may_ask, .ask = hl_acquire_ask, .answered = hl_acquire_answered,
         .decide = hl_acquire_decide, .tell_waiting = hl_acquire_tell_waiting, .free = hl_acquire_free, .wake = wake,
         .pushed = hl_place_pushed};
    core->owner = &ops;
    core->waiter = &waiter;
    core->acquire_notice = &hl_report_acquire;
}
