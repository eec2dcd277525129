/* SPDX-License-Identifier: BSD-3-Clause */
/* members - see members.h. */
#include "group/members.h"

#include "core/lease.h"
#include "core/notice.h"
#include "hold/hold.h"
#include "hold/validity.h"
#include "lock/reentry.h"

enum { TRIP_MIN_US = 1000, PATIENCE_MIN_US = 100000, PATIENCE_TRIPS = 8 };

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

static int is_good(const struct hl_member *member)
{
    const struct hl_hold *hold = member->lock->hold;
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(hold), hl_group_now_us(member->group));
    return !member->is_extending && left_us >= hl_hold_least_us(hold, member->group->lock->terms) &&
           !hl_hold_is_adrift(hold);
}

unsigned hl_members_good(struct hl_group *group)
{
    unsigned found = 0;
    for (unsigned i = 0; i < group->count; i++) {
        if (!hl_member_has(&group->members[i]))
            continue;
        if (is_good(&group->members[i]))
            found++;
        else
            hl_member_extend(&group->members[i]);
    }
    return found;
}

/* ---- the way to their servers ---- */

static uint64_t slowest_us(const struct hl_group *group, int is_usual)
{
    uint64_t slowest_us = 0;
    for (unsigned i = 0; i < group->count; i++) {
        const struct hl_node *node = hl_member_node(&group->members[i]);
        uint64_t trip_us = is_usual ? node->usual_us : node->quickest_us;
        if (node->is_up && trip_us > slowest_us)
            slowest_us = trip_us;
    }
    return slowest_us;
}

uint64_t hl_members_trip_us(const struct hl_group *group)
{
    uint64_t usual_us = slowest_us(group, 1);
    return usual_us < TRIP_MIN_US ? TRIP_MIN_US : usual_us;
}

/* Longer after it proved too short: masters may have become slower. */
uint64_t hl_members_patience_us(const struct hl_group *group)
{
    uint64_t usual_us = PATIENCE_TRIPS * slowest_us(group, 0);
    return (usual_us < PATIENCE_MIN_US ? PATIENCE_MIN_US : usual_us) << group->failing;
}

/* ---- held ---- */

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
    const struct hl_group *group = hl_group_of(lock);
    struct hl_look look = {.state = HILOCK_STATE_IDLE, .since_us = group->begun_us};
    if (group->state == GROUP_WAITING || group->state == GROUP_DECIDED)
        look.state = HILOCK_STATE_WAITING;
    if (group->state != GROUP_HELD)
        return look;
    return (struct hl_look){.state = HILOCK_STATE_HELD, .since_us = group->since_us,
                            .ends_us = hl_members_end_us(group), .count = hl_lock_count(lock),
                            .tenure = group->tenure};
}

void hl_members_over(struct hl_group *group)
{
    struct hl_core *core = hl_group_core(group);
    group->state = GROUP_IDLE;
    core->held--;
    hl_notice_cancel(core, &group->notice);
    hl_alarm_end(&core->group_alarms, &group->alarm);
    hl_reentry_end(core, group->lock);
    hl_validity_end(group->lock);
}
