/* SPDX-License-Identifier: BSD-3-Clause */
/* quorum - see quorum.h. */
#include "group/quorum.h"

#include "base/plant.h"
#include "group/members.h"
#include "group/news.h"
#include "group/verdict.h"
#include "lock/acquire.h"
#include "wait/gate.h"
#include "wait/known.h"

enum { DOUBLINGS_MAX = 5, RACE_TRIPS = 4, LOOK_US = 200000, LOOKS = 25 };
enum step { PAUSED = HL_GROUP_PAUSED, ROUND, STANDING, ASKING };

/* ---- masters ---- */

static struct hl_node *node_at(const struct hl_group *group, unsigned i)
{
    return hl_member_node(&group->members[i]);
}

static uint64_t limit_us(const struct hl_group *group)
{
    uint64_t span_us = hl_members_patience_us(group), lease_us = hl_terms_lease_us(group->terms) / 4,
        command_us = hl_group_command_us(group);
    span_us = lease_us < span_us ? lease_us : span_us;
    return command_us < span_us ? command_us : span_us;
}

static int is_able(const struct hl_group *group, unsigned i)
{
    const struct hl_node *node = node_at(group, i);
    uint64_t now_us = hl_group_now_us(group);
    return hl_node_is_able(node, now_us, hl_members_patience_us(group)) && !hl_node_guard_left_us(node, now_us) &&
           !hl_verdict_is_lasting(group->votes[i].status);
}

/* The first master that can be asked, beginning at `from`, then at the first. */
static unsigned next_able(const struct hl_group *group, unsigned from)
{
    for (unsigned i = 0; i < group->count; i++)
        if (is_able(group, (from + i) % group->count))
            return (from + i) % group->count;
    return group->count;
}

static unsigned count(const struct hl_group *group, int (*is)(const struct hl_group *group, unsigned i))
{
    unsigned found = 0;
    for (unsigned i = 0; i < group->count; i++)
        found += is(group, i) != 0;
    return found;
}

/* ---- votes that it has and may get ---- */

static int has(const struct hl_group *group, unsigned i) { return hl_member_has(&group->members[i]); }

static int asks(const struct hl_group *group, unsigned i) { return group->members[i].lock->acquire != NULL; }

/* It has it, or asked for it and knows of no refusal. */
static int may_have(const struct hl_group *group, unsigned i)
{
    const struct hl_acquire *acquire = group->members[i].lock->acquire;
    return has(group, i) ||
           (acquire && (acquire->is_try || group->step == ASKING || !hl_known_is_held(acquire->lock->name)));
}

static int can_win(const struct hl_group *group) { return count(group, may_have) >= group->needed; }

static void ask(struct hl_group *group, unsigned i, int is_try)
{
    if (hl_member_ask(&group->members[i], is_try) != HILOCK_OK)
        group->votes[i].status = HILOCK_NO_MEMORY;
}

static void ask_others(struct hl_group *group, int is_try)
{
    for (unsigned i = 0; i < group->count; i++)
        if (i != group->at && !has(group, i) && !asks(group, i) && is_able(group, i))
            ask(group, i, is_try);
}

static void return_others(struct hl_group *group)
{
    for (unsigned i = group->count; i-- > 0;)
        if (i != group->at && !HL_PLANTED(QUORUM_KEEPS))
            hl_member_return(&group->members[i]);
}

/* ---- steps ---- */

static void check(struct hl_group *group);

static void decide(struct hl_group *group, int is_over)
{
    hl_verdict_reach(group, is_over);
    hl_group_decide(group, group->refusal.status);
}

static void doubt(struct hl_group *group) { group->failing += group->failing < DOUBLINGS_MAX; }

/* The next master decides. */
static void change(struct hl_group *group)
{
    hl_verdict_learn(group, 1);
    doubt(group);
    group->at = next_able(group, group->at + 1);
    hl_group_pause(group, 0, 2 * hl_members_trip_us(group));
}

static void stand(struct hl_group *group)
{
    group->step = STANDING;
    group->looks = 0;
    if (HL_PLANTED(BALLOT_ALL_AT_ONCE))
        ask_others(group, 0);
    else
        return_others(group);
    hl_news_wake_in(group, LOOK_US / 2, LOOK_US);
}

static void begin_round(struct hl_group *group)
{
    group->step = ROUND;
    ask_others(group, 1);
    hl_news_wake_in(group, limit_us(group), 0);
    check(group);
}

/* Without a queue at the store, votes of others are not waited for: until the next poll would find one free, the votes
 * that it has would keep everybody else waiting. */
static void ask_with_arbiter(struct hl_group *group)
{
    group->step = ASKING;
    hl_news_wake_in(group, limit_us(group) / 2, limit_us(group) / 2);
    ask_others(group, !group->terms->kind->has_queue);
    check(group);
}

/* If another client holds enough of the other masters, wait at one of these: the arbiter was away when that client
 * began, or forgot it. A client with fewer votes is in the same race, and all racers meet at the first master again. */
static unsigned held_elsewhere(const struct hl_group *group)
{
    for (unsigned i = 0; i < group->count; i++) {
        const struct hl_vote *vote = &group->votes[i];
        if (i != group->at && vote->status == HILOCK_TIMED_OUT && vote->words &&
            hl_verdict_agreed(group->votes, group->count, vote) >= group->needed)
            return i;
    }
    return 0;
}

/* A kind that polls comes back at its next poll: another may have the missing votes for long. */
static void lose_race(struct hl_group *group)
{
    const struct hl_terms *terms = group->terms;
    hl_verdict_learn(group, 1);
    group->has_waited = 1;
    group->at = held_elsewhere(group);
    if (terms->kind->has_queue)
        hl_group_pause(group, 0, RACE_TRIPS * hl_members_trip_us(group));
    else
        hl_group_pause(group, (uint64_t)terms->poll_min_ms * 1000, (uint64_t)terms->poll_jitter_ms * 1000);
}

/* is_over: it took too long. */
static void end_round(struct hl_group *group, int is_over)
{
    if (group->is_try && !is_over)
        decide(group, 0);
    else if (group->is_try) /* silence is not an answer: it tries again while there is time */
        hl_group_pause(group, 0, 2 * hl_members_trip_us(group));
    else if (has(group, group->at))
        ask_with_arbiter(group);
    else if (asks(group, group->at) && node_at(group, group->at)->is_up)
        stand(group);
    else
        change(group);
}

static void go_on(struct hl_group *group)
{
    switch ((enum step)group->step) {
    case ROUND:
        if (!can_win(group))
            end_round(group, 0);
        break;
    case STANDING:
        if (has(group, group->at))
            ask_with_arbiter(group);
        else if (!asks(group, group->at))
            change(group);
        break;
    case ASKING:
        if (!has(group, group->at) || !can_win(group))
            lose_race(group);
        break;
    case PAUSED: break;
    }
}

/* After each answer: do we have it, and can we still get it? */
static void check(struct hl_group *group)
{
    if (hl_members_good(group) >= group->needed)
        hl_group_grant(group);
    else if (hl_verdict_is_final(group))
        decide(group, 0);
    else
        go_on(group);
}

/* ---- the begin ---- */

static int is_contended(const struct hl_group *group)
{
    const struct hl_name *name = group->members[group->at].lock->name;
    int has_waited = group->had_waited || group->has_waited;
    return !group->is_try && (has_waited || hl_known_is_held(name) || hl_gate_waiting(name) > 1);
}

static void start(struct hl_group *group, unsigned from)
{
    unsigned first = next_able(group, from);
    int are_enough = count(group, is_able) >= (HL_PLANTED(GUARD_OF_THE_LAST) ? group->count : group->needed);
    if (are_enough) {
        group->at = first;
        hl_member_take_ids(group);
        ask(group, first, group->is_try);
    }
    if (!are_enough || !asks(group, first))
        hl_group_pause(group, HL_GROUP_FEW_US / 2, HL_GROUP_FEW_US / 2);
    else if (is_contended(group))
        stand(group);
    else
        begin_round(group);
}

static void begin(struct hl_group *group) { start(group, 0); }

/* ---- news ---- */

static void answered(struct hl_member *member, const struct hilock_result *result)
{
    hl_verdict_keep(member, result);
    check(member->group);
}

/* If a client has the arbiter's vote and needs it no more, all would wait in vain: try the others now and then. An
 * arbiter that has not said yet who holds the name is no worse than others: a sibling may have released it just now. */
static void look(struct hl_group *group)
{
    const struct hl_acquire *acquire = group->members[group->at].lock->acquire;
    if (!is_able(group, group->at) || hl_verdict_is_fault(hl_known_status(hl_group_core(group), acquire))) {
        change(group);
        return;
    }
    hl_node_probe(node_at(group, group->at));
    if (++group->looks % LOOKS == 0)
        begin_round(group);
    else
        hl_news_wake_in(group, LOOK_US / 2, LOOK_US);
}

static int is_silent(const struct hl_group *group, unsigned i)
{
    return asks(group, i) && !hl_known_is_held(group->members[i].lock->name);
}

static void tick(struct hl_group *group)
{
    if (hl_group_now_us(group) >= group->ends_us) {
        decide(group, 1);
        return;
    }
    switch ((enum step)group->step) {
    case ROUND:
        doubt(group);
        end_round(group, 1);
        break;
    case STANDING: look(group); break;
    case ASKING:
        if (count(group, is_silent))
            doubt(group);
        lose_race(group);
        break;
    case PAUSED: start(group, group->at); break;
    }
}

/* If the arbiter is away, another master decides; the pending request to it is answered first. */
static void node(struct hl_group *group, int is_up)
{
    if (is_up && group->step == PAUSED)
        start(group, 0);
    else if (!is_up && (group->step == ROUND || group->step == STANDING) && !node_at(group, group->at)->is_up)
        hl_news_wake_in(group, 0, 0);
}

const struct hl_group_ways hl_quorum_ways =
    {.begin = begin, .answered = answered, .check = check, .lost = go_on, .tick = tick, .node = node, .is_voted = 1};
