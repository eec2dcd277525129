/* SPDX-License-Identifier: BSD-3-Clause */
/* quorum - see quorum.h. */
#include "group/quorum.h"

#include "base/plant.h"
#include "core/lease.h"
#include "core/name.h"
#include "group/members.h"
#include "group/verdict.h"
#include "hold/hold.h"
#include "lock/acquire.h"
#include "lock/plain.h"
#include "wait/gate.h"
#include "wait/known.h"

enum { PATIENCE_MIN_US = 100000, PATIENCE_TRIPS = 8, DOUBLINGS_MAX = 5, TRIP_MIN_US = 1000, RACE_TRIPS = 4,
       FEW_US = 50000, LOOK_US = 200000, LOOKS = 25 };
enum step { ROUND, STANDING, ASKING, PAUSED };

static uint64_t below(const struct hl_group *group, uint64_t limit_us)
{
    return hl_random_below(&hl_group_core(group)->host.random, limit_us) + 1;
}

/* ---- masters ---- */

static struct hl_node *node_at(const struct hl_group *group, unsigned i)
{
    return hl_name_node(hl_group_core(group), group->members[i].lock->name);
}

static uint64_t slowest_us(const struct hl_group *group, int is_usual)
{
    uint64_t slowest_us = 0;
    for (unsigned i = 0; i < group->count; i++) {
        const struct hl_node *node = node_at(group, i);
        uint64_t trip_us = is_usual ? node->usual_us : node->quickest_us;
        if (node->is_up && trip_us > slowest_us)
            slowest_us = trip_us;
    }
    return slowest_us;
}

/* How long a master may owe an answer before it counts as silent; longer after it proved too short: masters may have
 * become slower. */
static uint64_t patience_us(const struct hl_group *group)
{
    uint64_t usual_us = PATIENCE_TRIPS * slowest_us(group, 0);
    return (usual_us < PATIENCE_MIN_US ? PATIENCE_MIN_US : usual_us) << group->failing;
}

static uint64_t limit_us(const struct hl_group *group)
{
    uint64_t span_us = patience_us(group), lease_us = hl_terms_lease_us(group->waits) / 4;
    uint64_t command_us = (uint64_t)hl_group_core(group)->limits.command_timeout_ms * 1000;
    span_us = lease_us < span_us ? lease_us : span_us;
    return command_us < span_us ? command_us : span_us;
}

static int is_able(const struct hl_group *group, unsigned i)
{
    const struct hl_node *node = node_at(group, i);
    uint64_t now_us = hl_group_now_us(group);
    return hl_node_is_able(node, now_us, patience_us(group)) && !hl_node_guard_left_us(node, now_us) &&
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
    if (hl_group_ask(&group->members[i], is_try) != HILOCK_OK)
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

static void pause_for(struct hl_group *group, uint64_t span_us)
{
    group->step = PAUSED;
    hl_group_pause(group, span_us);
}

static uint64_t trip_us(const struct hl_group *group)
{
    uint64_t usual_us = slowest_us(group, 1);
    return usual_us < TRIP_MIN_US ? TRIP_MIN_US : usual_us;
}

static void doubt(struct hl_group *group) { group->failing += group->failing < DOUBLINGS_MAX; }

/* The next master decides. */
static void change(struct hl_group *group)
{
    hl_verdict_learn(group, 1);
    doubt(group);
    group->at = next_able(group, group->at + 1);
    pause_for(group, below(group, 2 * trip_us(group)));
}

static void stand(struct hl_group *group)
{
    group->step = STANDING;
    group->open = 0;
    if (HL_PLANTED(BALLOT_ALL_AT_ONCE))
        ask_others(group, 0);
    else
        return_others(group);
    hl_group_resume_at(group, hl_group_now_us(group) + LOOK_US / 2 + below(group, LOOK_US));
}

static void begin_round(struct hl_group *group)
{
    group->step = ROUND;
    ask_others(group, 1);
    hl_group_resume_at(group, hl_group_now_us(group) + limit_us(group));
    check(group);
}

/* Without a queue at the store, votes of others are not waited for: until the next poll would find one free, the votes
 * that it has would keep everybody else waiting. */
static void ask_with_arbiter(struct hl_group *group)
{
    group->step = ASKING;
    hl_group_resume_at(group, hl_group_now_us(group) + limit_us(group) / 2 + below(group, limit_us(group) / 2));
    ask_others(group, !group->waits->kind->has_queue);
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
static uint64_t race_pause_us(const struct hl_group *group)
{
    const struct hl_terms *terms = group->waits;
    if (terms->kind->has_queue)
        return below(group, RACE_TRIPS * trip_us(group));
    return (uint64_t)terms->poll_min_ms * 1000 + below(group, (uint64_t)terms->poll_jitter_ms * 1000 + 1);
}

static void lose_race(struct hl_group *group)
{
    hl_verdict_learn(group, 1);
    group->has_waited = group->is_contended = 1;
    group->at = held_elsewhere(group);
    pause_for(group, race_pause_us(group));
}

/* is_over: it took too long. */
static void end_round(struct hl_group *group, int is_over)
{
    if (group->is_try && !is_over)
        decide(group, 0);
    else if (group->is_try) /* silence is not an answer: it tries again while there is time */
        pause_for(group, below(group, 2 * trip_us(group)));
    else if (has(group, group->at))
        ask_with_arbiter(group);
    else if (asks(group, group->at) && node_at(group, group->at)->is_up)
        stand(group);
    else
        change(group);
}

/* A grant for a window, or an old one, is asked for once more. */
static unsigned good(struct hl_group *group)
{
    uint64_t least_us = hl_terms_least_us(group->lock->terms, group->lock->terms->lease_ms);
    unsigned found = 0;
    for (unsigned i = 0; i < group->count; i++) {
        struct hl_member *member = &group->members[i];
        int is_good = has(group, i) &&
            hl_left_us(hl_hold_ends_us(member->lock->hold), hl_group_now_us(group)) >= least_us;
        found += is_good != 0;
        if (has(group, i) && !is_good)
            (void)hl_group_ask_again(member);
    }
    return found;
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
    if (good(group) >= group->needed)
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
    return !group->is_try && (group->is_contended || hl_known_is_held(name) || hl_gate_waiting(name) > 1);
}

static void start(struct hl_group *group, unsigned from)
{
    unsigned first = next_able(group, from);
    int are_enough = count(group, is_able) >= (HL_PLANTED(GUARD_OF_THE_LAST) ? group->count : group->needed);
    if (are_enough) {
        group->at = first;
        hl_group_take_ids(group);
        ask(group, first, group->is_try);
    }
    if (!are_enough || !asks(group, first))
        pause_for(group, FEW_US / 2 + below(group, FEW_US / 2));
    else if (is_contended(group))
        stand(group);
    else
        begin_round(group);
}

static int lacks_memory(const struct hl_group *group, unsigned i)
{
    return group->votes[i].status == HILOCK_NO_MEMORY;
}

static hilock_status begin(struct hl_group *group)
{
    group->failing = 0;
    group->is_contended = group->has_waited;
    group->has_waited = 0;
    hl_verdict_forget(group);
    start(group, 0);
    return count(group, lacks_memory) ? HILOCK_NO_MEMORY : HILOCK_OK;
}

/* ---- news ---- */

static void answered(struct hl_member *member, const struct hilock_result *result)
{
    hl_verdict_keep(member, result);
    check(member->group);
}

static void extended(struct hl_member *member, const struct hilock_result *result)
{
    if (result->status == HILOCK_OK)
        check(member->group);
}

static void waits(struct hl_member *member)
{
    struct hl_group *group = member->group;
    group->has_waited = 1;
    group->is_contended = 1;
    check(group);
}

static void lost(struct hl_group *group) { check(group); }

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
    if (++group->open % LOOKS == 0)
        begin_round(group);
    else
        hl_group_resume_at(group, hl_group_now_us(group) + LOOK_US / 2 + below(group, LOOK_US));
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

/* ---- held ---- */

static void heal_within(struct hl_group *group, unsigned share)
{
    int is_missing = hl_members_held(group) < group->count && group->held->is_renewed;
    int must_heal = is_missing && !HL_PLANTED(QUORUM_UNHEALED);
    uint64_t span_us = hl_terms_lease_us(group->held) / share;
    hl_group_resume_at(group, must_heal ? hl_group_now_us(group) + span_us : UINT64_MAX);
}

/* Votes that are asked for and not refused yet may join; a place in a queue is left. */
static void granted(struct hl_group *group)
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
    uint64_t now_us = hl_group_now_us(group);
    int may_ask = hl_members_end_us(group) > now_us;
    for (unsigned i = 0; may_ask && i < group->count; i++)
        if (!has(group, i) && !asks(group, i) && hl_node_is_able(node_at(group, i), now_us, patience_us(group)))
            (void)hl_group_ask(&group->members[i], 1);
    heal_within(group, 3);
}

/* A moment later, so that the other masters' answers to renewals of the same time come first. */
static void missing(struct hl_group *group) { heal_within(group, 12); }

/* If the arbiter is away, another master decides; the pending request to it is answered first. */
static void node(struct hl_group *group, int is_up)
{
    int is_waiting = group->state == GROUP_WAITING;
    if (is_up && group->state == GROUP_HELD)
        missing(group);
    else if (is_up && is_waiting && group->step == PAUSED)
        start(group, 0);
    else if (!is_up && is_waiting && (group->step == ROUND || group->step == STANDING) &&
             !node_at(group, group->at)->is_up)
        hl_group_resume_at(group, hl_group_now_us(group));
}

const struct hl_group_ways hl_quorum_ways =
    {.begin = begin, .answered = answered, .extended = extended, .waits = waits, .lost = lost, .tick = tick,
     .granted = granted, .heal = heal, .missing = missing, .node = node, .is_voted = 1};
