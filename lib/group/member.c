/* SPDX-License-Identifier: BSD-3-Clause */
/* member - see member.h. The verdict over all votes is TIMED_OUT if the only votes that the group lacks are held by
 * others. Otherwise the first fault decides, and silence decides only if there is no fault. */
#include "group/member.h"

#include "base/contract.h"
#include "core/lease.h"
#include "core/words.h"
#include "group/words.h"
#include "lock/machine.h"

enum { IDS = 1 << HL_VOTE_ID_BITS, RTT_MIN_US = 1000, PATIENCE_MIN_US = 100000, PATIENCE_RTTS = 8 };

void hl_member_take_ids(struct hl_group *group)
{
    struct hl_core *core = hl_group_core(group);
    group->attempt.id_last = (core->id_last | (IDS - 1)) + 1;
    core->id_last = group->attempt.id_last + IDS - 1;
}

/* Every member is granted with a watchdog. From now on the user's options are valid for it, so its lease lasts no
 * longer than those of the others. */
void hl_member_join(struct hl_member *member)
{
    hl_inner_change_terms(member->lock, member->group->terms, member->group->since_us);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct hl_member *member = user;
    struct hl_group *group = member->group;
    group->attempts += result->attempts;
    /* the end of a wait withdraws the members' requests, so no answer comes in another state */
    HL_REQUIRE(group->state == GROUP_WAITING || hl_group_is_held(group));
    if (group->state == GROUP_WAITING) {
        group->strategy->answered(member, result);
        return;
    }
    if (result->status != HILOCK_OK)
        return;
    hl_member_join(member);
    /* All members are renewed now, so that they are in step again. Otherwise the group's validity would depend on which
     * master forgets the hold next. */
    for (unsigned i = 0; group->lock->terms->is_renewed && i < group->count; i++)
        if (hl_member_has(&group->members[i]))
            hl_inner_renew_now(group->members[i].lock);
}

int hl_member_is_able(const struct hl_member *member)
{
    return hl_node_is_able(hl_member_node(member), hl_members_patience_us(member->group));
}

hilock_status hl_member_ask(struct hl_member *member, int is_try)
{
    struct hl_group *group = member->group;
    struct hl_core *core = hl_group_core(group);
    uint64_t limit_us = group->ends_us == UINT64_MAX ? UINT64_MAX : hl_left_us(group->ends_us, hl_now_us(&core->host));
    if (is_try && limit_us > hl_group_command_us(group))
        limit_us = hl_group_command_us(group);
    if (group->attempt.id_last % IDS > IDS / 2) /* healing has used up half of the block of ids */
        hl_member_take_ids(group);
    hilock_status status = hl_inner_ask(member->lock, is_try, limit_us, on_acquired, member);
    if (status != HILOCK_OK)
        hl_group_keep(group, hl_member_vote(member), status, NULL);
    return status;
}

void hl_members_ask(struct hl_group *group, int (*may)(const struct hl_member *member), int is_try)
{
    for (unsigned i = 0; i < group->count; i++) {
        struct hl_member *member = &group->members[i];
        if (!hl_member_has(member) && !hl_inner_is_asking(member->lock) && may(member))
            (void)hl_member_ask(member, is_try);
    }
}

static void on_extended(const struct hilock_result *result, void *user)
{
    struct hl_member *member = user;
    struct hl_group *group = member->group;
    group->attempts += result->attempts;
    if (group->state == GROUP_WAITING && result->status == HILOCK_OK)
        group->strategy->check(group);
    else if (group->state == GROUP_WAITING && result->status != HILOCK_LOST) /* on_lost reports a loss */
        hl_notice_post(hl_group_core(group), &group->notice, REPORT_WAITING);
}

void hl_member_extend(struct hl_member *member)
{
    struct hl_group *group = member->group;
    if (!hl_inner_is_extending(member->lock))
        (void)hl_machine_ops.extend(hl_group_core(group), member->lock, group->terms->lease_ms, on_extended, member);
}

void hl_member_return(struct hl_member *member)
{
    struct hilock_lock *lock = member->lock;
    if (hl_inner_is_asking(lock)) {
        member->group->attempts += hl_inner_attempts(lock);
        hl_inner_withdraw(lock);
    }
    if (hl_inner_has_hold(lock))
        hl_inner_release(lock, NULL, NULL);
}

/* Releases in reverse order. A multi that takes its names in order waits for the first one: when it gets that name, the
 * others are usually free already. */
void hl_members_return(struct hl_group *group, const struct hl_member *but)
{
    for (unsigned i = group->count; i-- > 0;)
        if (&group->members[i] != but)
            hl_member_return(&group->members[i]);
}

unsigned hl_members_attempts(const struct hl_group *group)
{
    unsigned attempts = group->attempts;
    for (unsigned i = 0; i < group->count; i++)
        attempts += hl_inner_attempts(group->members[i].lock);
    return attempts;
}

unsigned hl_members_count(const struct hl_group *group, int (*is)(const struct hl_member *member))
{
    unsigned found = 0;
    for (unsigned i = 0; i < group->count; i++)
        found += is(&group->members[i]) != 0;
    return found;
}

unsigned hl_members_votes(const struct hl_group *group)
{
    return hl_group_is_held(group) && hl_lock_is_voted(group->lock) ? hl_members_count(group, hl_member_has) : 0;
}

unsigned hl_members_freshen(struct hl_group *group)
{
    unsigned good = 0;
    for (unsigned i = 0; i < group->count; i++) {
        const struct hilock_lock *lock = group->members[i].lock;
        if (!hl_member_has(&group->members[i]))
            continue;
        if (!hl_inner_is_good(lock, group->lock->terms))
            hl_member_extend(&group->members[i]);
        else
            good += !hl_inner_is_extending(lock);
    }
    return good;
}

static uint64_t slowest_rtt_us(const struct hl_group *group, int is_mean, uint64_t least_us)
{
    for (unsigned i = 0; i < group->count; i++) {
        const struct hl_node *node = hl_member_node(&group->members[i]);
        uint64_t rtt_us = is_mean ? node->mean_rtt_us : node->min_rtt_us;
        if (node->is_up && rtt_us > least_us)
            least_us = rtt_us;
    }
    return least_us;
}

uint64_t hl_members_rtt_us(const struct hl_group *group) { return slowest_rtt_us(group, 1, RTT_MIN_US); }

/* The patience doubles each time it has proved too short, because the masters may have become slower. */
uint64_t hl_members_patience_us(const struct hl_group *group)
{
    return (PATIENCE_RTTS * slowest_rtt_us(group, 0, PATIENCE_MIN_US / PATIENCE_RTTS)) << group->doublings;
}

static uint64_t ends_us_of(const struct hl_member *member)
{
    return hl_member_has(member) ? hl_inner_ends_us(member->lock) : 0;
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

void hl_members_learn(struct hl_group *group, int is_over)
{
    for (unsigned i = 0; i < group->count; i++) {
        const struct hilock_lock *lock = group->members[i].lock;
        hilock_status status = hl_inner_is_asking(lock) ? hl_inner_outlook(lock) : HILOCK_OK;
        if (hl_inner_is_asking(lock) && (is_over || status != HILOCK_UNREACHABLE))
            hl_group_keep(group, &group->votes[i], status, hl_inner_outlook_words(lock, status));
    }
}

/* Makes the vote of a member that holds a YES. Another one that has not refused for good is SILENT if its master is
 * away, and a FAULT if that is under its restart guard. A vote whose status changes loses its words. */
static void settle(struct hl_group *group, unsigned i)
{
    const struct hl_node *node = hl_member_node(&group->members[i]);
    struct hl_vote *vote = &group->votes[i];
    hilock_status status = vote->status;
    if (hl_inner_has_hold(group->members[i].lock))
        status = HILOCK_OK;
    else if (vote->state != VOTE_REFUSED && !node->is_up)
        status = HILOCK_UNREACHABLE;
    else if (vote->state != VOTE_REFUSED && hl_node_guard_remaining_us(node))
        status = HILOCK_UNWRITABLE;
    else
        return;
    if (vote->state == VOTE_OPEN || vote->status != status)
        hl_group_keep(group, vote, status, NULL);
}

static int has_refused(const struct hl_member *member) { return hl_member_vote(member)->state == VOTE_REFUSED; }

int hl_members_are_final(const struct hl_group *group)
{
    return hl_members_count(group, has_refused) > group->count - group->needed;
}

/* A master that has not answered yet, or was not asked, says nothing against the grant. */
static hilock_status verdict(const struct hl_group *group)
{
    int is_final = hl_members_are_final(group), is_held = group->contention >= CONTENTION_FOUND;
    unsigned willing = 0, held = 0;
    hilock_status fault = HILOCK_UNREACHABLE; /* the first that counts */
    for (unsigned i = group->count; i-- > 0;) {
        const struct hl_vote *vote = &group->votes[i];
        willing += vote->state == VOTE_YES || vote->state == VOTE_OPEN;
        held += vote->state == VOTE_HELD;
        if (vote->state == VOTE_REFUSED || (vote->state == VOTE_FAULT && !is_final))
            fault = vote->status;
    }
    return !is_final && willing + held >= group->needed && (held || is_held) ? HILOCK_TIMED_OUT : fault;
}

/* Adds the masters that did not grant; if the group was not granted, only those that are away. */
static void add_missing(const struct hl_group *group, int is_granted, struct hl_text *text)
{
    int is_first = 1;
    for (unsigned i = 0; i < group->count; i++) {
        const struct hilock_lock *member = group->members[i].lock;
        const struct hl_node *node = hl_member_node(&group->members[i]);
        const char *why = *hl_node_why(node) ? hl_node_why(node) : hl_words_unconnected;
        if (is_granted ? hl_inner_has_hold(member) : node->is_up)
            continue;
        if (is_granted)
            why = !node->is_up                 ? hl_words_away
                  : hl_inner_is_asking(member) ? hl_words_unanswered
                                               : hl_words_no_vote;
        hl_words_add_master(text, is_first, is_granted, hl_node_name(node), why);
        is_first = 0;
    }
}

hilock_status hl_members_verdict(struct hl_group *group, int is_over)
{
    unsigned attempts = hl_members_attempts(group), agreed;
    struct hilock_result result = {.detail = NULL};
    struct hl_text text;
    hl_members_learn(group, is_over);
    for (unsigned i = 0; i < group->count; i++)
        settle(group, i);
    result.status = verdict(group);
    const struct hl_vote *vote = hl_vote_most_agreed(group->votes, group->count, result.status, &agreed);
    hl_view_set_words(vote ? vote->words : NULL, &result);
    if (result.status == HILOCK_UNREACHABLE)
        text = hl_words_acquire_silence(group->needed, group->count,
                                        hl_lease_span_ms(hl_group_now_us(group) - group->attempt.begun_us), attempts);
    else if (vote && !vote->words && vote->state == VOTE_FAULT)
        hl_words_refusal(group->members[vote - group->votes].lock, result.status, "", &text);
    else
        hl_text_set(&text, "%s", result.detail);
    add_missing(group, 0, &text);
    result.detail = text.bytes;
    hl_group_keep(group, &group->refusal, result.status, hl_view_copy_words(hl_group_memory(group), &result));
    return result.status;
}

void hl_members_write_votes(const struct hl_group *group, struct hl_text *text)
{
    *text = hl_words_votes(hl_members_count(group, hl_member_has), group->count);
    add_missing(group, 1, text);
    hl_words_add_validity(text, hl_lease_span_ms(hl_left_us(hl_members_end_us(group), hl_group_now_us(group))));
}
