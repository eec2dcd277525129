/* SPDX-License-Identifier: BSD-3-Clause */
/* member - see member.h. */
#include "group/member.h"

#include "base/contract.h"
#include "core/lease.h"
#include "core/notice.h"
#include "hold/validity.h"
#include "hold/watchdog.h"
#include "lock/acquire.h"
#include "lock/plain.h"
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

enum { IDS = 1 << HL_GROUP_ID_BITS };

void hl_member_take_ids(struct hl_group *group)
{
    struct hl_core *core = hl_group_core(group);
    group->attempt.id_last = (core->id_last | (IDS - 1)) + 1;
    core->id_last = group->attempt.id_last + IDS - 1;
}

/* It was granted with a watchdog in any case. From here on it has the user's options, and no longer a lease than the
 * others. */
void hl_member_join(struct hl_member *member)
{
    struct hl_group *group = member->group;
    struct hl_hold *hold = member->lock->hold;
    member->is_failing = 0;
    hl_turn_retune(hold, group->terms, group->since_us);
    hl_validity_follow(member->lock);
}

/* From here on all are renewed at the same time again: else the validity would depend on which master forgets next. */
static void join(struct hl_member *member)
{
    struct hl_group *group = member->group;
    hl_member_join(member);
    for (unsigned i = 0; i < group->count; i++)
        if (hl_member_has(&group->members[i]) && group->lock->terms->is_renewed)
            hl_watchdog_verify(group->members[i].lock->hold, 1);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct hl_member *member = user;
    struct hl_group *group = member->group;
    group->attempts += result->attempts;
    HL_REQUIRE(group->state == GROUP_WAITING || group->state == GROUP_HELD); /* the end of a wait withdraws its members'
                                                                                requests */
    if (group->state == GROUP_WAITING)
        group->ways->answered(member, result);
    else if (result->status == HILOCK_OK)
        join(member);
}

static uint64_t limit_us(const struct hl_group *group, int is_try)
{
    uint64_t left_us = group->ends_us == UINT64_MAX ? UINT64_MAX : hl_left_us(group->ends_us, hl_group_now_us(group)),
        try_us = hl_group_command_us(group);
    return is_try && try_us < left_us ? try_us : left_us;
}

hilock_status hl_member_ask(struct hl_member *member, int is_try)
{
    struct hl_group *group = member->group;
    struct hl_core *core = hl_group_core(group);
    if (group->attempt.id_last % IDS > IDS / 2) /* it was healed very often */
        hl_member_take_ids(group);
    return hl_acquire_begin(core, member->lock, is_try, limit_us(group, is_try), on_acquired, member);
}

static void on_extended(const struct hilock_result *result, void *user)
{
    struct hl_member *member = user;
    struct hl_group *group = member->group;
    struct hilock_lock *lock = group->lock;
    member->is_extending = 0;
    group->attempts += result->attempts;
    if (group->state == GROUP_WAITING && result->status == HILOCK_OK)
        group->ways->check(group);
    else if (group->state == GROUP_WAITING && result->status != HILOCK_LOST) /* a loss is reported by itself */
        hl_notice_post(hl_group_core(group), &group->notice, REPORT_WAITING);
    hl_lock_unref(lock);
}

/* The group lives until its answer, however the wait ends. */
void hl_member_extend(struct hl_member *member)
{
    struct hl_group *group = member->group;
    if (member->is_extending || hl_plain_ops.extend(hl_group_core(group), member->lock, group->terms->lease_ms,
                                                    on_extended, member) != HILOCK_OK)
        return;
    member->is_extending = 1;
    group->lock->refs++;
}
