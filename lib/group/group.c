/* SPDX-License-Identifier: BSD-3-Clause */
/* group - see group.h.
 *
 * A loss is reported once: by the answer to a pending extend, or else by on_lost. The members are released before
 * the user's callback runs, but these requests leave with the next flush, which comes after the callback. So the
 * user learns of the loss before the store grants the names to others. */
#include "group/group.h"

#include "base/container.h"
#include "core/notice.h"
#include "core/lease.h"
#include "group/gather.h"
#include "group/member.h"
#include "group/words.h"
#include "hold/validity.h"
#include "lock/inner.h"
#include "lock/machine.h"
#include "lock/reentry.h"

/* ---- the alarm ---- */

/* The alarm is never later than the end of the group's wait, when the waits of its members end, too. Requests of the
 * strategy's own may last longer. */
void hl_group_wake_in(struct hl_group *group, uint64_t least_us, uint64_t random_us)
{
    struct hl_core *core = hl_group_core(group);
    uint64_t at_us = hl_group_now_us(group) + least_us;
    if (random_us)
        at_us += hl_random_below(&core->host.random, random_us) + 1;
    hl_alarm_set(&core->groups->alarms, &group->alarm, at_us < group->ends_us ? at_us : group->ends_us);
}

void hl_group_rest(struct hl_group *group) { hl_alarm_stop(&hl_group_core(group)->groups->alarms, &group->alarm); }

void hl_group_pause(struct hl_group *group, uint64_t least_us, uint64_t random_us)
{
    group->step = HL_GROUP_PAUSED;
    hl_members_return(group, NULL);
    hl_group_wake_in(group, least_us, random_us);
}

/* When to heal: after the lease divided by this number. SOON is still late enough for the other masters to answer
 * renewals that were sent at the same time. */
enum { HEAL_LATER = 3, HEAL_SOON = 12 };

/* Sets the alarm for healing: the group is held, and asks again for members that are not. */
static void heal_within(struct hl_group *group, unsigned share)
{
    if (hl_members_count(group, hl_member_has) < group->count && group->lock->terms->is_renewed)
        hl_group_wake_in(group, hl_terms_lease_us(group->terms) / share, 0);
    else
        hl_group_rest(group);
}

void hl_group_alarm(struct hl_alarm *alarm)
{
    struct hl_group *group = HL_CONTAINER(alarm, struct hl_group, alarm);
    if (!hl_group_is_held(group)) {
        group->strategy->on_alarm(group);
        return;
    }
    if (hl_members_end_us(group) > hl_group_now_us(group))
        hl_members_ask(group, hl_member_is_able, 1);
    heal_within(group, HEAL_LATER);
}

void hl_groups_node(struct hl_core *core, int is_up)
{
    struct hilock_lock *lock;
    TAILQ_FOREACH(lock, &core->handles, entry) {
        struct hl_group *group = hl_group_of(lock);
        if (group && hl_group_is_held(group) && is_up)
            heal_within(group, HEAL_SOON);
        else if (group && group->state == GROUP_WAITING && group->strategy->node)
            group->strategy->node(group, is_up);
    }
}

/* ---- the end of the wait ---- */

/* Forgets all refusals of members. */
static void forget(struct hl_group *group)
{
    hl_group_keep(group, &group->refusal, HILOCK_UNREACHABLE, NULL);
    for (unsigned i = 0; i < group->count; i++) {
        hl_memory_free(hl_group_memory(group), group->votes[i].words);
        group->votes[i] = (struct hl_vote){.state = VOTE_OPEN};
    }
}

void hl_group_decide(struct hl_group *group, hilock_status status)
{
    hl_members_return(group, NULL);
    hl_alarm_end(&hl_group_core(group)->groups->alarms, &group->alarm);
    group->state = GROUP_DECIDED;
    if (status != group->refusal.status)
        hl_group_keep(group, &group->refusal, status, NULL);
    hl_notice_post(hl_group_core(group), &group->notice, REPORT_RESULT);
}

static struct hilock_result finish(struct hl_group *group, struct hilock_result result)
{
    const struct hilock_lock *lock = group->lock;
    struct hl_core *core = hl_group_core(group);
    uint64_t waited_us = hl_group_now_us(group) - group->attempt.begun_us;
    result.operation = HILOCK_OP_ACQUIRE;
    result.attempts = hl_members_attempts(group);
    result.votes = hl_members_votes(group);
    result.waited_ms = hl_lease_span_ms(waited_us);
    core->waiting--;
    hl_trace(&core->host, HL_ACQUIRE_ENDED,
             &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .status = result.status,
                               .waited_us = waited_us, .detail = result.detail, .count = result.attempts});
    return result;
}

/* Sets the terms that the members share. Only for a group that is held may a master be asked that is under its restart
 * guard: the votes of the others prove that nobody else holds the name. */
static void set_terms(const struct hl_group *group, int is_held)
{
    const struct hl_terms *of_user = group->lock->terms;
    group->terms->is_renewed = !is_held || of_user->is_renewed;
    group->terms->hold_max_ms = is_held ? of_user->hold_max_ms : 0;
    group->terms->owner = is_held ? TERMS_OF_HELD_GROUP : TERMS_OF_WAITING_GROUP;
}

/* Of the members that are not held, those with a try under way may still join the group; those that stand in a queue
 * behind a holder give up their place. */
void hl_group_grant(struct hl_group *group)
{
    struct hl_text votes;
    struct hilock_result result = {.status = HILOCK_OK, .detail = votes.bytes};
    forget(group);
    group->state = GROUP_HELD;
    group->since_us = hl_group_now_us(group);
    group->ends_us = UINT64_MAX;
    group->tenure++;
    hl_group_core(group)->held++;
    set_terms(group, 1);
    for (unsigned i = 0; i < group->count; i++) {
        const struct hilock_lock *lock = group->members[i].lock;
        if (hl_inner_has_hold(lock))
            hl_member_join(&group->members[i]);
        else if (hl_inner_is_asking(lock) && !hl_inner_is_trying(lock) && hl_inner_is_name_held(lock))
            hl_member_return(&group->members[i]);
    }
    heal_within(group, HEAL_LATER);
    if (hl_lock_is_voted(group->lock))
        hl_members_write_votes(group, &votes);
    else
        hl_text_set(&votes, "%s", hl_words_all_granted);
    hl_notice_give_result(group->lock, group->on_result, finish(group, result), group->user);
}

/* ---- what members report ---- */

/* Ends the hold of the group. The caller must give the members back. */
static void end(struct hl_group *group)
{
    struct hl_core *core = hl_group_core(group);
    group->state = GROUP_IDLE;
    core->held--;
    hl_notice_cancel(core, &group->notice);
    hl_alarm_end(&core->groups->alarms, &group->alarm);
    hl_reentry_end(core, group->lock);
    hl_validity_end(group->lock);
}

static void on_lost(const struct hilock_event *lost, void *user)
{
    struct hl_group *group = ((struct hl_member *)user)->group;
    struct hilock_lock *lock = group->lock;
    struct hl_text detail;
    struct hilock_event event = {.kind = HILOCK_EVENT_LOST, .reason = lost->reason, .detail = detail.bytes};
    int is_held = hl_group_is_held(group);
    if (!is_held || hl_members_count(group, hl_member_has) >= group->needed) {
        if (is_held && lost->reason != HILOCK_REASON_HOLD_MAX && lost->reason != HILOCK_REASON_CLOSING)
            heal_within(group, HEAL_SOON);
        /* a notice, because the strategy's reaction may be a report, and all losses are reported first (R6) */
        hl_notice_post(hl_group_core(group), &group->notice, REPORT_WAITING);
        return;
    }
    hl_text_set(&detail, "%s", lost->detail);
    if (!hl_lock_is_voted(group->lock))
        detail = hl_words_multi_lost(lost->detail, group->count);
    hl_terms_trace(lock->terms, HL_HOLD_LOST,
                   &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .reason = lost->reason,
                                     .detail = detail.bytes, .waited_us = hl_group_now_us(group) - group->since_us});
    end(group);
    hl_members_return(group, NULL);
    if (!hl_gather_answer_lost(group, detail.bytes))
        hl_notice_give_event(hl_group_core(group), lock, lock->terms->on_lost, &event);
}

static int is_well(const struct hl_member *member)
{
    return hl_member_has(member) && !hl_inner_is_failing(member->lock);
}

/* Called while the group is held, after a member's renewals began to fail or succeed again, and after the loss of a
 * vote. Renewing the group fails while the members whose renewals succeed are too few. That is reported when it begins
 * and when it ends; fewer failures are not reported. */
static void report_failing(struct hl_group *group, hilock_event_kind news, const char *detail)
{
    uint64_t left_us = hl_left_us(hl_members_end_us(group), hl_group_now_us(group));
    struct hilock_event event = {.kind = news, .detail = detail, .remaining_ms = hl_lease_span_ms(left_us)};
    int is_failing = hl_members_count(group, is_well) < group->needed;
    enum hl_group_state state = is_failing ? GROUP_FAILING : GROUP_HELD;
    if (state == group->state || is_failing != (news == HILOCK_EVENT_RENEWAL_FAILED))
        return;
    group->state = (uint8_t)state;
    hl_notice_give_event(hl_group_core(group), group->lock, group->lock->terms->on_event, &event);
}

/* Reports WAITING the first time that a member finds its name held in this wait, and then every wait_report_ms. */
static void report_waiting(struct hl_group *group, const struct hilock_event *event)
{
    struct hilock_lock *lock = group->lock;
    uint64_t now_us = hl_group_now_us(group), every_us = (uint64_t)lock->terms->wait_report_ms * 1000;
    struct hilock_event own =
        {.kind = HILOCK_EVENT_WAITING, .waited_ms = hl_lease_span_ms(now_us - group->attempt.begun_us),
         .holder = event->holder, .detail = event->detail, .holder_age_ms = event->holder_age_ms};
    int is_first = group->contention != CONTENTION_REPORTED;
    group->contention = CONTENTION_REPORTED;
    lock->refs++;
    if (is_first)
        hl_terms_trace(lock->terms, HL_ACQUIRE_WAITS, &(struct hl_fact){.lock = lock, .name = lock->name->bytes});
    if (is_first || (every_us && group->report_us <= now_us)) {
        group->report_us = now_us + every_us;
        hl_notice_give_event(hl_group_core(group), lock, lock->terms->on_event, &own);
    }
    if (hl_lock_core(lock) && group->state == GROUP_WAITING)
        group->strategy->check(group);
    hl_lock_unref(lock);
}

static void on_event(const struct hilock_event *event, void *user)
{
    struct hl_member *member = user;
    struct hl_group *group = member->group;
    if (event->kind == HILOCK_EVENT_RELEASE_SETTLED)
        hl_gather_settled(group);
    else if (event->kind == HILOCK_EVENT_WAITING && group->state == GROUP_WAITING)
        report_waiting(group, event);
    else if (event->kind == HILOCK_EVENT_WAITING && hl_group_is_held(group))
        hl_member_return(member); /* the vote is no longer needed, so the member gives up its place in the queue */
    else if (hl_group_is_held(group)) /* the event is RENEWAL_FAILED or RENEWED */
        report_failing(group, event->kind, event->detail);
}

/* Delivers the group's notice: the answer to an acquire that was not granted, or that a member was lost. */
static void report(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_group *group = HL_CONTAINER(notice, struct hl_group, notice);
    struct hilock_lock *lock = group->lock;
    struct hl_result_words *words = group->refusal.words;
    struct hilock_result result = {.status = group->refusal.status};
    if (hl_notice_take(core, notice) == REPORT_WAITING) {
        if (group->state == GROUP_WAITING)
            group->strategy->lost(group);
        else if (hl_group_is_held(group))
            report_failing(group, HILOCK_EVENT_RENEWAL_FAILED, hl_words_vote_lost);
        return;
    }
    hl_view_set_words(words, &result);
    group->refusal.words = NULL;
    group->state = GROUP_IDLE;
    lock->refs++;
    hl_notice_give_result(lock, group->on_result, finish(group, result), group->user);
    hl_memory_free(&core->host.memory, words);
    hl_lock_unref(lock);
}

/* The notice is a part of the group, which its teardown frees. */
static void forget_notice(struct hl_core *core, struct hl_notice *notice) { (void)core, (void)notice; }

/* ---- the handle's calls ---- */

static hilock_status acquire(struct hl_core *core, struct hilock_lock *lock, int is_try, uint64_t limit_us,
                             hilock_result_fn *on_result, void *user)
{
    struct hl_group *group = hl_group_of(lock);
    if (!group->end)
        group->end = hl_gather_new(group);
    if (!group->end || hl_alarm_begin(&core->groups->alarms, &group->alarm) != 0)
        return HILOCK_NO_MEMORY;
    group->on_result = on_result;
    group->user = user;
    group->attempt.begun_us = hl_group_now_us(group);
    group->ends_us = limit_us == UINT64_MAX ? UINT64_MAX : group->attempt.begun_us + limit_us;
    group->attempts = 0;
    group->attempt.ticket = 0;
    group->doublings = 0;
    group->looks = 0;
    group->contention = group->contention >= CONTENTION_FOUND ? CONTENTION_BEFORE : CONTENTION_UNKNOWN;
    forget(group);
    group->is_try = is_try != 0;
    group->state = GROUP_WAITING;
    group->step = HL_GROUP_PAUSED;
    group->at = 0;
    set_terms(group, 0);
    core->waiting++;
    hl_trace(&core->host, HL_ACQUIRE_BEGUN, &(struct hl_fact){.lock = lock, .name = lock->name->bytes});
    group->strategy->on_alarm(group);
    return HILOCK_OK;
}

static int cancel(struct hl_core *core, struct hilock_lock *lock)
{
    struct hl_group *group = hl_group_of(lock);
    (void)core;
    if (group->state == GROUP_WAITING || group->state == GROUP_DECIDED)
        hl_group_decide(group, HILOCK_CANCELLED);
    return group->state == GROUP_DECIDED;
}

static hilock_status release(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    struct hl_group *group = hl_group_of(lock);
    if (!hl_group_is_held(group))
        return HILOCK_NOT_HELD;
    hl_terms_trace(lock->terms, HL_HOLD_RELEASED,
                   &(struct hl_fact){.lock = lock, .name = lock->name->bytes,
                                     .waited_us = hl_now_us(&core->host) - group->since_us});
    end(group);
    hl_gather_release(group, on_result, user);
    return HILOCK_OK;
}

static void silence(struct hl_core *core, struct hilock_lock *lock)
{
    struct hl_group *group = hl_group_of(lock);
    lock->epoch++;
    if (group->state == GROUP_WAITING || group->state == GROUP_DECIDED) {
        (void)finish(group, (struct hilock_result){.status = HILOCK_CANCELLED});
        hl_notice_cancel(core, &group->notice);
        hl_members_return(group, NULL);
        hl_alarm_end(&core->groups->alarms, &group->alarm);
        group->state = GROUP_IDLE;
    } else
        (void)release(core, lock, NULL, NULL);
}

static struct hl_snapshot snapshot(const struct hilock_lock *lock)
{
    const struct hl_group *group = hl_group_of(lock);
    if (hl_group_is_held(group))
        return (struct hl_snapshot){.state = HILOCK_STATE_HELD, .since_us = group->since_us, .tenure = group->tenure,
                                    .ends_us = hl_members_end_us(group), .count = hl_lock_count(lock)};
    return (struct hl_snapshot){.state = group->state == GROUP_IDLE ? HILOCK_STATE_IDLE : HILOCK_STATE_WAITING,
                                .since_us = group->attempt.begun_us};
}

static uint64_t token(const struct hilock_lock *lock, size_t index)
{
    const struct hl_group *group = hl_group_of(lock);
    for (unsigned i = 0; hl_group_is_held(group) && !hl_lock_is_voted(group->lock) && i < group->count; i++)
        if (group->members[i].index == index)
            return hl_machine_ops.snapshot(group->members[i].lock).token;
    return 0;
}

static void teardown(struct hl_core *core, struct hilock_lock *lock)
{
    struct hl_group *group = hl_group_of(lock);
    lock->refs++;
    for (unsigned i = 0; i < group->count; i++)
        hl_machine_forget_lock(core, group->members[i].lock);
    hl_machine_forget_lock(core, lock); /* forgets the validity and the re-entries of the user's handle */
    hl_alarm_end(&core->groups->alarms, &group->alarm);
    hl_notice_cancel(core, &group->notice);
    hl_gather_forget(group);
    group->state = GROUP_IDLE;
    hl_lock_unref(lock);
}

/* An extend of a member may not be reported yet: the member's new epoch keeps that report from its group. */
static void done(struct hilock_lock *lock)
{
    struct hl_group *group = hl_group_of(lock);
    forget(group);
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].lock) {
            group->members[i].lock->epoch++;
            hl_lock_unref(group->members[i].lock);
        }
    hl_terms_unref(group->terms);
    hl_memory_free(hl_group_memory(group), group->end);
    hl_memory_free(hl_group_memory(group), group);
}

const struct hl_handle_ops hl_group_ops =
    {.acquire = acquire, .cancel = cancel, .release = release, .extend = hl_gather_extend, .silence = silence,
     .snapshot = snapshot, .inquire = hl_gather_inquire, .token = token, .teardown = teardown, .done = done};

/* ---- its life ---- */

/* The group reports to the user, and its members to the group. */
int hl_group_new(struct hl_core *core, struct hilock_lock *lock, const struct hl_group_strategy *strategy,
                 struct hl_name *const *names, unsigned count, unsigned needed)
{
    static const struct hl_notice_ops ops = {report, forget_notice};
    const struct hl_memory *memory = &core->host.memory;
    size_t size = sizeof(struct hl_group) + count * (sizeof(struct hl_member) + sizeof(struct hl_vote));
    struct hl_terms *terms = hl_memory_new(memory, sizeof *terms);
    struct hl_group *group = terms ? hl_memory_new(memory, size) : NULL;
    if (!group) {
        hl_memory_free(memory, terms);
        return -1;
    }
    *terms = *lock->terms;
    terms->refs = 1;
    hl_cell_ref(terms->cell);
    terms->owner = TERMS_OF_WAITING_GROUP;
    terms->on_lost = on_lost;
    terms->on_event = on_event;
    lock->ops = &hl_group_ops;
    lock->attempt = &group->attempt;
    *group = (struct hl_group){.notice = {.ops = &ops}, .lock = lock, .strategy = strategy, .terms = terms,
                               .count = count, .needed = needed,
                               .votes = (struct hl_vote *)(void *)(group->members + count),
                               .attempt = {.lock = lock}};
    TAILQ_INIT(&group->gathers);
    for (unsigned i = 0; i < count; i++) {
        struct hilock_lock *own = hl_memory_new(memory, sizeof *own);
        unsigned before = 0; /* how many names come before this one. strcmp() is enough: the names of a multi have no
                                zero byte, and those of a quorum are all the same name */
        if (!own)
            return -1;
        for (unsigned j = 0; j < count; j++) {
            int order = strcmp(names[j]->bytes, names[i]->bytes);
            before += order < 0 || (order == 0 && j < i);
        }
        *own = (struct hilock_lock){.refs = 1, .ops = &hl_machine_ops, .terms = terms, .name = names[i],
                                    .user = &group->members[before], .attempt = &group->attempt};
        group->members[before] = (struct hl_member){.group = group, .lock = own, .index = (uint8_t)i};
        terms->refs++;
        names[i]->refs++;
    }
    return 0;
}

void hl_groups_close(struct hl_core *core)
{
    struct hilock_lock *lock;
    TAILQ_FOREACH(lock, &core->handles, entry)
        if (lock->attempt && hl_group_of(lock)->state == GROUP_WAITING)
            hl_group_decide(hl_group_of(lock), HILOCK_CLOSED);
}
