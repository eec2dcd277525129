/* SPDX-License-Identifier: BSD-3-Clause */
/* handoff - see handoff.h. */
#include "lock/handoff.h"

#include "base/plant.h"
#include "core/callback.h"
#include "core/lease.h"
#include "core/lock.h"
#include "hold/extend.h"
#include "hold/hold.h"
#include "hold/messages.h"
#include "hold/watchdog.h"
#include "wait/gate.h"
#include "wait/grants.h"

/* Beside programs that get a turn only when the name is freed, each handle frees it. */
static unsigned turns_max(const struct hl_hold *hold)
{
    return hl_gate_has_others(hold->name) ? 0 : hl_hold_reserved(hold);
}

static int may_go_on(const struct hl_hold *hold, uint64_t now_us)
{
    int is_within = hold->turn < turns_max(hold) && now_us - hold->granted_us < hl_terms_lease_us(hold->terms) / 3;
    if (HL_PLANTED(HANDOFF_UNBOUNDED))
        is_within = hold->turn < UINT8_MAX;
    return hold->state == HOLD_HELD && is_within;
}

/* No script shortens a lease: after a crash others would wait for longer than the next one's user chose. And to ask for
 * another lease would cost a command; so does a release, which asks for the next handle, too. */
static int has_lease_of(const struct hl_hold *hold, const struct hl_terms *to, uint64_t now_us)
{
    uint64_t own_us = now_us + hl_terms_lease_us(to) + hl_lease_drift_us(hl_terms_lease_us(to));
    int is_same = to->lease_ms == hold->terms->lease_ms && hold->reach_us <= own_us;
    return is_same || HL_PLANTED(HANDOFF_ANY_LEASE);
}

/* A fixed lease must be whole. No replica confirms renewals: a hold has the replicas that confirmed its grant. */
static int is_good_for(const struct hl_hold *hold, const struct hl_terms *to, uint64_t now_us)
{
    int is_confirmed = to->replicas <= hold->terms->replicas || HL_PLANTED(REPLICAS_HANDED_ON);
    int is_renewed = to->is_renewed || HL_PLANTED(HANDOFF_FIXED);
    return to->kind == hold->terms->kind && is_confirmed && is_renewed && has_lease_of(hold, to, now_us);
}

static int is_enough(const struct hl_hold *hold, const struct hl_terms *to, uint64_t now_us)
{
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(hold), now_us);
    return left_us >= hl_hold_least_us(hold, to) || HL_PLANTED(HANDOFF_BLIND);
}

/* A server that took over, or takes over while this one is away, may not know this hold, and grant the name. The
 * present turn learns that when the hold is verified; until then no new turn begins. */
static int is_vouched_for(struct hl_core *core, const struct hl_hold *hold)
{
    const struct hl_name *name = hold->name;
    const struct hl_node *node = hl_name_node(core, name);
    if (!core->route->ops->can_forget || HL_PLANTED(HANDOFF_ADRIFT))
        return 1;
    return node->is_up && node->moved_us < hold->granted_us;
}

/* Only the first in line: a handle that does not fit is not passed over. */
struct hl_acquire *hl_handoff_next(struct hl_core *core, const struct hl_hold *hold)
{
    struct hl_acquire *next = hl_gate_next(hold->name);
    uint64_t now_us = next ? hl_now_us(&core->host) : 0;
    if (!next || !may_go_on(hold, now_us) || !is_vouched_for(core, hold))
        return NULL;
    return is_good_for(hold, next->lock->terms, now_us) && is_enough(hold, next->lock->terms, now_us) ? next : NULL;
}

/* The next one drops its own unused hold. Reports for its former holder are not made. */
static void take_over(struct hl_core *core, struct hl_hold *hold, struct hl_acquire *next)
{
    struct hl_terms *from = hold->terms;
    hl_notice_cancel(core, &hold->notice);
    hold->terms = next->lock->terms;
    hold->terms->refs++;
    hl_terms_unref(from);
    if (next->place)
        hl_grants_leave(next->place);
    if (next->hold)
        hl_hold_free(next->hold);
    hold->lock = next->lock;
    next->hold = hold;
    next->state = ACQUIRE_GRANTED;
}

void hl_handoff(struct hl_core *core, struct hl_hold *hold, struct hl_acquire *next)
{
    take_over(core, hold, next);
    hold->turn++;
    hold->since_us = hl_now_us(&core->host);
    hl_trace(&core->host, HL_HOLD_HANDED_ON,
             &(struct hl_fact){.lock = next->lock, .name = hold->name->bytes, .count = hold->turn,
                               .token = hl_hold_token(hold), .waited_us = hold->since_us - hold->granted_us});
    hl_watchdog_go_on(hold);
    hl_notice_post(core, &next->notice, REPORT_RESULT);
}

static void report_receipt(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_call *receipt = (struct hl_call *)(void *)notice;
    struct hl_text detail;
    hl_message_of_handing_on(receipt->lock->name, &detail);
    hl_callback_answer(core, receipt,
                   (struct hilock_result){.status = HILOCK_OK, .operation = HILOCK_OP_RELEASE,
                                          .detail = detail.bytes});
}

static void forget_receipt(struct hl_core *core, struct hl_notice *notice)
{
    hl_callback_free(core, (struct hl_call *)(void *)notice);
}

struct hl_call *hl_handoff_receipt(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result,
                                   void *user)
{
    static const struct hl_notice_ops ops = {report_receipt, forget_receipt};
    return hl_callback_new(core, sizeof(struct hl_call), &ops, NULL, lock, on_result, user);
}
