/* SPDX-License-Identifier: BSD-3-Clause */
/* next - see next.h. */
#include "wait/next.h"

#include "base/plant.h"
#include "wait/gate.h"
#include "wait/place.h"

/* Not for grants that replicas confirm, which use another link, and not for votes, whose attempts begin elsewhere. */
void hl_next_take(struct hl_core *core, const struct hl_hold *hold)
{
    struct hl_acquire *acquire = hl_gate_next(hold->name);
    const struct hilock_lock *lock = acquire ? acquire->lock : NULL;
    int is_vote = lock && lock->attempt && lock->attempt->id_last;
    if (!lock || lock->terms->kind != hold->terms->kind || lock->terms->replicas || is_vote)
        return;
    if (!hl_place_is_wanted(acquire) || !core->waiters->may_ask(acquire))
        return;
    hl_place_begin(core, acquire->place);
    acquire->place->behind = hold;
    acquire->state = ACQUIRE_ASKING;
    acquire->hold->state = HOLD_ASKING;
    hl_hold_wake_at(acquire->hold, UINT64_MAX);
}

struct hl_hold *hl_next_of(const struct hl_hold *hold)
{
    const struct hl_gate *gate = hold->name->gate;
    const struct hl_acquire *head = gate ? TAILQ_FIRST(&gate->line) : NULL;
    return head && head->hold && head->place && head->place->behind == hold ? head->hold : NULL;
}

struct hl_hold *hl_next_asked(const struct hl_hold *hold, const struct hl_reply *reply)
{
    struct hl_hold *next = hl_next_of(hold);
    struct hl_acquire *acquire = next ? next->lock->acquire : NULL;
    int was_alone = reply && reply->type == HL_REPLY_INTEGER;
    struct hl_reply said;
    if (!next)
        return NULL;
    acquire->place->behind = NULL;
    if (reply && hl_queued_next(reply, &said) && next->haunted_until_us)
        return next;
    if (acquire->state != ACQUIRE_ASKING)
        return NULL;
    if (was_alone || HL_PLANTED(NEXT_FORGOTTEN)) {
        next->haunted_until_us = 0;
        next->kept = KEPT_NOTHING;
        next->is_queued = 0;
        next->id = HL_PLANTED(NEXT_FORGOTTEN) ? 0 : next->id;
    }
    acquire->state = ACQUIRE_IN_LINE; /* the release continues the line */
    return NULL;
}

void hl_next_answered(struct hl_hold *next, const struct hl_reply *reply)
{
    struct hl_reply said;
    next->haunted_until_us = 0;
    if (hl_queued_next(reply, &said))
        next->request.ops->done(&next->request, &(struct hl_answer){&said, 1});
}
