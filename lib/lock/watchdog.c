/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog - see watchdog.h. What the alarm means next is read from the hold: due_us is the next renewal or retry, unless the end of belief
 * or of hold_max comes first. */
#include "lock/watchdog.h"

#include "base/plant.h"
#include "lock/acquire.h"
#include "lock/notice.h"
#include "lock/ending.h"
#include "lock/extend.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/renewal.h"
#include "lock/side.h"
#include "lock/walk.h"
#include "lock/words.h"

static const uint64_t stall_us = 1000000; /* later than this, the loop stood still */

uint64_t hl_watchdog_stood_us(const struct hl_hold *hold)
{
    uint64_t window_us = (uint64_t)HL_FAIR_WINDOW_MS * 1000;
    return hold->is_windowed && window_us < hl_terms_lease_us(hold->terms) ? window_us : hl_terms_lease_us(hold->terms);
}

void hl_watchdog_sleep_until(struct hl_hold *hold, uint64_t next_us)
{
    uint64_t ends_us = hl_hold_ends_us(hold);
    hl_hold_wake_at(hold, hl_extend_wake_us(hold, ends_us < next_us ? ends_us : next_us));
}

static int was_sent_since(const struct hl_part *part, uint64_t since_us) { return part->state == PART_OURS && part->request.sent_us >= since_us; }

/* Since when all that is needed has been asked. Those that are away do not count: they are asked when they are back. */
static uint64_t round_sent_us(const struct hl_hold *hold)
{
    uint64_t best = 0;
    for (unsigned i = 0; i < hold->parts_count; i++) {
        uint64_t sent_us = hold->parts[i].request.sent_us;
        unsigned since = 0;
        for (unsigned j = 0; sent_us > best && j < hold->parts_count; j++)
            since += was_sent_since(&hold->parts[j], sent_us) != 0;
        if (since >= hold->needed)
            best = sent_us;
    }
    return best;
}

/* A pushed grant has no send of its own to count from: two thirds of its window before the end. */
static uint64_t renewal_us(const struct hl_hold *hold)
{
    if (hold->is_windowed)
        return hl_left_us(hl_hold_deadline_us(hold), hl_watchdog_stood_us(hold) / 3 * 2);
    return hl_lease_renewal_us(round_sent_us(hold), hl_terms_lease_us(hold->terms));
}

static uint64_t regular_us(const struct hl_hold *hold) { return hold->terms->is_renewed || hold->is_owed ? renewal_us(hold) : UINT64_MAX; }

void hl_watchdog_sleep(struct hl_hold *hold) { hl_watchdog_sleep_until(hold, regular_us(hold)); }

/* A fixed lease is to end for all names of a multi at the same time. What was asked for later than the first is in the store for longer:
 * all are asked for once more, which shortens nothing. */
static int is_uneven(const struct hl_hold *hold)
{
    for (unsigned i = 1; hold->terms->multi && !hold->terms->is_renewed && i < hold->parts_count; i++)
        if (hold->parts[i].request.sent_us != hold->parts[0].request.sent_us)
            return 1;
    return 0;
}

/* A turn whose own lease is still to be asked for asks at once. */
void hl_watchdog_begin(struct hl_hold *hold)
{
    hold->failures = 0;
    if ((hold->is_owed && !hl_renewal_is_open(hold)) || (is_uneven(hold) && !HL_PLANTED(MULTI_UNEVEN)))
        hl_renewal_begin(hold, hl_now_us(&hl_hold_core(hold)->host));
    else
        hl_watchdog_sleep(hold);
}

uint64_t hl_watchdog_early_us(const struct hl_hold *hold)
{
    uint64_t next_us = hold->side ? hold->side->next_us : hold->due_us;
    return next_us && next_us < regular_us(hold) && next_us < hl_hold_ends_us(hold) ? next_us : UINT64_MAX;
}

/* What was to be asked soon (the link is back, or a renewal had failed) is about the hold, not about who has it. */
void hl_watchdog_go_on(struct hl_hold *hold, uint64_t early_us)
{
    hl_watchdog_begin(hold);
    if (early_us != UINT64_MAX && !hl_renewal_is_open(hold) && !HL_PLANTED(HANDOFF_UNVERIFIED))
        hl_watchdog_sleep_until(hold, early_us);
}

void hl_watchdog_lose(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason)
{
    struct hl_text detail;
    hold->reason = (uint8_t)reason;
    hl_words_of_loss(core, hold, &detail);
    hl_trace(&core->host, HL_HOLD_LOST, &(struct hl_fact){.name = hold->parts[0].name->bytes, .reason = reason, .detail = detail.bytes,
                                                          .token = hl_hold_token(hold), .waited_us = hl_now_us(&core->host) - hold->since_us});
    hl_notice_cancel(core, &hold->notice); /* what is still to be reported of its renewals would keep it */
    if (!HL_PLANTED(LOSS_UNTOLD))
        hl_notice_post_loss(core, &hold->notice, REPORT_LOST);
    hl_ending_begin(hold);
}

void hl_watchdog_end(struct hl_hold *hold, hilock_lost_reason reason)
{
    struct hl_core *core = hl_hold_core(hold);
    if (hold->is_told)
        hl_watchdog_lose(core, hold, reason);
    else
        hl_acquire_regain(hold->owner.acquire); /* lost before anybody was told that it was had */
}

/* EXPIRED if the watchdog had its turns and no renewal got through; SUSPENDED if what it was to do well before the deadline was still to be
 * done (a little late every loop is), or the loop was away for long at the deadline itself. */
static hilock_lost_reason expiry_reason(const struct hl_hold *hold, uint64_t now_us)
{
    uint64_t deadline_us = hl_hold_deadline_us(hold);
    int missed_its_turn = hold->due_us && hold->due_us < deadline_us && now_us - hold->due_us > hl_watchdog_stood_us(hold) / 6 && hold->terms->is_renewed;
    return missed_its_turn || now_us - deadline_us > stall_us ? HILOCK_LOST_SUSPENDED : HILOCK_LOST_EXPIRED;
}

static int has_ended(struct hl_hold *hold, uint64_t now_us)
{
    if (hl_hold_deadline_us(hold) <= now_us && !HL_PLANTED(EXPIRY_IGNORED))
        hl_watchdog_end(hold, expiry_reason(hold, now_us));
    else if (hl_hold_max_ends_us(hold) <= now_us)
        hl_watchdog_end(hold, HILOCK_LOST_HOLD_MAX);
    else
        return 0;
    return 1;
}

int hl_watchdog_has_ended(struct hl_hold *hold) { return has_ended(hold, hl_now_us(&hl_hold_core(hold)->host)); }

static int is_doubted(const struct hl_hold *hold) { return hold->side && hold->side->is_doubted; }

void hl_watchdog_tick(struct hl_hold *hold)
{
    uint64_t now_us = hl_now_us(&hl_hold_core(hold)->host);
    if (has_ended(hold, now_us))
        return;
    else if (hl_extend_tick(hold, now_us))
        hl_watchdog_sleep_until(hold, hold->side->next_us);
    else if (hl_renewal_is_open(hold))
        hl_renewal_give_up(hold);
    else if (hold->terms->is_renewed || hold->is_owed || hl_extend_is_pending(hold) || is_doubted(hold))
        hl_renewal_begin(hold, now_us);
    else
        hl_watchdog_sleep(hold);
}

void hl_watchdog_taken(struct hl_hold *hold) { hl_watchdog_end(hold, HILOCK_LOST_TAKEN); }

void hl_watchdog_ask(struct hl_hold *hold)
{
    if (hl_renewal_is_open(hold))
        hl_watchdog_sleep_until(hold, hold->side->next_us);
    else
        hl_renewal_begin(hold, hl_now_us(&hl_hold_core(hold)->host));
}

/* Without memory for that it is believed in until its deadline. */
static void doubt(struct hl_hold *hold)
{
    struct hl_side *side = hl_side_of(hl_hold_core(hold), hold);
    if (side)
        side->is_doubted = 1;
}

void hl_watchdog_verify(struct hl_hold *hold, uint64_t within_us)
{
    struct hl_host *host = &hl_hold_core(hold)->host;
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(hold), hl_now_us(host)) / 4;
    if (!hold->terms->is_renewed && hold->is_told && !HL_PLANTED(FIXED_UNVERIFIED))
        doubt(hold);
    if (!hl_renewal_is_open(hold) && (hold->terms->is_renewed || is_doubted(hold)))
        hl_watchdog_sleep_until(hold, hl_now_us(host) + hl_random_below(&host->random, within_us < left_us ? within_us : left_us));
}

struct ends { const struct hl_node *node; uint64_t first_us; };

static void find_end(struct hl_hold *hold, void *arg)
{
    struct ends *ends = arg;
    uint64_t deadline_us = hl_hold_deadline_us(hold);
    if (hold->terms->is_renewed && deadline_us < ends->first_us && (!ends->node || hl_hold_is_at(hold, ends->node)))
        ends->first_us = deadline_us;
}

uint64_t hl_watchdog_left_us(struct hl_core *core, const struct hl_node *node)
{
    struct ends ends = {node, UINT64_MAX};
    hl_walk_held(core, find_end, &ends);
    return ends.first_us == UINT64_MAX ? UINT64_MAX : hl_left_us(ends.first_us, hl_now_us(&core->host));
}

static void sweep(struct hl_hold *hold, void *arg)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t ends_us = HL_PLANTED(HOLD_MAX_UNSWEPT) ? hl_hold_deadline_us(hold) : hl_hold_ends_us(hold), now_us = *(const uint64_t *)arg;
    if (ends_us <= now_us)
        has_ended(hold, now_us);
    else if (ends_us < core->earliest_us)
        core->earliest_us = ends_us;
}

/* Runs before every delivery, and looks only when something may have ended: earliest_us is never later than the first end (hold_max is not
 * below a lease). */
void hl_watchdog_sweep(struct hl_core *core)
{
    uint64_t now_us = hl_now_us(&core->host);
    if (now_us < core->earliest_us || HL_PLANTED(R6_NO_SWEEP))
        return;
    core->earliest_us = UINT64_MAX;
    hl_walk_held(core, sweep, &now_us);
}
