/* SPDX-License-Identifier: BSD-3-Clause */
/* members - see members.h. */
#include "group/members.h"

#include "core/lease.h"
#include "core/notice.h"
#include "hold/belief.h"
#include "hold/hold.h"
#include "hold/reentry.h"
#include "hold/validity.h"
#include "lock/acquire.h"
#include "lock/turn.h"

void hl_member_return(struct hl_member *member)
{
    struct hilock_lock *lock = member->lock;
    if (lock->acquire) {
        member->group->attempts += lock->acquire->attempts;
        hl_acquire_drop(lock->acquire);
    }
    if (lock->hold)
        hl_turn_release(hl_group_core(member->group), lock, NULL, NULL);
}

/* The last name first: its next waiter may have waited for the other names, too. */
void hl_members_return(struct hl_group *group)
{
    for (unsigned i = group->count; i-- > 0;)
        hl_member_return(&group->members[i]);
}

unsigned hl_members_attempts(const struct hl_group *group)
{
    unsigned found = 0;
    for (unsigned i = 0; i < group->count; i++)
        found += group->members[i].lock->acquire ? group->members[i].lock->acquire->attempts : 0;
    return found;
}

void hl_members_expire(struct hl_group *group)
{
    for (unsigned i = 0; i < group->count; i++)
        if (hl_member_has(&group->members[i]))
            (void)hl_belief_has_ended(group->members[i].lock->hold);
}

unsigned hl_members_held(const struct hl_group *group)
{
    unsigned found = 0;
    for (unsigned i = 0; i < group->count; i++)
        found += hl_member_has(&group->members[i]) != 0;
    return found;
}

unsigned hl_members_votes(const struct hl_group *group)
{
    return group->state == GROUP_HELD && group->ways->is_voted ? hl_members_held(group) : 0;
}

static uint64_t ends_us_of(const struct hl_member *member)
{
    return hl_member_has(member) ? hl_hold_ends_us(member->lock->hold) : 0;
}

uint64_t hl_members_end_us(const struct hl_group *group)
{
    uint64_t best_us = 0;
    for (unsigned i = 0; i < group->count; i++) {
        uint64_t ends_us = ends_us_of(&group->members[i]);
        unsigned as_long = 0;
        for (unsigned j = 0; ends_us > best_us && j < group->count; j++)
            as_long += ends_us_of(&group->members[j]) >= ends_us;
        if (as_long >= group->needed)
            best_us = ends_us;
    }
    return best_us;
}

struct hl_look hl_members_look(const struct hilock_lock *lock)
{
    const struct hl_group *group = lock->group;
    struct hl_look look = {.state = HILOCK_STATE_IDLE, .since_us = group->begun_us};
    if (group->state == GROUP_WAITING || group->state == GROUP_DECIDED)
        look.state = HILOCK_STATE_WAITING;
    if (group->state != GROUP_HELD)
        return look;
    return (struct hl_look){.state = HILOCK_STATE_HELD, .since_us = group->since_us,
                            .ends_us = hl_members_end_us(group), .count = 1 + group->desk.count,
                            .tenure = group->tenure};
}

/* ---- held ---- */

/* It was granted with a watchdog in any case. From here on it has the user's options, and no longer a lease than the
 * others. */
void hl_member_join(struct hl_member *member)
{
    struct hl_group *group = member->group;
    struct hl_hold *hold = member->lock->hold;
    member->is_failing = 0;
    hl_turn_retune(hold, group->held, group->since_us);
    if (group->validity &&
        hl_validity_join(hl_group_core(group), hold, group->validity, (unsigned)(member - group->members)) != 0)
        hl_member_return(member); /* a hold that other threads cannot see must not count */
}

hilock_status hl_members_validity(struct hl_core *core, struct hilock_lock *lock, struct hilock_validity **ret)
{
    struct hl_group *group = lock->group;
    if (group->state != GROUP_HELD || !hl_members_end_us(group))
        return HILOCK_NOT_HELD;
    if (!group->validity)
        group->validity = hl_validity_new(core, group->count, group->needed);
    if (!group->validity)
        return HILOCK_NO_MEMORY;
    for (unsigned i = 0; i < group->count; i++) {
        struct hl_hold *hold = group->members[i].lock->hold;
        if (hold && !(hold->side && hold->side->validity) && hl_validity_join(core, hold, group->validity, i) != 0)
            return HILOCK_NO_MEMORY;
    }
    hl_validity_ref(group->validity);
    *ret = group->validity;
    return HILOCK_OK;
}

void hl_members_end_validity(struct hl_group *group)
{
    if (group->validity)
        hl_validity_unref(group->validity);
    group->validity = NULL;
}

void hl_members_over(struct hl_group *group)
{
    struct hl_core *core = hl_group_core(group);
    group->state = GROUP_IDLE;
    core->held--;
    hl_notice_cancel(core, &group->notice);
    hl_alarm_end(&core->group_alarms, &group->alarm);
    hl_reentry_end(core, &group->desk);
    hl_members_end_validity(group);
}
