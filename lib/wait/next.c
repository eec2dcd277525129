/* SPDX-License-Identifier: BSD-3-Clause */
/* next - see next.h. */
#include "wait/next.h"

#include "base/plant.h"
#include "hold/hold.h"
#include "wait/gate.h"
#include "wait/place.h"

static int is_vote(const struct hilock_lock *lock) { return lock->attempt && lock->attempt->id_last; }

/* Not for grants that replicas confirm, which use another link, and not for votes, whose attempts begin elsewhere. */
static int fits(const struct hl_hold *hold, const struct hl_acquire *acquire)
{
    const struct hl_terms *terms = acquire->lock->terms;
    return terms->kind == hold->terms->kind && terms->kind->has_queue && !terms->kind->place_each &&
           !terms->replicas && !is_vote(acquire->lock) && hl_place_is_wanted(acquire);
}

void hl_next_take(struct hl_core *core, const struct hl_hold *hold)
{
    struct hl_acquire *acquire = hl_gate_next(hold->name);
    if (!acquire || !fits(hold, acquire) || !core->waiters->may_ask(acquire))
        return;
    hl_place_begin(core, acquire->place);
    acquire->place->behind = hold;
    acquire->state = ACQUIRE_ASKING;
    acquire->hold->state = HOLD_ASKING;
    hl_hold_wake_at(acquire->hold, UINT64_MAX);
}

static struct hl_acquire *acquire_of(const struct hl_hold *hold)
{
    const struct hl_gate *gate = hold->name->gate;
    struct hl_acquire *head = gate ? TAILQ_FIRST(&gate->line) : NULL;
    return head && head->hold && head->place && head->place->behind == hold ? head : NULL;
}

struct hl_hold *hl_next_of(const struct hl_hold *hold)
{
    const struct hl_acquire *acquire = acquire_of(hold);
    return acquire ? acquire->hold : NULL;
}

/* The release continues the line. */
static void ask_alone(struct hl_acquire *acquire, const struct hl_reply *reply)
{
    struct hl_hold *next = acquire->hold;
    int was_asked = reply && reply->type == HL_REPLY_INTEGER;
    if (acquire->state != ACQUIRE_ASKING)
        return;
    if (was_asked || HL_PLANTED(NEXT_FORGOTTEN)) {
        next->haunted_until_us = 0;
        next->kept = KEPT_NOTHING;
        next->is_queued = 0;
        next->id = HL_PLANTED(NEXT_FORGOTTEN) ? 0 : next->id;
    }
    acquire->state = ACQUIRE_IN_LINE;
}

struct hl_hold *hl_next_asked(const struct hl_hold *hold, const struct hl_reply *reply)
{
    struct hl_acquire *acquire = acquire_of(hold);
    struct hl_reply next;
    if (!acquire)
        return NULL;
    acquire->place->behind = NULL;
    if (reply && hl_queued_next(reply, &next) && acquire->hold->haunted_until_us)
        return acquire->hold;
    ask_alone(acquire, reply);
    return NULL;
}

void hl_next_answered(struct hl_hold *next, const struct hl_reply *reply)
{
    struct hl_request *request = &next->request;
    struct hl_reply said;
    next->haunted_until_us = 0;
    if (hl_queued_next(reply, &said))
        request->ops->done(request, &(struct hl_answer){&said, 1});
}
