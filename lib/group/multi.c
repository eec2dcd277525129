/* SPDX-License-Identifier: BSD-3-Clause */
/* multi - a group that needs all of its names.
 *
 *   TRYING     asks for every missing name at once, without waiting
 *     | all granted: COMPLETING    | one refused: all names are given back
 *   STANDING   waits for the refused name alone, and holds no other; TRYING when that name is granted
 *     | refused ROUNDS_MAX times
 *   ORDERED    asks for one name after the other, in the order that all multis share; keeps and renews the earlier ones
 *     | the last is granted        | another program keeps the name too long: all names are given back; STANDING there
 *   COMPLETING renews the names with too little left; then the group is held
 *   PAUSED     memory or answers were missing: the group holds nothing, and begins again at TRYING
 *
 * STANDING is quick where other clients seldom want the names, and ORDERED is certain to end. ORDERED cannot deadlock
 * with other multis: a waiting multi holds only names before the one that it waits for, and a holder that waits for
 * nothing ends in time. A program that asks in another order (a MultiLock of Redisson) breaks this rule, and does not
 * hand over. Therefore a multi that keeps names checks the holder of the name that it waits for, every KEEP_US. */
#include "group/member.h"

enum { ROUNDS_MAX = 3, KEEP_US = 20000 };
enum step { PAUSED = HL_GROUP_PAUSED, TRYING, STANDING, ORDERED, COMPLETING };

static void fail(struct hl_group *group, hilock_status status)
{
    hl_group_keep(group, &group->refusal, status, NULL);
    hl_group_pause(group, HL_GROUP_FEW_US / 2, HL_GROUP_FEW_US / 2);
}

/* Sets the alarm for the next check of the holder, while the group keeps names. A kind of lock without a queue cannot
 * know who will release the name, and so checks only four times in a lease. */
static void look_again(struct hl_group *group)
{
    if (group->step == ORDERED && group->at > 0)
        hl_group_wake_in(group, hl_has_queue(group->terms) ? KEEP_US : hl_terms_lease_us(group->terms) / 4, 0);
    else
        hl_group_rest(group);
}

static void wait_for(struct hl_group *group, enum step step, unsigned at)
{
    if (step == STANDING || at == 0)
        hl_members_return(group, NULL);
    group->step = (uint8_t)step;
    group->at = at;
    if (hl_member_ask(&group->members[at], 0) == HILOCK_OK)
        look_again(group);
    else
        fail(group, HILOCK_NO_MEMORY);
}

static void refused(struct hl_group *group, unsigned at)
{
    if (group->looks++ < ROUNDS_MAX)
        wait_for(group, STANDING, at);
    else
        wait_for(group, ORDERED, 0);
}

/* Tries every missing name. If one is known to be held, nothing is tried, and the group waits for that name. A
 * HILOCK_TRY does try that one name, so that the client refuses the try without asking the store. */
static void try_all(struct hl_group *group)
{
    const struct hl_member *members = group->members;
    unsigned known = 0;
    while (known < group->count && (hl_member_has(&members[known]) || !hl_inner_is_name_held(members[known].lock)))
        known++;
    if (known < group->count && !group->is_try) {
        refused(group, known);
        return;
    }
    group->step = TRYING;
    for (unsigned i = 0; i < group->count && group->step == TRYING; i++)
        if ((known == group->count || i == known) && !hl_member_has(&members[i]) &&
            !hl_inner_is_asking(members[i].lock) && hl_member_ask(&group->members[i], 1) != HILOCK_OK)
            fail(group, HILOCK_NO_MEMORY);
}

/* Fixed leases must end together. Returns 0 if they do not, because they were asked for one after the other: they must
 * then be extended. */
static int are_even(const struct hl_group *group)
{
    uint64_t first_us = hl_inner_proved_us(group->members[0].lock);
    if (group->lock->terms->is_renewed)
        return 1;
    for (unsigned i = 1; i < group->count; i++)
        if (hl_inner_proved_us(group->members[i].lock) != first_us)
            return 0;
    return 1;
}

static int is_asking(const struct hl_member *member)
{
    return !hl_member_has(member) && hl_inner_is_asking(member->lock);
}

/* A try asked only for the name that was known to be held, and was granted it after all: the other names are next. */
static int are_others_due(const struct hl_group *group, unsigned held)
{
    return group->step == TRYING && held > 0 && held < group->count && !hl_members_count(group, is_asking);
}

static void check(struct hl_group *group)
{
    unsigned held = hl_members_count(group, hl_member_has);
    if (held == group->count && (group->step == TRYING || group->step == ORDERED)) {
        int is_even = are_even(group);
        group->step = COMPLETING;
        hl_group_wake_in(group, hl_group_command_us(group), 0);
        for (unsigned i = 0; !is_even && i < group->count; i++)
            hl_member_extend(&group->members[i]);
    } else if (group->step == ORDERED && held == group->at + 1)
        wait_for(group, ORDERED, held);
    else if ((group->step == STANDING && held == 1) || are_others_due(group, held))
        try_all(group);
    if (group->step == COMPLETING && hl_members_freshen(group) == group->count)
        hl_group_grant(group);
}

/* A member waits exactly as long as the group, so the answer to such a wait is the group's. A member's try that was
 * refused decides nothing, unless its refusal is for good. */
static void answered(struct hl_member *member, const struct hilock_result *result)
{
    struct hl_group *group = member->group;
    if (result->status == HILOCK_OK) {
        check(group);
        return;
    }
    hl_group_keep(group, &group->refusal, result->status, hl_view_copy_words(hl_group_memory(group), result));
    if (group->step != TRYING || group->is_try || group->refusal.state == VOTE_REFUSED ||
        hl_group_now_us(group) >= group->ends_us)
        hl_group_decide(group, result->status);
    else
        refused(group, (unsigned)(member - group->members));
}

static void lost(struct hl_group *group)
{
    if (group->step != PAUSED)
        wait_for(group, ORDERED, 0);
}

static void on_alarm(struct hl_group *group)
{
    struct hilock_lock *lock = group->members[group->at].lock;
    int keeps_names = group->step == ORDERED && hl_inner_is_asking(lock);
    int is_behind_other_program = keeps_names && hl_inner_is_behind_other_program(lock);
    if (keeps_names && !is_behind_other_program)
        hl_inner_refresh_holder(lock);
    if (is_behind_other_program)
        wait_for(group, STANDING, group->at);
    else if (group->step == ORDERED)
        look_again(group);
    else if (hl_group_now_us(group) >= group->ends_us)
        hl_group_decide(group, group->refusal.status);
    else if (group->step == PAUSED)
        try_all(group);
    else
        fail(group, HILOCK_UNREACHABLE);
}

const struct hl_group_strategy hl_multi_strategy =
    {.answered = answered, .check = check, .lost = lost, .on_alarm = on_alarm};
