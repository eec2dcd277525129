/* SPDX-License-Identifier: BSD-3-Clause */
/* extend - see extend.h. */
#include "hold/extend.h"

#include "base/plant.h"
#include "core/lease.h"
#include "core/lock.h"
#include "hold/hold.h"
#include "hold/messages.h"

static void report(struct hl_core *core, struct hl_notice *notice);
static void expire(struct hl_core *core, struct hl_call *call);

static void forget(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_extend *extend = (struct hl_extend *)(void *)notice;
    if (extend->side)
        TAILQ_REMOVE(&extend->side->extends, extend, entry);
    hl_memory_free(&core->host.memory, extend->detail);
    hl_callback_free(core, &extend->call);
}

hilock_status hl_extend_begin(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                              hilock_result_fn *on_result, void *user)
{
    static const struct hl_notice_ops ops = {report, forget};
    struct hl_side *side = hl_hold_side(core, lock->hold);
    struct hl_extend *extend = side ? hl_callback_new(core, sizeof *extend, &ops, expire, lock, on_result, user)
                                   : NULL;
    if (!extend)
        return HILOCK_NO_MEMORY;
    extend->side = side;
    extend->lease_ms = lease_ms;
    TAILQ_INSERT_TAIL(&side->extends, extend, entry);
    return HILOCK_OK;
}

void hl_extends_forget(struct hl_core *core, struct hl_side *side)
{
    while (!TAILQ_EMPTY(&side->extends))
        forget(core, &TAILQ_FIRST(&side->extends)->call.notice);
}

/* ---- rounds ---- */

static struct hl_extend *first_of(const struct hl_hold *hold)
{
    return hold->side ? TAILQ_FIRST(&hold->side->extends) : NULL;
}

/* In milliseconds, one at least. */
static uint32_t left_ms(const struct hl_hold *hold)
{
    uint32_t left = hl_lease_span_ms(hl_left_us(hl_hold_deadline_us(hold), hl_now_us(&hl_hold_core(hold)->host)));
    return left ? left : 1;
}

/* The same request renews a watched hold, so it asks for its own lease at least. To check a hold without renewals it
 * asks for the time that is left, which does not lengthen it. */
void hl_extend_round(struct hl_hold *hold)
{
    uint32_t longest_ms = hold->terms->is_renewed ? hold->terms->lease_ms : 0;
    if (!hold->side)
        return;
    for (struct hl_extend *extend = first_of(hold); extend; extend = TAILQ_NEXT(extend, entry)) {
        extend->is_asked = 1;
        if (!extend->is_decided && extend->lease_ms > longest_ms)
            longest_ms = extend->lease_ms;
    }
    if (!longest_ms && hold->side->is_doubted && !hold->is_owed)
        longest_ms = left_ms(hold);
    hold->side->asked_ms = longest_ms;
}

void hl_extend_sent(struct hl_hold *hold, uint32_t lease_ms)
{
    struct hl_side *side = hold->side;
    uint64_t lease_us = (uint64_t)lease_ms * 1000, reach_us;
    if (!side || !side->asked_ms)
        return;
    reach_us = hl_now_us(&hl_hold_core(hold)->host) + lease_us + hl_lease_drift_us(lease_us);
    if (reach_us > side->reach_us)
        side->reach_us = reach_us;
    for (struct hl_extend *extend = first_of(hold); extend; extend = TAILQ_NEXT(extend, entry))
        extend->attempts += extend->is_asked && !extend->is_decided;
}

int hl_extend_is_pending(const struct hl_hold *hold)
{
    const struct hl_extend *extend = first_of(hold);
    while (extend && extend->is_decided)
        extend = TAILQ_NEXT(extend, entry);
    return extend != NULL;
}

int hl_extend_is_waiting(const struct hl_hold *hold)
{
    const struct hl_extend *extend = first_of(hold);
    while (extend && (extend->is_asked || extend->is_decided))
        extend = TAILQ_NEXT(extend, entry);
    return extend != NULL;
}

/* ---- answers ---- */

static void decide(struct hl_core *core, struct hl_extend *extend, hilock_status status, const char *why, int is_loss)
{
    extend->is_decided = 1;
    extend->status = status;
    if (why)
        extend->detail = hl_memory_copy(&core->host.memory, why, strlen(why));
    hl_callback_decided(core, &extend->call, is_loss);
}

void hl_extend_answered(struct hl_hold *hold, hilock_status status, const char *why)
{
    for (struct hl_extend *extend = first_of(hold); extend; extend = TAILQ_NEXT(extend, entry)) {
        int is_asked = extend->is_asked || HL_PLANTED(EXTEND_UNASKED);
        if (is_asked && !extend->is_decided)
            decide(hl_hold_core(hold), extend, status, why, 0);
    }
}

static void expire(struct hl_core *core, struct hl_call *call)
{
    struct hl_extend *extend = (struct hl_extend *)(void *)call;
    struct hl_text why;
    hl_message_of_silence(core, call->lock->name, extend->attempts, &why);
    decide(core, extend, extend->attempts ? HILOCK_UNKNOWN : HILOCK_UNREACHABLE, why.bytes, 0);
}

/* ---- reports ---- */

static void report(struct hl_core *core, struct hl_notice *notice)
{
    hl_extend_report(core, (struct hl_extend *)(void *)notice, NULL);
}

void hl_extend_report(struct hl_core *core, struct hl_extend *extend, const char *detail)
{
    char *words = extend->detail;
    struct hilock_result result =
        {.status = extend->status, .operation = HILOCK_OP_EXTEND, .attempts = extend->attempts,
         .detail = detail ? detail : words ? words : hilock_status_text(extend->status)};
    extend->detail = NULL;
    hl_callback_answer(core, &extend->call, result);
    hl_memory_free(&core->host.memory, words);
}

/* ---- the end ---- */

void hl_extend_end(struct hl_core *core, struct hl_hold *hold, int is_loss)
{
    struct hl_extend *extend;
    while ((extend = first_of(hold)) != NULL) {
        TAILQ_REMOVE(&hold->side->extends, extend, entry);
        extend->side = NULL;
        hl_memory_free(&core->host.memory, extend->detail);
        extend->detail = NULL;
        decide(core, extend, HILOCK_LOST, NULL, is_loss);
    }
}

uint64_t hl_extend_reach_us(const struct hl_hold *hold) { return hold->side ? hold->side->reach_us : 0; }

uint64_t hl_extend_over_us(const struct hl_hold *hold)
{
    return hold->side && hold->side->reach_us
           ? hold->side->reach_us + (uint64_t)hl_hold_core(hold)->limits.command_timeout_ms * 1000 : 0;
}
