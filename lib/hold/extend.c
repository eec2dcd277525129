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
    if (!extend->has_ended)
        TAILQ_REMOVE(&extend->call.lock->side->extends, extend, entry);
    hl_memory_free(&core->host.memory, extend->detail);
    hl_callback_free(core, &extend->call);
}

hilock_status hl_extend_begin(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                              hilock_result_fn *on_result, void *user)
{
    static const struct hl_notice_ops ops = {report, forget};
    struct hl_side *side = hl_lock_side(lock);
    struct hl_extend *extend = side ? hl_callback_new(core, sizeof *extend, &ops, expire, lock, on_result, user)
                                   : NULL;
    if (!extend)
        return HILOCK_NO_MEMORY;
    extend->lease_ms = lease_ms;
    TAILQ_INSERT_TAIL(&side->extends, extend, entry);
    return HILOCK_OK;
}

void hl_extends_forget(struct hl_core *core, struct hilock_lock *lock)
{
    while (lock->side && !TAILQ_EMPTY(&lock->side->extends))
        forget(core, &TAILQ_FIRST(&lock->side->extends)->call.notice);
}

/* ---- rounds ---- */

static int is_decided(const struct hl_extend *extend) { return extend->call.notice.pending != 0; }

/* The handle that a hold calls back, once that is released, may have extends of another hold. */
static struct hl_extends *extends_of(const struct hl_hold *hold)
{
    return hl_hold_is_told(hold) && hold->lock->side ? &hold->lock->side->extends : NULL;
}

static struct hl_extend *first_of(const struct hl_hold *hold)
{
    const struct hl_extends *extends = extends_of(hold);
    return extends ? TAILQ_FIRST(extends) : NULL;
}

/* They are decided in the order in which they were accepted: the last one speaks for all. */
int hl_extend_is_pending(const struct hl_hold *hold)
{
    const struct hl_extends *extends = extends_of(hold);
    const struct hl_extend *last = extends ? TAILQ_LAST(extends, hl_extends) : NULL;
    return last && !is_decided(last);
}

/* In milliseconds, one at least. */
static uint32_t left_ms(const struct hl_hold *hold)
{
    uint32_t left = hl_lease_span_ms(hl_left_us(hl_hold_deadline_us(hold), hl_now_us(&hl_hold_core(hold)->host)));
    return left ? left : 1;
}

static uint64_t reach_of(const struct hl_hold *hold, uint32_t lease_ms)
{
    uint64_t lease_us = (uint64_t)lease_ms * 1000;
    return hl_now_us(&hl_hold_core(hold)->host) + lease_us + hl_lease_drift_us(lease_us);
}

/* The same request renews a watched hold, so it asks for its own lease at least. To check a hold without renewals it
 * asks for the time that is left, which does not lengthen it. */
uint32_t hl_extend_round(struct hl_hold *hold)
{
    uint32_t longest_ms = hold->terms->is_renewed ? hold->terms->lease_ms : 0;
    uint64_t reach_us = 0;
    for (struct hl_extend *extend = first_of(hold); extend; extend = TAILQ_NEXT(extend, entry)) {
        if (is_decided(extend))
            continue;
        extend->attempts++;
        longest_ms = extend->lease_ms > longest_ms ? extend->lease_ms : longest_ms;
        reach_us = reach_of(hold, longest_ms);
    }
    if (reach_us > hold->reach_us)
        hold->reach_us = reach_us;
    return longest_ms ? longest_ms : left_ms(hold);
}

/* ---- answers ---- */

static void decide(struct hl_core *core, struct hl_extend *extend, hilock_status status, const char *why, int is_loss)
{
    extend->status = status;
    if (why)
        extend->detail = hl_memory_copy(&core->host.memory, why, strlen(why));
    hl_callback_decided(core, &extend->call, is_loss);
}

/* A refusal, of the login perhaps, answers those as well that wait for the next renewal. */
void hl_extend_answered(struct hl_hold *hold, hilock_status status, const char *why)
{
    for (struct hl_extend *extend = first_of(hold); extend; extend = TAILQ_NEXT(extend, entry)) {
        int is_asked = extend->attempts || HL_PLANTED(EXTEND_UNASKED);
        if ((is_asked || status != HILOCK_OK) && !is_decided(extend))
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

void hl_extend_end(struct hl_core *core, struct hilock_lock *lock, int is_loss)
{
    struct hl_extend *extend;
    while (lock->side && (extend = TAILQ_FIRST(&lock->side->extends)) != NULL) {
        TAILQ_REMOVE(&lock->side->extends, extend, entry);
        extend->has_ended = 1;
        hl_memory_free(&core->host.memory, extend->detail);
        extend->detail = NULL;
        decide(core, extend, HILOCK_LOST, NULL, is_loss);
    }
}

uint64_t hl_extend_over_us(const struct hl_hold *hold)
{
    return hold->reach_us ? hold->reach_us + (uint64_t)hl_hold_core(hold)->limits.command_timeout_ms * 1000 : 0;
}
