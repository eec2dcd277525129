/* SPDX-License-Identifier: BSD-3-Clause */
/* group - see group.h. */
#include "group/group.h"

#include "core/callback.h"
#include "core/lease.h"
#include "core/name.h"
#include "core/notice.h"
#include "group/gather.h"
#include "group/member.h"
#include "group/news.h"
#include "group/verdict.h"
#include "hold/validity.h"
#include "lock/machine.h"
#include "lock/plain.h"
#include "lock/reentry.h"

void hl_group_pause(struct hl_group *group, uint64_t least_us, uint64_t random_us)
{
    group->step = HL_GROUP_PAUSED;
    hl_members_return(group, NULL);
    hl_news_wake_in(group, least_us, random_us);
}

/* Its wait is over, or was not begun. */
static void give_up(struct hl_group *group, enum hl_group_state state)
{
    hl_members_return(group, NULL);
    hl_alarm_end(&hl_group_core(group)->group_alarms, &group->alarm);
    group->state = (uint8_t)state;
}

static void forget_refusal(struct hl_group *group) { hl_group_keep(group, &group->refusal, HILOCK_UNREACHABLE, NULL); }

void hl_group_decide(struct hl_group *group, hilock_status status)
{
    give_up(group, GROUP_DECIDED);
    if (status != group->refusal.status)
        hl_group_keep(group, &group->refusal, status, NULL);
    hl_notice_post(hl_group_core(group), &group->notice, REPORT_RESULT);
}

/* Its acquire is over. */
static struct hilock_result finish(struct hl_group *group, struct hilock_result result)
{
    const struct hilock_lock *lock = group->lock;
    struct hl_core *core = hl_group_core(group);
    uint64_t waited_us = hl_group_now_us(group) - group->begun_us;
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

/* A master under its restart guard is asked only for a group that is held: the others prove that. */
static void set_terms(const struct hl_group *group, int is_held)
{
    const struct hl_terms *of_user = group->lock->terms;
    group->terms->is_renewed = !is_held || of_user->is_renewed;
    group->terms->hold_max_ms = is_held ? of_user->hold_max_ms : 0;
    group->terms->is_unguarded = is_held != 0;
}

void hl_group_grant(struct hl_group *group)
{
    struct hl_text votes;
    struct hilock_result result = {.status = HILOCK_OK, .detail = votes.bytes};
    forget_refusal(group);
    group->state = GROUP_HELD;
    group->since_us = hl_group_now_us(group);
    group->ends_us = UINT64_MAX;
    group->tenure++;
    group->is_failing = 0;
    hl_group_core(group)->held++;
    set_terms(group, 1);
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].lock->hold)
            hl_member_join(&group->members[i]);
    hl_news_granted(group);
    if (group->ways->is_voted)
        hl_verdict_of_votes(group, &votes);
    else
        hl_text_set(&votes, "granted");
    hl_callback_result(group->lock, group->on_result, finish(group, result), group->user);
}

/* ---- its notice: an acquire without a grant, or a lost member ---- */

static void report(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_group *group = (struct hl_group *)(void *)notice;
    struct hilock_lock *lock = group->lock;
    struct hl_last_words *words = group->refusal.words;
    struct hilock_result result = {.status = group->refusal.status};
    if (hl_notice_take(core, notice) == REPORT_WAITING) {
        if (group->state == GROUP_WAITING)
            group->ways->lost(group);
        else if (group->state == GROUP_HELD)
            hl_news_failing(group, "a vote was lost, and renewals of others fail");
        return;
    }
    hl_last_words_say(words, &result);
    group->refusal.words = NULL;
    group->state = GROUP_IDLE;
    lock->refs++;
    hl_callback_result(lock, group->on_result, finish(group, result), group->user);
    hl_memory_free(&core->host.memory, words);
    hl_lock_unref(lock);
}

/* its teardown frees it */
static void forget_notice(struct hl_core *core, struct hl_notice *notice) { (void)core, (void)notice; }

/* ---- the handle's calls ---- */

static hilock_status acquire(struct hl_core *core, struct hilock_lock *lock, uint32_t wait_ms,
                             hilock_result_fn *on_result, void *user)
{
    struct hl_group *group = hl_group_of(lock);
    uint64_t limit_us = wait_ms == HILOCK_TRY ? hl_group_command_us(group) : (uint64_t)wait_ms * 1000;
    if (!group->end)
        group->end = hl_gather_new(group);
    if (!group->end || hl_alarm_begin(&core->group_alarms, &group->alarm) != 0)
        return HILOCK_NO_MEMORY;
    group->on_result = on_result;
    group->user = user;
    group->begun_us = hl_group_now_us(group);
    group->ends_us = wait_ms == HILOCK_FOREVER ? UINT64_MAX : group->begun_us + limit_us;
    group->report_us = 0;
    group->attempts = 0;
    group->attempt.ticket = 0;
    group->failing = 0;
    group->had_waited = group->has_waited;
    group->has_waited = 0;
    forget_refusal(group);
    hl_verdict_forget(group);
    group->is_try = wait_ms == HILOCK_TRY;
    group->state = GROUP_WAITING;
    set_terms(group, 0);
    core->waiting++;
    hl_trace(&core->host, HL_ACQUIRE_BEGUN, &(struct hl_fact){.lock = lock, .name = lock->name->bytes});
    group->ways->begin(group);
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

static void release(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    struct hl_group *group = hl_group_of(lock);
    hl_terms_trace(lock->terms, HL_HOLD_RELEASED,
                   &(struct hl_fact){.lock = lock, .name = lock->name->bytes,
                                     .waited_us = hl_now_us(&core->host) - group->since_us});
    hl_members_over(group);
    hl_gather_release(group, on_result, user);
}

static void silence(struct hl_core *core, struct hilock_lock *lock)
{
    struct hl_group *group = hl_group_of(lock);
    lock->epoch++;
    if (group->state == GROUP_WAITING || group->state == GROUP_DECIDED) {
        (void)finish(group, (struct hilock_result){.status = HILOCK_CANCELLED});
        hl_notice_cancel(core, &group->notice);
        give_up(group, GROUP_IDLE);
        forget_refusal(group);
    } else if (group->state == GROUP_HELD)
        release(core, lock, NULL, NULL);
}

static uint64_t token(const struct hilock_lock *lock, size_t index)
{
    const struct hl_group *group = hl_group_of(lock);
    for (unsigned i = 0; group->state == GROUP_HELD && !group->ways->is_voted && i < group->count; i++)
        if (group->members[i].index == index && group->members[i].lock->hold)
            return hl_plain_ops.look(group->members[i].lock).token;
    return 0;
}

static void teardown(struct hl_core *core, struct hilock_lock *lock)
{
    struct hl_group *group = hl_group_of(lock);
    lock->refs++;
    for (unsigned i = 0; i < group->count; i++) {
        hl_machine_forget_lock(core, group->members[i].lock);
        lock->refs -= group->members[i].is_extending; /* ours, from above */
        group->members[i].is_extending = 0;
    }
    hl_alarm_end(&core->group_alarms, &group->alarm);
    hl_notice_cancel(core, &group->notice);
    hl_validity_end(lock);
    hl_gather_forget(group);
    hl_reentry_forget(core, lock);
    hl_verdict_forget(group);
    forget_refusal(group);
    group->state = GROUP_IDLE;
    hl_lock_unref(lock);
}

static void done(struct hilock_lock *lock)
{
    struct hl_group *group = hl_group_of(lock);
    hl_verdict_forget(group);
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].lock)
            hl_lock_unref(group->members[i].lock);
    hl_terms_unref(group->terms);
    hl_memory_free(hl_group_memory(group), group->end);
    hl_memory_free(hl_group_memory(group), group);
}

const struct hl_handle_ops hl_group_ops =
    {.acquire = acquire, .cancel = cancel, .release = release, .extend = hl_gather_extend, .silence = silence,
     .look = hl_members_look, .peek = hl_gather_peek, .force = hl_gather_force,
     .token = token, .teardown = teardown, .done = done};

/* ---- its life ---- */

static int is_before(const struct hl_name *a, const struct hl_name *b)
{
    int differs = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return differs ? differs < 0 : a->length < b->length;
}

static struct hilock_lock *handle_of(struct hl_core *core, struct hl_member *member, struct hl_name *name,
                                     struct hl_terms *terms)
{
    struct hilock_lock *lock = hl_memory_new(&core->host.memory, sizeof *lock);
    if (!lock)
        return NULL;
    *lock = (struct hilock_lock){.refs = 1, .ops = &hl_plain_ops, .terms = terms, .name = name, .user = member,
                                  .attempt = &member->group->attempt};
    terms->refs++;
    name->refs++;
    return lock;
}

static void sort(struct hl_member *members, struct hl_name *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned at = i;
        for (; at > 0 && is_before(names[i], names[members[at - 1].index]); at--)
            members[at].index = members[at - 1].index;
        members[at].index = (uint8_t)i;
    }
}

int hl_group_new(struct hl_core *core, struct hilock_lock *lock, const struct hl_group_ways *ways,
                 struct hl_name *const *names, unsigned count, unsigned needed, struct hl_terms *terms)
{
    static const struct hl_notice_ops ops = {report, forget_notice};
    struct hl_group *group = hl_memory_new(
        &core->host.memory, sizeof *group + count * (sizeof group->members[0] + sizeof group->votes[0]));
    int is_whole = 1;
    if (!group) {
        hl_terms_unref(terms);
        return -1;
    }
    lock->ops = &hl_group_ops;
    lock->attempt = &group->attempt;
    *group = (struct hl_group){.notice = {.ops = &ops}, .lock = lock, .ways = ways, .terms = terms, .count = count,
                               .needed = needed, .votes = (struct hl_vote *)(void *)(group->members + count),
                               .attempt = {.lock = lock}};
    TAILQ_INIT(&group->gathers);
    sort(group->members, names, count);
    for (unsigned i = 0; i < count; i++) {
        group->members[i].group = group;
        group->members[i].lock = handle_of(core, &group->members[i], names[group->members[i].index], terms);
        is_whole = is_whole && group->members[i].lock;
    }
    return is_whole ? 0 : -1;
}

void hl_groups_close(struct hl_core *core)
{
    struct hilock_lock *lock;
    TAILQ_FOREACH(lock, &core->handles, entry)
        if (lock->attempt && hl_group_of(lock)->state == GROUP_WAITING)
            hl_group_decide(hl_group_of(lock), HILOCK_CLOSED);
}
