/* SPDX-License-Identifier: BSD-3-Clause */
/* held - see held.h.
 *
 * A loss is reported once: to on_lost, or, if an extend is pending, by its answer. Members are released before the
 * user's callback runs, but the requests leave with the next flush, after the callback: so the user learns of the loss
 * before the store grants the names to others. */
#include "group/held.h"

#include "group/gather.h"
#include "group/members.h"
#include "lock/callback.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/notice.h"
#include "lock/reentry.h"
#include "lock/terms.h"
#include "lock/turn.h"
#include "lock/watchdog.h"

hilock_status hl_held_validity(struct hl_core *core, struct hilock_lock *lock, struct hilock_validity **ret)
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

void hl_held_end_validity(struct hl_group *group)
{
    if (group->validity)
        hl_validity_unref(group->validity);
    group->validity = NULL;
}

void hl_held_over(struct hl_group *group)
{
    struct hl_core *core = hl_group_core(group);
    group->state = GROUP_IDLE;
    core->held--;
    hl_notice_cancel(core, &group->notice);
    hl_alarm_end(&core->group_alarms, &group->alarm);
    hl_reentry_end(core, &group->desk);
    hl_held_end_validity(group);
}

/* ---- renewals ---- */

/* It fails while the renewals of too many members fail in a row. Fewer failures are not reported. */
void hl_held_report_failing(struct hl_group *group, const char *detail)
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

/* It was granted with a watchdog in any case. From here on it has the user's options, and no longer a lease than the
 * others. */
void hl_held_join(struct hl_member *member)
{
    struct hl_group *group = member->group;
    struct hl_hold *hold = member->lock->hold;
    member->is_failing = 0;
    hl_turn_retune(hold, group->held, group->since_us);
    if (group->validity &&
        hl_validity_join(hl_group_core(group), hold, group->validity, (unsigned)(member - group->members)) != 0)
        hl_member_return(member); /* a hold that other threads cannot see must not count */
}

/* From here on all are renewed at the same time again: else the validity would depend on which master forgets next. */
void hl_held_heal(struct hl_member *member)
{
    struct hl_group *group = member->group;
    hl_held_join(member);
    for (unsigned i = 0; i < group->count; i++)
        if (hl_member_has(&group->members[i]) && group->held->is_renewed)
            hl_watchdog_verify(group->members[i].lock->hold, 1);
}

/* ---- loss ---- */

void hl_held_lost(struct hl_member *member, const struct hilock_event *lost)
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
    hl_held_over(group);
    hl_members_return(group);
    if (extend)
        hl_gather_answer(extend, (struct hilock_result){.status = HILOCK_LOST, .detail = detail.bytes});
    else
        hl_callback_event(core, lock, lock->terms->on_lost, &event);
}
