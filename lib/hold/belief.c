/* SPDX-License-Identifier: BSD-3-Clause */
/* belief - see belief.h. */
#include "hold/belief.h"

#include "base/plant.h"
#include "hold/ending.h"
#include "hold/messages.h"

static const uint64_t stall_us = 1000000; /* later than this, the loop stood still */

uint64_t hl_belief_stood_us(const struct hl_hold *hold)
{
    return hold->is_windowed ? (uint64_t)hl_terms_window_ms(hold->terms) * 1000 : hl_terms_lease_us(hold->terms);
}

void hl_belief_sleep_until(struct hl_hold *hold, uint64_t next_us)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t ends_us = hl_hold_ends_us(hold);
    if (ends_us < core->earliest_us) /* nearer than before, if another program has shortened the lease */
        core->earliest_us = ends_us;
    hl_hold_wake_at(hold, ends_us < next_us ? ends_us : next_us);
}

void hl_belief_lose(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason)
{
    struct hl_text detail;
    uint64_t now_us = hl_now_us(&core->host);
    hold->reason = (uint8_t)reason;
    hl_message_of_loss(core, hold, &detail);
    hl_terms_trace(hold->terms, HL_HOLD_LOST,
                   &(struct hl_fact){.lock = hl_hold_is_told(hold) ? hold->lock : NULL, .name = hold->name->bytes,
                                     .reason = reason, .detail = detail.bytes, .token = hl_hold_token(hold),
                                     .waited_us = now_us - hold->since_us});
    hl_notice_cancel(core, &hold->notice); /* else pending reports about its renewals would keep it */
    if (!HL_PLANTED(LOSS_UNTOLD))
        hl_notice_post_loss(core, &hold->notice, REPORT_LOST);
    hl_ending_begin(hold, now_us);
}

void hl_belief_end(struct hl_hold *hold, hilock_lost_reason reason)
{
    struct hl_core *core = hl_hold_core(hold);
    if (hl_hold_is_told(hold))
        hl_belief_lose(core, hold, reason);
    else
        core->owner->regain(hold->lock->acquire);
}

/* EXPIRED if the watchdog ran in time and no renewal got through. SUSPENDED if work that was due well before the
 * deadline was not done by then (every loop is a little late), or if the loop stood still for long at the deadline
 * itself. */
static hilock_lost_reason expiry_reason(const struct hl_hold *hold, uint64_t now_us)
{
    uint64_t deadline_us = hl_hold_deadline_us(hold);
    int missed_its_turn = hold->due_us && hold->due_us < deadline_us &&
        now_us - hold->due_us > hl_belief_stood_us(hold) / 6 && hold->terms->is_renewed;
    return missed_its_turn || now_us - deadline_us > stall_us ? HILOCK_REASON_SUSPENDED : HILOCK_REASON_EXPIRED;
}

int hl_belief_has_ended(struct hl_hold *hold)
{
    uint64_t now_us = hl_now_us(&hl_hold_core(hold)->host);
    int is_expired = hl_hold_deadline_us(hold) <= now_us;
    int is_ignored = is_expired && HL_PLANTED(EXPIRY_IGNORED);
    if (hl_hold_ends_us(hold) > now_us || is_ignored)
        return 0;
    hl_belief_end(hold, is_expired ? expiry_reason(hold, now_us) : HILOCK_REASON_HOLD_MAX);
    return 1;
}

static void sweep(struct hl_hold *hold, void *now_us)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t ends_us = HL_PLANTED(HOLD_MAX_UNSWEPT) ? hl_hold_deadline_us(hold) : hl_hold_ends_us(hold);
    if (ends_us <= *(const uint64_t *)now_us)
        (void)hl_belief_has_ended(hold);
    else if (ends_us < core->earliest_us)
        core->earliest_us = ends_us;
}

/* Runs before every delivery, and searches only if a hold may have expired: earliest_us is never later than the first
 * end (hold_max is at least a lease). */
uint64_t hl_belief_sweep(struct hl_core *core)
{
    uint64_t now_us = hl_now_us(&core->host);
    if (now_us < core->earliest_us || HL_PLANTED(R6_NO_SWEEP))
        return now_us;
    core->earliest_us = UINT64_MAX;
    hl_hold_each_held(core, sweep, &now_us);
    return now_us;
}
