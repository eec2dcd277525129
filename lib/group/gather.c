/* SPDX-License-Identifier: BSD-3-Clause */
/* gather - see gather.h. The answer to a release is OK as soon as enough members were released, LOST as soon as too
 * many were lost for that, and UNKNOWN if all have answered without either. An UNKNOWN release is settled when all its
 * unknown members are. */
#include "group/gather.h"

#include "core/callback.h"
#include "core/lease.h"
#include "group/members.h"
#include "lock/plain.h"
#include "lock/turn.h"

void hl_gather_begin(struct hl_gather *gather, struct hl_group *group, hilock_operation operation,
                     hilock_result_fn *on_result, void *user)
{
    *gather = (struct hl_gather){.group = group, .operation = operation, .on_result = on_result, .user = user,
                                 .begun_us = hl_group_now_us(group), .epoch = group->lock->epoch,
                                 .tenure = group->tenure};
    TAILQ_INSERT_TAIL(&group->gathers, gather, entry);
    group->lock->refs++;
}

void hl_gather_end(struct hl_gather *gather)
{
    struct hilock_lock *lock = gather->group->lock;
    if (gather->open || gather->unsettled)
        return;
    while (gather->voted)
        hl_memory_free(&lock->terms->cell->memory, gather->votes[--gather->voted].words);
    TAILQ_REMOVE(&gather->group->gathers, gather, entry);
    hl_memory_free(&lock->terms->cell->memory, gather);
    hl_lock_unref(lock);
}

void hl_gather_forget(struct hl_group *group)
{
    struct hl_gather *gather;
    while ((gather = TAILQ_FIRST(&group->gathers)) != NULL) {
        gather->open = gather->unsettled = 0;
        hl_gather_end(gather);
    }
}

static uint64_t age_us(const struct hl_gather *gather)
{
    return hl_now_us(&hl_group_core(gather->group)->host) - gather->begun_us;
}

void hl_gather_answer(struct hl_gather *gather, struct hilock_result result)
{
    struct hilock_lock *lock = gather->group->lock;
    const struct hl_gather own = *gather;
    result.operation = gather->operation;
    result.attempts = gather->attempts;
    result.waited_ms = hl_lease_span_ms(age_us(gather));
    gather->is_answered = 1;
    gather->was_unknown = result.status == HILOCK_UNKNOWN;
    hl_gather_end(gather);
    if (own.operation == HILOCK_OP_RELEASE)
        hl_terms_trace(lock->terms, HL_RELEASE_ANSWERED,
                       &(struct hl_fact){.name = lock->name->bytes, .status = result.status});
    if (own.on_result && lock->epoch == own.epoch)
        hl_callback_result(lock, own.on_result, result, own.user);
}

/* LOST counts before UNKNOWN, and that before a server's refusal. */
static int badness(hilock_status status)
{
    return status == HILOCK_OK ? 0 : status == HILOCK_LOST ? 3 : status == HILOCK_UNKNOWN ? 2 : 1;
}

static void weigh_release(struct hl_gather *gather, const struct hilock_result *latest)
{
    const struct hl_group *group = gather->group;
    struct hilock_result result =
        {.status = gather->yes >= group->needed                  ? HILOCK_OK
                   : gather->lost > group->count - group->needed ? HILOCK_LOST
                                                                 : HILOCK_UNKNOWN,
         .votes = group->ways->is_voted ? gather->yes : 0};
    result.detail = result.status == HILOCK_OK ? hilock_status_text(HILOCK_OK) : latest->detail;
    if (gather->is_answered || (result.status == HILOCK_UNKNOWN && gather->open))
        hl_gather_end(gather);
    else
        hl_gather_answer(gather, result);
}

/* For votes it does not wait for a silent member if the others are too few, and one master that lost it is not the
 * loss. */
static void weigh_extend(struct hl_gather *gather, const struct hilock_result *latest)
{
    const struct hl_group *group = gather->group;
    int is_lost_vote = group->ways->is_voted && latest->status == HILOCK_LOST;
    hilock_status status = is_lost_vote ? HILOCK_UNKNOWN : latest->status;
    struct hilock_result result = {.votes = hl_members_votes(group)};
    if (badness(status) > badness(gather->worst))
        gather->worst = status;
    result.status = gather->yes >= group->needed ? HILOCK_OK : gather->worst;
    result.detail = result.status == HILOCK_OK ? hilock_status_text(HILOCK_OK)
                    : is_lost_vote             ? "too few masters extended it; what is known to be left counts"
                                               : latest->detail;
    if (!gather->is_answered && (gather->yes >= group->needed || !gather->open ||
                                 (group->ways->is_voted && gather->yes + gather->open < group->needed)))
        hl_gather_answer(gather, result);
    else
        hl_gather_end(gather);
}

static void on_answered(const struct hilock_result *result, void *user)
{
    struct hl_gather *gather = user;
    struct hilock_lock *lock = gather->group->lock;
    int is_release = gather->operation == HILOCK_OP_RELEASE;
    lock->refs++;
    gather->open--;
    gather->yes += result->status == HILOCK_OK;
    gather->lost += result->status == HILOCK_LOST;
    gather->unsettled += is_release && result->status == HILOCK_UNKNOWN;
    gather->attempts = is_release ? gather->attempts || result->attempts : gather->attempts + result->attempts;
    if (is_release)
        weigh_release(gather, result);
    else
        weigh_extend(gather, result);
    hl_lock_unref(lock);
}

/* ---- release ---- */

int hl_gather_prepare(struct hl_group *group)
{
    if (!group->end)
        group->end = hl_memory_new(&hl_group_core(group)->host.memory, sizeof *group->end);
    return group->end ? 0 : -1;
}

void hl_gather_release(struct hl_group *group, hilock_result_fn *on_result, void *user)
{
    struct hl_gather *gather = group->end;
    group->end = NULL;
    hl_gather_begin(gather, group, HILOCK_OP_RELEASE, on_result, user);
    for (unsigned i = 0; i < group->count; i++) {
        struct hilock_lock *member = group->members[i].lock;
        if (member->acquire)
            hl_member_return(&group->members[i]);
        gather->open += member->hold != NULL;
        gather->lost += member->hold == NULL;
    }
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].lock->hold)
            hl_turn_release(hl_group_core(group), group->members[i].lock, on_answered, gather);
}

/* The oldest with an unsettled member: a member's releases are settled roughly in the order they began. */
void hl_gather_settled(struct hl_group *group)
{
    struct hilock_lock *lock = group->lock;
    struct hl_core *core = hl_group_core(group);
    struct hilock_event event =
        {.kind = HILOCK_EVENT_RELEASE_SETTLED,
         .detail = "every release of this handle is confirmed, or its lease has run out"};
    struct hl_gather *gather;
    int is_news;
    TAILQ_FOREACH(gather, &group->gathers, entry)
        if (gather->unsettled)
            break;
    if (!gather || --gather->unsettled)
        return;
    is_news = gather->was_unknown && gather->epoch == lock->epoch;
    event.waited_ms = hl_lease_span_ms(age_us(gather));
    lock->refs++;
    hl_gather_end(gather);
    if (is_news) {
        hl_terms_trace(lock->terms, HL_RELEASE_SETTLED,
                       &(struct hl_fact){.name = lock->name->bytes, .detail = event.detail});
        hl_callback_event(core, lock, lock->terms->on_event, &event);
    }
    hl_lock_unref(lock);
}

/* ---- extend ---- */

hilock_status hl_gather_extend(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                               hilock_result_fn *on_result, void *user)
{
    struct hl_group *group = lock->group;
    struct hl_gather *gather = hl_memory_new(&core->host.memory, sizeof *gather);
    if (!gather)
        return HILOCK_NO_MEMORY;
    hl_gather_begin(gather, group, HILOCK_OP_EXTEND, on_result, user);
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].lock->hold &&
            hl_plain_ops.extend(core, group->members[i].lock, lease_ms, on_answered, gather) == HILOCK_OK)
            gather->open++;
    if (gather->open >= group->needed)
        return HILOCK_OK;
    gather->is_answered = 1; /* ignores the answers of extends that have begun */
    hl_gather_end(gather);
    return HILOCK_NO_MEMORY;
}

struct hl_gather *hl_gather_extending(const struct hl_group *group)
{
    struct hl_gather *gather;
    TAILQ_FOREACH(gather, &group->gathers, entry)
        if (gather->operation == HILOCK_OP_EXTEND && !gather->is_answered && gather->tenure == group->tenure)
            return gather;
    return NULL;
}
