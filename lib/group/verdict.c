/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict - see verdict.h. It is TIMED_OUT if the group lacks only votes that others hold; else faults count before
 * silence. */
#include "group/verdict.h"

#include "core/lease.h"
#include "core/name.h"
#include "group/members.h"
#include "hold/hold.h"
#include "hold/messages.h"
#include "wait/known.h"
#include "wire/holder.h"

int hl_verdict_is_lasting(hilock_status refusal)
{
    return refusal != HILOCK_OK && refusal != HILOCK_TIMED_OUT && refusal != HILOCK_UNREACHABLE &&
           refusal != HILOCK_UNWRITABLE && refusal != HILOCK_NO_MEMORY;
}

static void set(const struct hl_group *group, unsigned i, hilock_status status, struct hl_last_words *words)
{
    hl_group_keep(group, &group->votes[i], status, words);
}

void hl_verdict_keep(struct hl_member *member, const struct hilock_result *result)
{
    const struct hl_group *group = member->group;
    set(group, (unsigned)(member - group->members), result->status,
        result->status == HILOCK_OK ? NULL : hl_last_words_copy(hl_group_memory(group), result));
}

void hl_verdict_learn(struct hl_group *group, int is_over)
{
    struct hl_core *core = hl_group_core(group);
    for (unsigned i = 0; i < group->count; i++) {
        const struct hl_acquire *acquire = group->members[i].lock->acquire;
        hilock_status status = acquire ? hl_known_status(core, acquire) : HILOCK_OK;
        if (acquire && (is_over || status != HILOCK_UNREACHABLE))
            set(group, i, status, hl_last_words_of(core, acquire, status));
    }
}

void hl_verdict_forget(struct hl_group *group)
{
    for (unsigned i = 0; i < group->count; i++)
        set(group, i, HILOCK_OK, NULL);
}

/* ---- the status ---- */

/* A master that did not refuse may be away or under its restart guard. */
static hilock_status status_of(const struct hl_group *group, unsigned i)
{
    const struct hilock_lock *member = group->members[i].lock;
    const struct hl_node *node = hl_name_node(hl_group_core(group), member->name);
    hilock_status status = group->votes[i].status;
    if (member->hold)
        return HILOCK_OK;
    if (hl_verdict_is_lasting(status))
        return status;
    if (!node->is_up)
        return HILOCK_UNREACHABLE;
    return hl_node_is_guarded(node) ? HILOCK_UNWRITABLE : status;
}

/* Words of another status are none. */
static void settle(struct hl_group *group)
{
    for (unsigned i = 0; i < group->count; i++)
        if (status_of(group, i) != group->votes[i].status)
            set(group, i, status_of(group, i), NULL);
}

static unsigned count(const struct hl_group *group, int (*is)(hilock_status status))
{
    unsigned found = 0;
    for (unsigned i = 0; i < group->count; i++)
        found += is(group->votes[i].status) != 0;
    return found;
}

static int is_yes(hilock_status status) { return status == HILOCK_OK; }
static int is_held(hilock_status status) { return status == HILOCK_TIMED_OUT; }

int hl_verdict_is_fault(hilock_status status)
{
    return status != HILOCK_OK && status != HILOCK_TIMED_OUT && status != HILOCK_UNREACHABLE;
}

int hl_verdict_is_final(const struct hl_group *group)
{
    return count(group, hl_verdict_is_lasting) > group->count - group->needed;
}

static hilock_status first(const struct hl_group *group, int (*is)(hilock_status status))
{
    for (unsigned i = 0; i < group->count; i++)
        if (is(group->votes[i].status))
            return group->votes[i].status;
    return HILOCK_UNREACHABLE;
}

static hilock_status verdict(const struct hl_group *group)
{
    unsigned held = count(group, is_held);
    if (hl_verdict_is_final(group))
        return first(group, hl_verdict_is_lasting);
    if (count(group, is_yes) + held >= group->needed && (held || group->has_waited))
        return HILOCK_TIMED_OUT;
    return first(group, hl_verdict_is_fault);
}

/* ---- words ---- */

/* Our holds of one attempt have ids of one block. */
int hl_verdict_is_one(const char *holder, const char *other)
{
    uint64_t block = hl_holder_number(holder) >> HL_GROUP_ID_BITS;
    if (strcmp(holder, other) == 0)
        return 1;
    return block && hl_holder_number(other) >> HL_GROUP_ID_BITS == block && memcmp(holder, other, HL_UUID_LENGTH) == 0;
}

static const char *holder_of(const struct hl_vote *vote) { return vote->words ? vote->words->holder : ""; }

unsigned hl_verdict_agreed(const struct hl_vote *votes, unsigned count, const struct hl_vote *vote)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++)
        found += votes[i].status == vote->status && hl_verdict_is_one(holder_of(&votes[i]), holder_of(vote));
    return found;
}

const struct hl_vote *hl_verdict_speaker(const struct hl_vote *votes, unsigned count, hilock_status status)
{
    const struct hl_vote *found = NULL;
    for (unsigned i = 0; i < count; i++)
        if (votes[i].status == status &&
            (!found || hl_verdict_agreed(votes, count, &votes[i]) > hl_verdict_agreed(votes, count, found)))
            found = &votes[i];
    return found;
}

/* NULL: it does. */
static const char *why_not(const struct hilock_lock *member, const struct hl_node *node, int is_granted)
{
    if (!is_granted)
        return node->is_up ? NULL : *hl_node_why(node) ? hl_node_why(node) : "not connected yet";
    return member->hold ? NULL : !node->is_up ? "away" : member->acquire ? "no answer yet" : "no vote";
}

/* The masters that did not say yes; without a grant, those that are away. */
static void add_missing(const struct hl_group *group, int is_granted, struct hl_text *text)
{
    const char *lead = is_granted ? "; not: " : "; away: ";
    for (unsigned i = 0; i < group->count; i++) {
        const struct hilock_lock *member = group->members[i].lock;
        const struct hl_node *node = hl_name_node(hl_group_core(group), member->name);
        const char *why = why_not(member, node, is_granted);
        if (!why)
            continue;
        hl_text_add(text, "%s%s (%s)", lead, hl_node_name(node), why);
        lead = ", ";
    }
}

static void outvoted(const struct hl_group *group, struct hl_text *text)
{
    uint64_t waited_us = hl_group_now_us(group) - group->begun_us;
    unsigned tries = group->attempts + hl_members_attempts(group);
    hl_text_set(text, "no answer from %u of %u masters within %u ms, %u tries%s", group->needed, group->count,
                hl_lease_span_ms(waited_us), tries, tries ? "; a late grant will be undone" : "");
}

void hl_verdict_reach(struct hl_group *group, int is_over)
{
    const struct hl_vote *vote;
    struct hilock_result result = {.detail = NULL};
    struct hl_text text;
    hl_verdict_learn(group, is_over);
    settle(group);
    result.status = verdict(group);
    vote = hl_verdict_speaker(group->votes, group->count, result.status);
    if (vote)
        hl_last_words_say(vote->words, &result);
    if (result.status == HILOCK_UNREACHABLE)
        outvoted(group, &text);
    else if (vote && !vote->words && hl_verdict_is_fault(result.status) && !hl_verdict_is_lasting(result.status))
        hl_message_of_refusal(hl_group_core(group), group->members[vote - group->votes].lock->name,
                              group->lock->terms->kind, result.status, "", &text);
    else
        hl_text_set(&text, "%s", vote ? result.detail : hilock_status_text(result.status));
    add_missing(group, 0, &text);
    result.detail = text.bytes;
    hl_group_keep(group, &group->refusal, result.status, hl_last_words_copy(hl_group_memory(group), &result));
}

void hl_verdict_of_votes(const struct hl_group *group, struct hl_text *text)
{
    hl_text_set(text, "%u of %u masters said yes", hl_members_held(group), group->count);
    add_missing(group, 1, text);
    hl_text_add(text, "; valid for %u ms",
                hl_lease_span_ms(hl_left_us(hl_members_end_us(group), hl_group_now_us(group))));
}
