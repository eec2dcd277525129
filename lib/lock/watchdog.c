/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog - see watchdog.h. The hold says what the alarm means next: due_us is the next renewal or retry, unless the
 * end of belief or of hold_max comes first. */
#include "lock/watchdog.h"

#include "base/plant.h"
#include "lock/belief.h"
#include "lock/extend.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/renewal.h"

/* A turn asks at once for a lease of its own that it has not asked for yet. */
static void begin(struct hl_hold *hold)
{
    hold->failures = 0;
    if (hold->is_owed && !hl_renewal_is_open(hold))
        hl_renewal_begin(hold, hl_now_us(&hl_hold_core(hold)->host));
    else
        hl_renewal_sleep(hold);
}

void hl_watchdog_keep(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t deadline_us = hl_hold_deadline_us(hold);
    hold->state = HOLD_HELD;
    hold->since_us = hold->granted_us = hl_now_us(&core->host);
    hold->turn = 0;
    hold->is_owed = 0;
    hold->name->hold = hold;
    if (deadline_us < core->earliest_us)
        core->earliest_us = deadline_us;
    begin(hold);
}

uint64_t hl_watchdog_early_us(const struct hl_hold *hold)
{
    uint64_t next_us = hold->side ? hold->side->next_us : hold->due_us;
    return next_us && next_us < hl_renewal_due_us(hold) && next_us < hl_hold_ends_us(hold) ? next_us : UINT64_MAX;
}

/* A request that was due soon (the link is back, or a renewal failed) stays due when another handle gets the hold. */
void hl_watchdog_go_on(struct hl_hold *hold, uint64_t early_us)
{
    begin(hold);
    if (early_us != UINT64_MAX && !hl_renewal_is_open(hold) && !HL_PLANTED(HANDOFF_UNVERIFIED))
        hl_belief_sleep_until(hold, early_us);
}

static int is_doubted(const struct hl_hold *hold) { return hold->side && hold->side->is_doubted; }

void hl_watchdog_tick(struct hl_hold *hold)
{
    uint64_t now_us = hl_now_us(&hl_hold_core(hold)->host);
    if (hl_belief_has_ended(hold))
        return;
    if (hl_extend_tick(hold, now_us))
        hl_belief_sleep_until(hold, hold->side->next_us);
    else if (hl_renewal_is_open(hold))
        hl_renewal_give_up(hold);
    else if (hold->terms->is_renewed || hold->is_owed || hl_extend_is_pending(hold) || is_doubted(hold))
        hl_renewal_begin(hold, now_us);
    else
        hl_renewal_sleep(hold);
}

void hl_watchdog_ask(struct hl_hold *hold)
{
    if (hl_renewal_is_open(hold))
        hl_belief_sleep_until(hold, hold->side->next_us);
    else
        hl_renewal_begin(hold, hl_now_us(&hl_hold_core(hold)->host));
}

/* Without memory for that, belief lasts until the deadline. */
static void doubt(struct hl_hold *hold)
{
    struct hl_side *side = hl_hold_side(hl_hold_core(hold), hold);
    if (side)
        side->is_doubted = 1;
}

void hl_watchdog_verify(struct hl_hold *hold, uint64_t within_us)
{
    struct hl_host *host = &hl_hold_core(hold)->host;
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(hold), hl_now_us(host)) / 4;
    if (!hold->terms->is_renewed && hl_hold_is_told(hold) && !HL_PLANTED(FIXED_UNVERIFIED))
        doubt(hold);
    if (!hl_renewal_is_open(hold) && (hold->terms->is_renewed || is_doubted(hold)))
        hl_belief_sleep_until(hold,
                              hl_now_us(host) +
                              hl_random_below(&host->random, within_us < left_us ? within_us : left_us));
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
    hl_hold_each_held(core, find_end, &ends);
    return ends.first_us == UINT64_MAX ? UINT64_MAX : hl_left_us(ends.first_us, hl_now_us(&core->host));
}
