/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt - see attempt.h. */
#include "lock/attempt.h"

#include "lock/asking.h"
#include "lock/hold.h"
#include "lock/name.h"

void hl_attempt_counts(struct hl_hold *hold)
{
    if (hold->state != HOLD_ASKING || hold->way == WAY_SECOND)
        return;
    hold->lock->acquire->attempts++;
    hl_trace(&hl_hold_core(hold)->host, HL_ACQUIRE_ASKED,
             &(struct hl_fact){.lock = hl_hold_handle(hold), .name = hold->name->bytes});
}

uint64_t hl_attempt_id(const struct hilock_lock *lock)
{
    return ++*(lock->ids ? lock->ids : &lock->terms->cell->core->id_last);
}

void hl_attempt_begin(struct hl_hold *hold)
{
    if (!hold->id)
        hold->id = hl_attempt_id(hold->lock);
    hold->state = HOLD_ASKING;
    if (hold->kept != KEPT_OURS && !hl_request_is_busy(&hold->request))
        hl_asking_begin(hold, WAY_FIRST);
}
