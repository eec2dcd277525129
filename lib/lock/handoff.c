/* SPDX-License-Identifier: BSD-3-Clause */
/* handoff - see handoff.h. */
#include "lock/handoff.h"

#include "base/plant.h"
#include "lock/deliver.h"
#include "lock/extend.h"
#include "lock/gate.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/side.h"
#include "lock/watchdog.h"

unsigned hl_handoff_reserved(const struct hl_hold *hold)
{
    return hold->terms->kind->hands_on && hold->parts_count == 1 ? hl_hold_core(hold)->limits.turns_max - 1 : 0;
}

static int may_go_on(const struct hl_hold *hold, uint64_t now_us)
{
    int is_within = hold->turn < hl_handoff_reserved(hold) && now_us - hold->granted_us < hl_terms_lease_us(hold->terms) / 3;
    return hold->state == HOLD_HELD && (is_within || (HL_PLANTED(HANDOFF_UNBOUNDED) && hold->turn < UINT8_MAX));
}

/* No script shortens a lease, so what may stand at the store must not outlast the next one's own from now: his crash would cost more than
 * he said. */
static int is_short_enough(const struct hl_hold *hold, const struct hl_terms *to, uint64_t now_us)
{
    uint64_t own_us = now_us + hl_terms_lease_us(to) + hl_lease_drift_us(hl_terms_lease_us(to));
    return (to->lease_ms >= hold->terms->lease_ms && hl_extend_reach_us(hold) <= own_us) || HL_PLANTED(HANDOFF_ANY_LEASE);
}

/* What a renewal under way asked for is forgotten with the turn: its answer will be taken for one about the next one's lease. */
static int is_answer_good(const struct hl_hold *hold, const struct hl_terms *to)
{
    return !hl_hold_asking(hold) || hl_extend_lease_ms(hold) == to->lease_ms || HL_PLANTED(HANDOFF_ANSWER_TAKEN);
}

static int fits(const struct hl_hold *hold, const struct hl_terms *to, uint64_t now_us)
{
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(hold), now_us);
    return to->kind == hold->terms->kind && !to->multi && is_short_enough(hold, to, now_us) && is_answer_good(hold, to) &&
           (left_us >= (uint64_t)to->min_validity_ms * 1000 || HL_PLANTED(HANDOFF_BLIND));
}

/* The first in line or nobody: a handle that does not fit is not passed over. */
struct hl_acquire *hl_handoff_next(struct hl_core *core, const struct hl_hold *hold)
{
    uint64_t now_us = hl_now_us(&core->host);
    struct hl_acquire *next = hold->parts_count == 1 && may_go_on(hold, now_us) ? hl_gate_next(hold->parts[0].name) : NULL;
    return next && fits(hold, next->lock->terms, now_us) ? next : NULL;
}

struct hl_hold *hl_handoff(struct hl_core *core, struct hl_hold *hold, struct hl_acquire *next)
{
    struct hl_hold *own = next->hold;
    struct hl_terms *from = hold->terms, *to = own->terms;
    hl_notice_hush(core, &hold->notice);
    if (!HL_PLANTED(HANDOFF_OLD_ALIVE))
        hl_side_free(core, hold);
    hold->terms = to; /* each counts one reference, as before */
    own->terms = from;
    hold->owner.acquire = next;
    own->owner.lock = NULL;
    next->hold = hold;
    next->state = ACQUIRE_GRANTED;
    hold->is_told = 0;
    hold->turn++;
    hold->is_owed = hold->is_owed || ((!to->is_renewed || to->lease_ms > from->lease_ms) && !HL_PLANTED(HANDOFF_LEASE_UNASKED));
    hold->since_us = hl_now_us(&core->host);
    hl_hold_wake_at(own, UINT64_MAX);
    hl_trace(&core->host, HL_HOLD_HANDED_ON, &(struct hl_fact){.name = hold->parts[0].name->bytes, .count = hold->turn, .token = hl_hold_token(hold),
                                                               .waited_us = hold->since_us - hold->granted_us});
    hl_watchdog_begin(hold);
    return own;
}
