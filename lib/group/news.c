/* SPDX-License-Identifier: BSD-3-Clause */
/* news - see news.h.
 *
 * A loss is reported once: to on_lost, or, if an extend is pending, by its answer. Members are released before the
 * user's callback runs, but the requests leave with the next flush, after the callback: so the user learns of the loss
 * before the store grants the names to others. */
#include "group/news.h"

#include "base/contract.h"
#include "core/callback.h"
#include "core/lease.h"
#include "core/notice.h"
#include "group/gather.h"
#include "group/members.h"
#include "hold/watchdog.h"

/* ---- acquires ---- */

/* From here on all are renewed at the same time again: else the validity would depend on which master forgets next. */
static void heal(struct hl_member *member)
{
    struct hl_group *group = member->group;
    hl_member_join(member);
    for (unsigned i = 0; i < group->count; i++)
        if (hl_member_has(&group->members[i]) && group->held->is_renewed)
            hl_watchdog_verify(group->members[i].lock->hold, 1);
}

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
        heal(member);
}

/* ---- losses ---- */

static void on_lost(struct hl_member *member, const struct hilock_event *lost)
{
    struct hl_group *group = member->group;
    struct hilock_lock *lock = group->lock;
    struct hl_core *core = hl_group_core(group);
    struct hl_gather *extend = hl_gather_extending(group);
    struct hl_text detail;
    struct hilock_event event = {.kind = HILOCK_EVENT_LOST, .reason = lost->reason, .detail = detail.bytes};
    member->is_failing = 0;
    if (hl_members_held(group) >= group->needed) {
        if (lost->reason != HILOCK_REASON_HOLD_MAX && lost->reason != HILOCK_REASON_CLOSING)
            group->ways->missing(group);
        hl_notice_post(core, &group->notice, REPORT_WAITING);
        return;
    }
    hl_text_set(&detail, "%s", lost->detail);
    if (group->ways->lost_with)
        hl_text_add(&detail, group->ways->lost_with, group->count);
    hl_terms_trace(lock->terms, HL_HOLD_LOST,
                   &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .reason = lost->reason,
                                     .detail = detail.bytes, .waited_us = hl_now_us(&core->host) - group->since_us});
    hl_members_over(group);
    hl_members_return(group);
    if (extend)
        hl_gather_answer(extend, (struct hilock_result){.status = HILOCK_LOST, .detail = detail.bytes});
    else
        hl_callback_event(core, lock, lock->terms->on_lost, &event);
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
        on_lost(member, event);
}

/* ---- events ---- */

/* It fails while the renewals of too many members fail in a row. Fewer failures are not reported. */
void hl_news_failing(struct hl_group *group, const char *detail)
{
    struct hilock_lock *lock = group->lock;
    struct hl_core *core = hl_group_core(group);
    struct hilock_event event =
        {.detail = detail,
         .remaining_ms = hl_lease_span_ms(hl_left_us(hl_members_end_us(group), hl_now_us(&core->host)))};
    unsigned good = 0;
    for (unsigned i = 0; i < group->count; i++)
        good += hl_member_has(&group->members[i]) && !group->members[i].is_failing;
    if ((good < group->needed) == (group->is_failing != 0))
        return;
    group->is_failing = good < group->needed;
    event.kind = group->is_failing ? HILOCK_EVENT_RENEWAL_FAILED : HILOCK_EVENT_RENEWED;
    hl_callback_event(core, lock, lock->terms->on_event, &event);
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
        hl_news_failing(group, event->detail);
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
