/* SPDX-License-Identifier: BSD-3-Clause */
/* joining - see joining.h. */
#include "lock/joining.h"

#include "hold/seat.h"

void hl_joining_open(struct hl_acquire *acquire)
{
    struct hl_hold *hold = acquire->hold;
    int is_pushed = hold->window_ms != 0;
    if (!is_pushed)
        hold->held.open_until_us = hold->request.sent_us + (uint64_t)acquire->lock->terms->share_local_ms * 1000;
}

/* Returns 1 if a hold of the first terms is as good for a handle of the second ones. What is reported to whom, and how
 * much validity a grant needs, may differ. */
static int are_alike(const struct hl_terms *of, const struct hl_terms *to)
{
    return of->kind == to->kind && of->holders_max == to->holders_max && of->share_local_ms == to->share_local_ms &&
           of->lease_ms == to->lease_ms && of->hold_max_ms == to->hold_max_ms && of->is_renewed == to->is_renewed &&
           of->replicas == to->replicas;
}

/* Returns 1 if a handle of these terms may join. */
static int is_open(const struct hl_hold *hold, const struct hl_terms *terms)
{
    uint64_t now_us = hl_hold_now_us(hold);
    return now_us < hold->held.open_until_us && !hl_hold_needs_verification(hold) && are_alike(hold->terms, terms) &&
           hl_hold_lasts_for(hold, terms, now_us);
}

int hl_joining_begin(struct hl_acquire *acquire)
{
    struct hilock_lock *lock = acquire->lock;
    struct hl_core *core = lock->terms->cell->core;
    struct hl_hold *hold = hl_hold_of(lock->name);
    if (!lock->terms->share_local_ms || !hold || !is_open(hold, lock->terms) || hl_seat_take(hold, lock) != 0)
        return 0;
    acquire->hold = hold;
    hl_acquire_enter(acquire, ACQUIRE_GRANTED);
    hl_notice_post(core, &acquire->notice, REPORT_RESULT);
    return 1;
}
