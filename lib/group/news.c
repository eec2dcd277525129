/* SPDX-License-Identifier: BSD-3-Clause */
/* news - see news.h.
 *
 * A loss is reported once: to on_lost, or, if an extend is pending, by its answer. Members are released before the
 * user's callback runs, but the requests leave with the next flush, after the callback: so the user learns of the loss
 * before the store grants the names to others. */
#include "group/news.h"

#include "base/plant.h"
#include "core/callback.h"
#include "core/lease.h"
#include "core/notice.h"
#include "group/gather.h"
#include "group/member.h"
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

/* As shares of the lease; other masters' answers to renewals of the same time come before SOON. */
enum { HEAL_LATER = 3, HEAL_SOON = 12 };

static void heal_within(struct hl_group *group, unsigned share)
{
    int is_missing = hl_members_count(group, hl_member_has) < group->count && group->lock->terms->is_renewed;
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
    heal_within(group, HEAL_LATER);
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
    heal_within(group, HEAL_LATER);
}

/* ---- losses, and other events ---- */

/* Too few are left. */
static void lose(struct hl_group *group, const struct hilock_event *lost)
{
    struct hilock_lock *lock = group->lock;
    struct hl_text detail;
    struct hilock_event event = {.kind = HILOCK_EVENT_LOST, .reason = lost->reason, .detail = detail.bytes};
    hl_text_set(&detail, "%s", lost->detail);
    if (!group->ways->is_voted)
        hl_text_add(&detail, "; all %u names of this multi are released", group->count);
    hl_terms_trace(lock->terms, HL_HOLD_LOST,
                   &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .reason = lost->reason,
                                     .detail = detail.bytes, .waited_us = hl_group_now_us(group) - group->since_us});
    hl_members_over(group);
    hl_members_return(group, NULL);
    if (!hl_gather_lost(group, detail.bytes))
        hl_callback_event(hl_group_core(group), lock, lock->terms->on_lost, &event);
}

void hl_news_lost(const struct hilock_event *lost, void *user)
{
    struct hl_group *group = ((struct hl_member *)user)->group;
    int is_held = group->state == GROUP_HELD;
    if (is_held && hl_members_count(group, hl_member_has) < group->needed) {
        lose(group, lost);
        return;
    }
    if (is_held && lost->reason != HILOCK_REASON_HOLD_MAX && lost->reason != HILOCK_REASON_CLOSING)
        heal_within(group, HEAL_SOON);
    /* what the way does in a wait may be a report, but losses are reported first (R6) */
    hl_notice_post(hl_group_core(group), &group->notice, REPORT_WAITING);
}

static int is_well(const struct hl_member *member) { return hl_member_has(member) && !member->is_failing; }

/* It fails while the renewals of too many members fail in a row. Fewer failures are not reported. */
void hl_news_failing(struct hl_group *group, const char *detail)
{
    uint64_t left_us = hl_left_us(hl_members_end_us(group), hl_group_now_us(group));
    struct hilock_event event = {.detail = detail, .remaining_ms = hl_lease_span_ms(left_us)};
    int is_failing = hl_members_count(group, is_well) < group->needed;
    if (is_failing == group->is_failing)
        return;
    group->is_failing = (uint8_t)is_failing;
    event.kind = is_failing ? HILOCK_EVENT_RENEWAL_FAILED : HILOCK_EVENT_RENEWED;
    hl_callback_event(hl_group_core(group), group->lock, group->lock->terms->on_event, &event);
}

/* Reported once in the whole wait, then as often as the user wants. A group that holds already leaves the place: it no
 * longer needs the vote. */
static void on_waiting(struct hl_member *member, const struct hilock_event *event)
{
    struct hl_group *group = member->group;
    struct hilock_lock *lock = group->lock;
    struct hl_core *core = hl_group_core(group);
    uint32_t epoch = lock->epoch;
    uint64_t now_us = hl_group_now_us(group), every_us = (uint64_t)lock->terms->wait_report_ms * 1000;
    struct hilock_event own =
        {.kind = HILOCK_EVENT_WAITING, .waited_ms = hl_lease_span_ms(now_us - group->begun_us),
         .holder = event->holder, .detail = event->detail};
    if (group->state == GROUP_HELD)
        hl_member_return(member);
    if (group->state != GROUP_WAITING)
        return;
    group->has_waited = 1;
    lock->refs++;
    if (!group->report_us)
        hl_trace(&core->host, HL_ACQUIRE_WAITS, &(struct hl_fact){.lock = lock, .name = lock->name->bytes});
    if (group->report_us <= now_us) {
        group->report_us = every_us ? now_us + every_us : UINT64_MAX;
        hl_callback_event(core, lock, lock->terms->on_event, &own);
    }
    if (lock->epoch == epoch && lock->terms->cell->core && group->state == GROUP_WAITING)
        group->ways->check(group);
    hl_lock_unref(lock);
}

void hl_news_event(const struct hilock_event *event, void *user)
{
    struct hl_member *member = user;
    struct hl_group *group = member->group;
    if (event->kind == HILOCK_EVENT_RELEASE_SETTLED)
        hl_gather_settled(group);
    else if (event->kind == HILOCK_EVENT_WAITING)
        on_waiting(member, event);
    else if (group->state == GROUP_HELD) { /* RENEWAL_FAILED, or RENEWED */
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

void hl_news_node(struct hl_core *core, int is_up)
{
    struct hilock_lock *lock;
    TAILQ_FOREACH(lock, &core->handles, entry) {
        struct hl_group *group = hl_group_of(lock);
        if (group && group->state == GROUP_HELD && is_up)
            heal_within(group, HEAL_SOON);
        else if (group && group->state == GROUP_WAITING && group->ways->node)
            group->ways->node(group, is_up);
    }
}
