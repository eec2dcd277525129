/* SPDX-License-Identifier: BSD-3-Clause */
/* news - see news.h. */
#include "group/news.h"

#include "base/contract.h"
#include "group/gather.h"
#include "group/held.h"
#include "group/members.h"
#include "lock/callback.h"
#include "lock/lease.h"
#include "lock/notice.h"

void hl_news_acquired(const struct hilock_result *result, void *user)
{
    struct hl_member *member = user;
    struct hl_group *group = member->group;
    group->attempts += result->attempts;
    HL_REQUIRE(group->state == GROUP_WAITING || group->state == GROUP_HELD); /* the end of a wait withdraws its members'
                                                                                requests */
    if (group->state == GROUP_WAITING)
        group->ways->answered(member, result);
    else if (result->status == HILOCK_OK)
        hl_held_heal(member);
}

void hl_news_lost(const struct hilock_event *event, void *user)
{
    struct hl_member *member = user;
    /* it may be granted by that, but losses are reported first (R6) */
    if (member->group->state == GROUP_WAITING && member->group->ways->is_voted)
        hl_notice_post(hl_group_core(member->group), &member->group->notice, REPORT_WAITING);
    else if (member->group->state == GROUP_WAITING)
        member->group->ways->lost(member->group);
    else if (member->group->state == GROUP_HELD)
        hl_held_lost(member, event);
}

/* Reported once in the whole wait, then as often as the user wants. */
static void report_waiting(struct hl_group *group, const struct hilock_event *event)
{
    struct hilock_lock *lock = group->lock;
    uint64_t now_us = hl_group_now_us(group), every_us = (uint64_t)lock->terms->wait_report_ms * 1000;
    struct hilock_event own =
        {.kind = HILOCK_EVENT_WAITING, .waited_ms = hl_lease_span_ms(now_us - group->begun_us),
         .holder = event->holder, .detail = event->detail};
    if (group->report_us > now_us)
        return;
    if (!group->report_us)
        hl_trace(&hl_group_core(group)->host, HL_ACQUIRE_WAITS,
                 &(struct hl_fact){.lock = lock, .name = lock->name->bytes});
    group->report_us = every_us ? now_us + every_us : UINT64_MAX;
    hl_callback_event(hl_group_core(group), lock, lock->terms->on_event, &own);
}

/* A group that holds already leaves the place: it no longer needs the vote. The user's callback comes last. */
static void on_waiting(struct hl_member *member, const struct hilock_event *event)
{
    struct hl_group *group = member->group;
    uint32_t epoch = group->lock->epoch;
    if (group->state == GROUP_HELD)
        hl_member_return(member);
    if (group->state != GROUP_WAITING)
        return;
    group->lock->refs++;
    report_waiting(group, event);
    if (group->ways->waits && group->lock->epoch == epoch && group->lock->terms->cell->core &&
        group->state == GROUP_WAITING)
        group->ways->waits(member);
    hl_lock_unref(group->lock);
}

void hl_news_event(const struct hilock_event *event, void *user)
{
    struct hl_member *member = user;
    struct hl_group *group = member->group;
    if (event->kind == HILOCK_EVENT_RELEASE_SETTLED)
        hl_gather_settled(group);
    else if (event->kind == HILOCK_EVENT_WAITING)
        on_waiting(member, event);
    else if (group->state == GROUP_HELD &&
             (event->kind == HILOCK_EVENT_RENEWAL_FAILED || event->kind == HILOCK_EVENT_RENEWED)) {
        member->is_failing = event->kind == HILOCK_EVENT_RENEWAL_FAILED;
        hl_held_report_failing(group, event->detail);
    }
}

void hl_news_alarm(struct hl_alarm *alarm)
{
    struct hl_group *group = (struct hl_group *)(void *)((char *)alarm - offsetof(struct hl_group, alarm));
    if (group->state == GROUP_HELD)
        group->ways->heal(group);
    else
        group->ways->tick(group);
}
