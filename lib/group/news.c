/* SPDX-License-Identifier: BSD-3-Clause */
/* news - see news.h.
 *
 * A loss is reported once: to on_lost, or, if an extend is pending, by its answer. Members are released before the
 * user's callback runs, but the requests leave with the next flush, after the callback: so the user learns of the loss
 * before the store grants the names to others. */
#include "group/news.h"

#include "base/contract.h"
#include "base/plant.h"
#include "core/callback.h"
#include "core/lease.h"
#include "core/notice.h"
#include "group/gather.h"
#include "group/members.h"
#include "hold/watchdog.h"
#include "wait/known.h"

/* ---- the alarm ---- */

/* The members' waits end with the group's; requests of the way itself may last longer. */
void hl_news_wake_in(struct hl_group *group, uint64_t least_us, uint64_t random_us)
{
    struct hl_core *core = hl_group_core(group);
    uint64_t at_us = hl_group_now_us(group) + least_us;
    if (random_us)
        at_us += hl_random_below(&core->host.random, random_us) + 1;
    hl_alarm_set(&core->group_alarms, &group->alarm, at_us < group->ends_us ? at_us : group->ends_us);
}

void hl_news_rest(struct hl_group *group) { hl_alarm_stop(&hl_group_core(group)->group_alarms, &group->alarm); }

/* ---- healing: a member that is not held is asked for again, while enough are ---- */

static void heal_within(struct hl_group *group, unsigned share)
{
    int is_missing = hl_members_held(group) < group->count && group->lock->terms->is_renewed;
    if (is_missing && !HL_PLANTED(QUORUM_UNHEALED))
        hl_news_wake_in(group, hl_terms_lease_us(group->terms) / share, 0);
    else
        hl_news_rest(group);
}

/* Members that are asked for and not refused yet may join; a place in a queue is left. */
void hl_news_granted(struct hl_group *group)
{
    for (unsigned i = 0; i < group->count; i++) {
        struct hl_acquire *acquire = group->members[i].lock->acquire;
        if (acquire && !acquire->is_try && hl_known_is_held(acquire->lock->name))
            hl_member_return(&group->members[i]);
    }
    heal_within(group, 3);
}

static void heal(struct hl_group *group)
{
    uint64_t now_us = hl_group_now_us(group), patience_us = hl_members_patience_us(group);
    int may_ask = hl_members_end_us(group) > now_us;
    for (unsigned i = 0; may_ask && i < group->count; i++) {
        struct hl_member *member = &group->members[i];
        int is_idle = !hl_member_has(member) && !member->lock->acquire;
        if (is_idle && hl_node_is_able(hl_member_node(member), now_us, patience_us))
            (void)hl_member_ask(member, 1);
    }
    heal_within(group, 3);
}

/* A moment later, so that the other masters' answers to renewals of the same time come first. */
static void heal_soon(struct hl_group *group) { heal_within(group, 12); }

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
            heal_soon(group);
        hl_notice_post(core, &group->notice, REPORT_WAITING);
        return;
    }
    hl_text_set(&detail, "%s", lost->detail);
    if (!group->ways->is_voted)
        hl_text_add(&detail, "; all %u names of this multi are released", group->count);
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
    /* what the way does then may be a report, but losses are reported first (R6) */
    if (member->group->state == GROUP_WAITING)
        hl_notice_post(hl_group_core(member->group), &member->group->notice, REPORT_WAITING);
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
    group->has_waited = 1;
    group->lock->refs++;
    report_waiting(group, event);
    if (group->lock->epoch == epoch && group->lock->terms->cell->core && group->state == GROUP_WAITING)
        group->ways->check(group);
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
        heal(group);
    else
        group->ways->tick(group);
}

void hl_news_node(struct hl_group *group, int is_up)
{
    if (group->state == GROUP_HELD && is_up)
        heal_soon(group);
    else if (group->state == GROUP_WAITING && group->ways->node)
        group->ways->node(group, is_up);
}
