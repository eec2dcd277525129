/* SPDX-License-Identifier: BSD-3-Clause */
/* owner - see owner.h. */
#include "lock/owner.h"

#include "lock/acquire.h"
#include "lock/gate.h"
#include "lock/next.h"
#include "lock/place.h"
#include "lock/recent.h"
#include "lock/report.h"
#include "lock/wait.h"

void hl_owner_init(struct hl_core *core)
{
    static const struct hl_owner_ops ops =
        {.notice = &hl_report_hold, .asks = hl_place_say, .answered = hl_acquire_answered, .crossed = hl_place_crossed,
         .next = hl_next_of, .next_asked = hl_next_asked, .next_answered = hl_next_answered,
         .regain = hl_acquire_regain, .returned = hl_acquire_returned, .resume_at = hl_wait_resume_at,
         .tick = hl_acquire_tick, .freed = hl_gate_released, .acknowledged = hl_recent_add,
         .may_ask = hl_acquire_may_ask, .ask = hl_acquire_ask, .decide = hl_acquire_decide,
         .tell_waiting = hl_acquire_tell_waiting, .free = hl_acquire_free, .wake = hl_place_wake,
         .pushed = hl_place_pushed};
    core->owner = &ops;
    core->acquire_notice = &hl_report_acquire;
}
