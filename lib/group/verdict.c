/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict - see verdict.h. It is TIMED_OUT if the group lacks only votes that others hold; else faults count before
 * silence. */
#include "group/verdict.h"

#include "core/lease.h"
#include "group/member.h"
#include "hold/messages.h"
#include "wait/known.h"
#include "wire/holder.h"

int hl_verdict_is_fault(hilock_status status)
{
    return status != HILOCK_OK && status != HILOCK_TIMED_OUT && status != HILOCK_UNREACHABLE;
}

int hl_verdict_is_lasting(hilock_status refusal)
{
    return hl_verdict_is_fault(refusal) && refusal != HILOCK_UNWRITABLE && refusal != HILOCK_NOT_REPLICATED &&
           refusal != HILOCK_NO_MEMORY;
}

void hl_verdict_learn(struct hl_group *group, int is_over)
{
    struct hl_core *core = hl_group_core(group);
    for (unsigned i = 0; i < group->count; i++) {
        const struct hl_acquire *acquire = group->members[i].lock->acquire;
        hilock_status status = acquire ? hl_known_status(core, acquire) : HILOCK_OK;
        if (acquire && (is_over || status != HILOCK_UNREACHABLE))
            hl_group_keep(group, &group->votes[i], status, hl_known_last_words(core, acquire, status));
    }
}

void hl_verdict_forget(struct hl_group *group)
{
    hl_group_keep(group, &group->refusal, HILOCK_UNREACHABLE, NULL);
    for (unsigned i = 0; i < group->count; i++)
        hl_group_keep(group, &group->votes[i], HILOCK_OK, NULL);
}

/* A master that did not refuse may be away or under its restart guard. */
static hilock_status status_of(const struct hl_group *group, unsigned i)
{
    const struct hl_node *node = hl_member_node(&group->members[i]);
    hilock_status status = group->votes[i].status;
    if (group->members[i].lock->hold)
        return HILOCK_OK;
    if (hl_verdict_is_lasting(status))
        return status;
    if (!node->is_up)
        return HILOCK_UNREACHABLE;
    return hl_node_guard_left_us(node) ? HILOCK_UNWRITABLE : status;
}

int hl_verdict_is_final(const struct hl_group *group)
{
    unsigned lasting = 0;
    for (unsigned i = 0; i < group->count; i++)
        lasting += hl_verdict_is_lasting(group->votes[i].status) != 0;
    return lasting > group->count - group->needed;
}

static hilock_status verdict(const struct hl_group *group)
{
    int is_final = hl_verdict_is_final(group);
    unsigned yes = 0, held = 0;
    hilock_status fault = HILOCK_UNREACHABLE; /* the first that counts */
    for (unsigned i = group->count; i-- > 0;) {
        hilock_status status = group->votes[i].status;
        yes += status == HILOCK_OK;
        held += status == HILOCK_TIMED_OUT;
        if (is_final ? hl_verdict_is_lasting(status) : hl_verdict_is_fault(status))
            fault = status;
    }
    return !is_final && yes + held >= group->needed && (held || group->has_waited) ? HILOCK_TIMED_OUT : fault;
}

/* Our holds of one attempt have ids of one block. */
int hl_verdict_is_one(const char *holder, const char *other)
{
    uint64_t block = hl_holder_number(holder) >> HL_GROUP_ID_BITS;
    int is_block = block && hl_holder_number(other) >> HL_GROUP_ID_BITS == block;
    return strcmp(holder, other) == 0 || (is_block && memcmp(holder, other, HL_UUID_LENGTH) == 0);
}

static const char *holder_of(const struct hl_vote *vote) { return vote->words ? vote->words->holder : ""; }

struct hl_vote *hl_verdict_speaker(struct hl_vote *votes, unsigned count, hilock_status status, unsigned *ret_agreed)
{
    struct hl_vote *found = NULL;
    *ret_agreed = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned agreed = 0;
        for (unsigned j = 0; votes[i].status == status && j < count; j++)
            agreed += votes[j].status == status && hl_verdict_is_one(holder_of(&votes[j]), holder_of(&votes[i]));
        if (agreed > *ret_agreed) {
            found = &votes[i];
            *ret_agreed = agreed;
        }
    }
    return found;
}

/* The masters that did not say yes; without a grant, those that are away. */
static void add_missing(const struct hl_group *group, int is_granted, struct hl_text *text)
{
    const char *lead = is_granted ? "; not: " : "; away: ";
    for (unsigned i = 0; i < group->count; i++) {
        const struct hilock_lock *member = group->members[i].lock;
        const struct hl_node *node = hl_member_node(&group->members[i]);
        const char *why = *hl_node_why(node) ? hl_node_why(node) : "not connected yet";
        if (is_granted ? member->hold != NULL : node->is_up)
            continue;
        if (is_granted)
            why = !node->is_up ? "away" : member->acquire ? "no answer yet" : "no vote";
        hl_text_add(text, "%s%s (%s)", lead, hl_node_name(node), why);
        lead = ", ";
    }
}

void hl_verdict_reach(struct hl_group *group, int is_over)
{
    unsigned tries = hl_members_attempts(group), agreed;
    const struct hl_vote *vote;
    struct hilock_result result = {.detail = NULL};
    struct hl_text text;
    hl_verdict_learn(group, is_over);
    for (unsigned i = 0; i < group->count; i++) /* words of another status are none */
        if (status_of(group, i) != group->votes[i].status)
            hl_group_keep(group, &group->votes[i], status_of(group, i), NULL);
    result.status = verdict(group);
    vote = hl_verdict_speaker(group->votes, group->count, result.status, &agreed);
    hl_known_say_words(vote ? vote->words : NULL, &result);
    if (result.status == HILOCK_UNREACHABLE)
        hl_text_set(&text, "no answer from %u of %u masters within %u ms, %u tries%s", group->needed, group->count,
                    hl_lease_span_ms(hl_group_now_us(group) - group->begun_us), tries,
                    tries ? "; a late grant will be undone" : "");
    else if (vote && !vote->words && hl_verdict_is_fault(result.status) && !hl_verdict_is_lasting(result.status))
        hl_message_of_refusal(hl_group_core(group), group->members[vote - group->votes].lock->name,
                              group->lock->terms->kind, result.status, "", &text);
    else
        hl_text_set(&text, "%s", result.detail);
    add_missing(group, 0, &text);
    result.detail = text.bytes;
    hl_group_keep(group, &group->refusal, result.status, hl_known_copy_words(hl_group_memory(group), &result));
}

void hl_verdict_of_votes(const struct hl_group *group, struct hl_text *text)
{
    hl_text_set(text, "%u of %u masters said yes", hl_members_count(group, hl_member_has), group->count);
    add_missing(group, 1, text);
    hl_text_add(text, "; valid for %u ms",
                hl_lease_span_ms(hl_left_us(hl_members_end_us(group), hl_group_now_us(group))));
}
