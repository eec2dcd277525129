/* SPDX-License-Identifier: BSD-3-Clause */
/* extend - see extend.h. */
#include "hold/extend.h"

#include "base/plant.h"
#include "core/lease.h"
#include "hold/hold.h"
#include "hold/messages.h"

/* Those that are not decided, from the first on: they are decided in the order in which they were accepted. The handle
 * that a hold calls back, once that is released, may have extends of another hold. NULL: none */
static struct hl_extend *first_pending(const struct hl_hold *hold)
{
    int has_some = hl_hold_is_told(hold) && hold->lock->side;
    struct hl_extend *extend = has_some ? TAILQ_FIRST(&hold->lock->side->extends) : NULL;
    while (extend && extend->call.notice.pending)
        extend = TAILQ_NEXT(extend, entry);
    return extend;
}

int hl_extend_is_pending(const struct hl_hold *hold) { return first_pending(hold) != NULL; }

/* The same request renews a watched hold, so it asks for its own lease at least. To check a hold without renewals it
 * asks for the time that is left, which does not lengthen it: one millisecond at least. */
uint32_t hl_extend_round(struct hl_hold *hold)
{
    uint64_t now_us = hl_now_us(&hl_hold_core(hold)->host), lease_us, reach_us;
    uint32_t longest_ms = hold->terms->is_renewed ? hold->terms->lease_ms : 0;
    struct hl_extend *first = first_pending(hold);
    for (struct hl_extend *extend = first; extend; extend = TAILQ_NEXT(extend, entry)) {
        extend->attempts++;
        longest_ms = extend->lease_ms > longest_ms ? extend->lease_ms : longest_ms;
    }
    lease_us = (uint64_t)longest_ms * 1000;
    reach_us = now_us + lease_us + hl_lease_drift_us(lease_us);
    if (first && reach_us > hold->reach_us)
        hold->reach_us = reach_us;
    if (!longest_ms)
        longest_ms = hl_lease_span_ms(hl_left_us(hl_hold_deadline_us(hold), now_us));
    return longest_ms ? longest_ms : 1;
}

static void decide(struct hl_core *core, struct hl_extend *extend, hilock_status status, const char *why, int is_loss)
{
    hl_memory_free(&core->host.memory, extend->detail);
    extend->detail = why ? hl_memory_copy(&core->host.memory, why, strlen(why)) : NULL;
    extend->status = status;
    hl_callback_decided(core, &extend->call, is_loss);
}

/* A refusal, of the login perhaps, answers those as well that wait for the next renewal. */
void hl_extend_answered(struct hl_hold *hold, hilock_status status, const char *why)
{
    for (struct hl_extend *extend = first_pending(hold); extend; extend = TAILQ_NEXT(extend, entry)) {
        int is_asked = extend->attempts || HL_PLANTED(EXTEND_UNASKED);
        if (is_asked || status != HILOCK_OK)
            decide(hl_hold_core(hold), extend, status, why, 0);
    }
}

static void expire(struct hl_core *core, struct hl_call *call)
{
    struct hl_extend *extend = (struct hl_extend *)(void *)call;
    struct hl_quoted name = hl_name_quoted(call->lock->name);
    const struct hl_node *node = hl_name_node(core, call->lock->name);
    uint32_t waited_ms = core->limits.command_timeout_ms;
    struct hl_text why;
    if (extend->attempts)
        hl_text_set(&why,
                    "no answer from %s within %u ms: \"%s\" may or may not be extended; what was left of it counts",
                    hl_node_name(node), waited_ms, name.bytes);
    else
        hl_text_set(&why, "%s could not be asked within %u ms: %s; what is left of \"%s\" counts", hl_node_name(node),
                    waited_ms, *hl_node_why(node) ? hl_node_why(node) : "it is silent", name.bytes);
    decide(core, extend, extend->attempts ? HILOCK_UNKNOWN : HILOCK_UNREACHABLE, why.bytes, 0);
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

static void report(struct hl_core *core, struct hl_notice *notice)
{
    hl_extend_report(core, (struct hl_extend *)(void *)notice, NULL);
}

static void forget(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_extend *extend = (struct hl_extend *)(void *)notice;
    if (extend->status != HILOCK_LOST)
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

void hl_extend_end(struct hl_core *core, struct hilock_lock *lock, int is_loss)
{
    struct hl_extend *extend;
    while (lock->side && (extend = TAILQ_FIRST(&lock->side->extends)) != NULL) {
        TAILQ_REMOVE(&lock->side->extends, extend, entry);
        decide(core, extend, HILOCK_LOST, NULL, is_loss);
    }
}

void hl_extends_forget(struct hl_core *core, struct hilock_lock *lock)
{
    while (lock->side && !TAILQ_EMPTY(&lock->side->extends))
        forget(core, &TAILQ_FIRST(&lock->side->extends)->call.notice);
}

uint64_t hl_extend_over_us(const struct hl_hold *hold)
{
    return hold->reach_us ? hold->reach_us + (uint64_t)hl_hold_core(hold)->limits.command_timeout_ms * 1000 : 0;
}
