/* SPDX-License-Identifier: BSD-3-Clause */
/* multi - see multi.h. */
#include "group/multi.h"

#include "base/plant.h"
#include "core/lease.h"
#include "core/name.h"
#include "group/members.h"
#include "hold/hold.h"
#include "lock/acquire.h"
#include "lock/plain.h"
#include "wait/known.h"

enum { KEEP_US = 20000, SHORTAGE_US = 50000, ROUND_TRIP_MIN_US = 1000, PAUSES_MAX = 6 };
enum step { TRYING, GATHERING, COMPLETING, PAUSED };

static void pause_for(struct hl_group *group, uint64_t span_us)
{
    group->step = PAUSED;
    hl_group_pause(group, span_us);
}

static void fail(struct hl_group *group, hilock_status status)
{
    hl_group_keep(group, &group->refusal, status, NULL);
    pause_for(group, SHORTAGE_US);
}

/* ---- one after the other ---- */

static int is_behind_others(const struct hl_group *group)
{
    const struct hl_acquire *acquire = group->members[group->at].lock->acquire;
    return acquire && hl_acquire_is_behind_others(acquire);
}

/* While it keeps members. A kind without a queue does not know who will release the name, and asks only now and
 * then. */
static void look_again(struct hl_group *group)
{
    uint64_t keep_us = group->waits->kind->has_queue ? KEEP_US : hl_terms_lease_us(group->waits) / 4;
    hl_group_resume_at(group, group->at > 0 ? hl_group_now_us(group) + keep_us : UINT64_MAX);
}

static void gather(struct hl_group *group, unsigned at)
{
    group->step = GATHERING;
    group->at = at;
    if (hl_group_ask(&group->members[at], 0) == HILOCK_OK)
        look_again(group);
    else
        fail(group, HILOCK_NO_MEMORY);
}

static void gather_anew(struct hl_group *group)
{
    hl_members_return(group);
    gather(group, 0);
}

/* ---- all are granted ---- */

/* A grant over another link, or by another server, is asked for again before it counts. */
static int is_good(const struct hl_group *group, const struct hl_hold *hold)
{
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(hold), hl_group_now_us(group));
    return left_us >= hl_hold_least_us(hold, group->lock->terms) && !hl_hold_is_adrift(hold);
}

/* Fixed leases must end together: leases that were asked for one by one are asked for again. */
static int are_even(const struct hl_group *group)
{
    uint64_t first_us = group->members[0].lock->hold->request.sent_us;
    if (group->held->is_renewed || HL_PLANTED(MULTI_UNEVEN))
        return 1;
    for (unsigned i = 1; i < group->count; i++)
        if (group->members[i].lock->hold->request.sent_us != first_us)
            return 0;
    return 1;
}

static void complete(struct hl_group *group, int may_ask)
{
    unsigned short_of = 0;
    int ask_all = may_ask && !are_even(group);
    group->step = COMPLETING;
    group->open = 0;
    for (unsigned i = 0; i < group->count; i++)
        short_of += ask_all || !is_good(group, group->members[i].lock->hold);
    if (!short_of) {
        hl_group_grant(group);
        return;
    }
    hl_group_resume_at(group, group->ends_us);
    for (unsigned i = 0; may_ask && i < group->count; i++) {
        struct hilock_lock *lock = group->members[i].lock;
        if (ask_all || !is_good(group, lock->hold))
            group->open += hl_group_ask_again(&group->members[i]) != 0;
    }
    if (group->open < short_of)
        fail(group, may_ask ? HILOCK_NO_MEMORY : HILOCK_UNREACHABLE);
}

static void extended(struct hl_member *member, const struct hilock_result *result)
{
    struct hl_group *group = member->group;
    if (group->step != COMPLETING || !group->open)
        return;
    group->attempts += result->attempts;
    group->open--;
    if (result->status != HILOCK_OK)
        gather_anew(group);
    else if (!group->open)
        complete(group, 0);
}

/* ---- all at once ---- */

static void try_all(struct hl_group *group)
{
    unsigned known = 0;
    while (known < group->count && !hl_known_is_held(group->members[known].lock->name))
        known++;
    group->step = TRYING;
    group->open = 0;
    if (known < group->count && !group->is_try) {
        gather(group, 0);
        return;
    }
    for (unsigned i = 0; i < group->count && group->step == TRYING; i++) {
        if (known < group->count && i != known) /* a try that the client itself can refuse asks nothing */
            continue;
        if (hl_group_ask(&group->members[i], 1) == HILOCK_OK)
            group->open++;
        else
            fail(group, HILOCK_NO_MEMORY);
    }
}

static hilock_status begin(struct hl_group *group)
{
    group->failing = 0;
    try_all(group);
    return group->step == PAUSED ? HILOCK_NO_MEMORY : HILOCK_OK;
}

static int is_lasting(hilock_status status)
{
    return status != HILOCK_TIMED_OUT && status != HILOCK_UNREACHABLE && status != HILOCK_UNWRITABLE &&
           status != HILOCK_NOT_REPLICATED;
}

/* A member's wait ends with the group's, so its answer is the group's. A refused try is not, unless the fault is
 * lasting. */
static void refused(struct hl_group *group, const struct hilock_result *result)
{
    hl_group_keep(group, &group->refusal, result->status, hl_last_words_copy(hl_group_memory(group), result));
    if (group->step == GATHERING || group->is_try || is_lasting(result->status) ||
        hl_group_now_us(group) >= group->ends_us)
        hl_group_decide(group, result->status);
    else
        gather_anew(group);
}

static void answered(struct hl_member *member, const struct hilock_result *result)
{
    struct hl_group *group = member->group;
    if (result->status != HILOCK_OK)
        refused(group, result);
    else if (group->step == TRYING && --group->open)
        return;
    else if (group->step == GATHERING && group->at + 1 < group->count)
        gather(group, group->at + 1);
    else
        complete(group, 1);
}

static void lost(struct hl_group *group)
{
    if (group->step != PAUSED)
        gather_anew(group);
}

/* ---- time ---- */

static uint64_t round_trip_us(const struct hl_group *group)
{
    const struct hl_name *name = group->members[group->at].lock->name;
    uint64_t trip_us = hl_name_node(hl_group_core(group), name)->usual_us;
    return trip_us < ROUND_TRIP_MIN_US ? ROUND_TRIP_MIN_US : trip_us;
}

/* Longer each time, up to 64 round trips, so that programs with another order also get through. */
static void step_aside(struct hl_group *group)
{
    struct hl_core *core = hl_group_core(group);
    uint64_t most_us = round_trip_us(group) << group->failing;
    hl_group_keep(group, &group->refusal, HILOCK_TIMED_OUT,
                  hl_last_words_of(core, group->members[group->at].lock->acquire, HILOCK_TIMED_OUT));
    group->failing += group->failing < PAUSES_MAX;
    pause_for(group, hl_random_below(&core->host.random, most_us) + 1);
}

static void tick(struct hl_group *group)
{
    if (hl_group_now_us(group) >= group->ends_us && group->step != GATHERING && group->step != TRYING)
        hl_group_decide(group, group->refusal.status);
    else if (group->step == PAUSED)
        try_all(group);
    else if (group->step == GATHERING) {
        if (is_behind_others(group) && !HL_PLANTED(MULTI_KEEPS))
            step_aside(group);
        else
            look_again(group);
    }
}

const struct hl_group_ways hl_multi_ways =
    {.begin = begin, .answered = answered, .extended = extended, .lost = lost, .tick = tick,
     .lost_with = "; all %u names of this multi are released"};
