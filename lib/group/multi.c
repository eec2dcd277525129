/* SPDX-License-Identifier: BSD-3-Clause */
/* multi - see multi.h. */
#include "group/multi.h"

#include "base/plant.h"
#include "core/name.h"
#include "group/members.h"
#include "group/news.h"
#include "group/verdict.h"
#include "hold/hold.h"
#include "lock/acquire.h"
#include "wait/known.h"

enum { KEEP_US = 20000, PAUSES_MAX = 6 };
enum step { PAUSED = HL_GROUP_PAUSED, TRYING, GATHERING, COMPLETING };

static void fail(struct hl_group *group, hilock_status status)
{
    hl_group_keep(group, &group->refusal, status, NULL);
    hl_group_pause(group, HL_GROUP_FEW_US / 2, HL_GROUP_FEW_US / 2);
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
    if (group->at > 0)
        hl_news_wake_in(group, group->terms->kind->has_queue ? KEEP_US : hl_terms_lease_us(group->terms) / 4, 0);
    else
        hl_news_rest(group);
}

static void gather(struct hl_group *group, unsigned at)
{
    group->step = GATHERING;
    group->at = at;
    if (hl_member_ask(&group->members[at], 0) == HILOCK_OK)
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

/* Fixed leases must end together: leases that were asked for one by one are asked for again. */
static int are_even(const struct hl_group *group)
{
    uint64_t first_us = group->members[0].lock->hold->request.sent_us;
    if (group->lock->terms->is_renewed || HL_PLANTED(MULTI_UNEVEN))
        return 1;
    for (unsigned i = 1; i < group->count; i++)
        if (group->members[i].lock->hold->request.sent_us != first_us)
            return 0;
    return 1;
}

static void complete(struct hl_group *group)
{
    int is_even = are_even(group);
    group->step = COMPLETING;
    hl_news_wake_in(group, hl_group_command_us(group), 0);
    for (unsigned i = 0; !is_even && i < group->count; i++)
        hl_member_extend(&group->members[i]);
    if (hl_members_good(group) == group->count)
        hl_group_grant(group);
}

static void check(struct hl_group *group)
{
    switch ((enum step)group->step) {
    case TRYING:
    case GATHERING:
        if (hl_members_held(group) == group->count)
            complete(group);
        else if (group->step == GATHERING && hl_members_held(group) == group->at + 1)
            gather(group, group->at + 1);
        break;
    case COMPLETING:
        if (hl_members_good(group) == group->count)
            hl_group_grant(group);
        break;
    case PAUSED: break;
    }
}

/* ---- all at once ---- */

static void begin(struct hl_group *group)
{
    unsigned known = 0;
    while (known < group->count && !hl_known_is_held(group->members[known].lock->name))
        known++;
    if (known < group->count && !group->is_try) {
        gather(group, 0);
        return;
    }
    group->step = TRYING;
    for (unsigned i = 0; i < group->count && group->step == TRYING; i++)
        if ((known == group->count || i == known) && /* a try that the client itself can refuse asks nothing */
            hl_member_ask(&group->members[i], 1) != HILOCK_OK)
            fail(group, HILOCK_NO_MEMORY);
}

/* A member's wait ends with the group's, so its answer is the group's. A refused try is not, unless the fault is
 * lasting. */
static void refused(struct hl_group *group, const struct hilock_result *result)
{
    hl_group_keep(group, &group->refusal, result->status, hl_last_words_copy(hl_group_memory(group), result));
    if (group->step == GATHERING || group->is_try || hl_verdict_is_lasting(result->status) ||
        hl_group_now_us(group) >= group->ends_us)
        hl_group_decide(group, result->status);
    else
        gather_anew(group);
}

static void answered(struct hl_member *member, const struct hilock_result *result)
{
    if (result->status == HILOCK_OK)
        check(member->group);
    else
        refused(member->group, result);
}

static void lost(struct hl_group *group)
{
    if (group->step != PAUSED)
        gather_anew(group);
}

/* ---- time ---- */

/* Longer each time, up to 64 round trips, so that programs with another order also get through. */
static void step_aside(struct hl_group *group)
{
    hl_group_keep(group, &group->refusal, HILOCK_TIMED_OUT,
                  hl_last_words_of(hl_group_core(group), group->members[group->at].lock->acquire, HILOCK_TIMED_OUT));
    hl_group_pause(group, 0, hl_members_trip_us(group) << group->failing);
    group->failing += group->failing < PAUSES_MAX;
}

static void tick(struct hl_group *group)
{
    if (group->step == GATHERING) {
        if (is_behind_others(group) && !HL_PLANTED(MULTI_KEEPS))
            step_aside(group);
        else
            look_again(group);
    } else if (hl_group_now_us(group) >= group->ends_us)
        hl_group_decide(group, group->refusal.status);
    else if (group->step == PAUSED)
        begin(group);
    else
        fail(group, HILOCK_UNREACHABLE);
}

const struct hl_group_ways hl_multi_ways =
    {.begin = begin, .answered = answered, .check = check, .lost = lost, .tick = tick};
