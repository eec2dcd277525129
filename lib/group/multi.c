/* SPDX-License-Identifier: BSD-3-Clause */
/* multi - a group that needs all of its names.
 *
 *   TRYING     asks for every name at once, without waiting
 *     | all granted: COMPLETING    | one refused: all go back
 *   GATHERING  asks for one name after the other, in the one order that all multis share; keeps and renews those before
 *     | the last is granted        | lost one, or kept them too long behind another program: all go back
 *   COMPLETING renews those with too little left; then it is held
 *   PAUSED     has nothing, and begins again at TRYING
 *
 * It cannot deadlock with other multis: a waiting multi holds only names before the one it waits for, and a holder that
 * waits for nothing ends in time. A program that asks in another order (a MultiLock of Redisson) breaks this rule, and
 * does not hand over. So a multi that keeps names checks every KEEP_US who holds the name that it waits for. */
#include "base/plant.h"
#include "group/member.h"
#include "hold/hold.h"
#include "lock/acquire.h"

enum { KEEP_US = 20000, PAUSES_MAX = 6 };
enum step { PAUSED = HL_GROUP_PAUSED, TRYING, GATHERING, COMPLETING };

static void fail(struct hl_group *group, hilock_status status)
{
    hl_group_keep(group, &group->refusal, status, NULL);
    hl_group_pause(group, HL_GROUP_FEW_US / 2, HL_GROUP_FEW_US / 2);
}

/* While it keeps members. A kind without a queue does not know who will release the name, and asks only now and
 * then. */
static void look_again(struct hl_group *group)
{
    if (group->at > 0)
        hl_group_wake_in(group, group->terms->kind->has_queue ? KEEP_US : hl_terms_lease_us(group->terms) / 4, 0);
    else
        hl_group_rest(group);
}

/* At the first one it begins again, so all go back. */
static void gather(struct hl_group *group, unsigned at)
{
    if (at == 0)
        hl_members_return(group, NULL);
    group->step = GATHERING;
    group->at = at;
    if (hl_member_ask(&group->members[at], 0) == HILOCK_OK)
        look_again(group);
    else
        fail(group, HILOCK_NO_MEMORY);
}

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

static void check(struct hl_group *group)
{
    unsigned held = hl_members_count(group, hl_member_has);
    if (held == group->count && (group->step == TRYING || group->step == GATHERING)) {
        int is_even = are_even(group);
        group->step = COMPLETING;
        hl_group_wake_in(group, hl_group_command_us(group), 0);
        for (unsigned i = 0; !is_even && i < group->count; i++)
            hl_member_extend(&group->members[i]);
    } else if (group->step == GATHERING && held == group->at + 1)
        gather(group, held);
    if (group->step == COMPLETING && hl_members_good(group) == group->count)
        hl_group_grant(group);
}

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
static void answered(struct hl_member *member, const struct hilock_result *result)
{
    struct hl_group *group = member->group;
    if (result->status == HILOCK_OK) {
        check(group);
        return;
    }
    hl_group_keep(group, &group->refusal, result->status, hl_known_copy_words(hl_group_memory(group), result));
    if (group->step == GATHERING || group->is_try || hl_member_vote_lasts(result->status) ||
        hl_group_now_us(group) >= group->ends_us)
        hl_group_decide(group, result->status);
    else
        gather(group, 0);
}

static void lost(struct hl_group *group)
{
    if (group->step != PAUSED)
        gather(group, 0);
}

/* It steps aside for longer each time, up to 64 round trips, so that programs with another order also get through. */
static void tick(struct hl_group *group)
{
    struct hl_acquire *acquire = group->members[group->at].lock->acquire;
    int is_behind_others = group->step == GATHERING && acquire && hl_acquire_check_holder(acquire);
    if (is_behind_others && !HL_PLANTED(MULTI_KEEPS)) {
        hl_group_keep(group, &group->refusal, HILOCK_TIMED_OUT,
                      hl_known_last_words(hl_group_core(group), acquire, HILOCK_TIMED_OUT));
        hl_group_pause(group, 0, hl_members_trip_us(group) << group->failing);
        group->failing += group->failing < PAUSES_MAX;
    } else if (group->step == GATHERING)
        look_again(group);
    else if (hl_group_now_us(group) >= group->ends_us)
        hl_group_decide(group, group->refusal.status);
    else if (group->step == PAUSED)
        begin(group);
    else
        fail(group, HILOCK_UNREACHABLE);
}

const struct hl_group_ways hl_multi_ways = {.answered = answered, .check = check, .lost = lost, .tick = tick};
