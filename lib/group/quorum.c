/* SPDX-License-Identifier: BSD-3-Clause */
/* quorum - a group of one name at several independent masters; it holds while enough of them grant it.
 *
 *   ROUND      waits at one master, the arbiter, and tries all others at the same time; enough votes are a grant
 *     | others hold the name, or votes are too few: all votes are given back, but the place at the arbiter stays
 *   STANDING   waits at the arbiter alone; tries the others now and then, in case no client needs the arbiter's vote
 *     | the arbiter grants
 *   ASKING     holds the arbiter's vote; waits at the others for a moment, or tries them if it has to poll
 *     | too few votes after that moment: all are given back
 *   PAUSED     holds nothing: too few masters can be asked, or a race was lost. Then STANDING or ROUND
 *   held       late votes join; masters that were away or have lost the vote are asked again, until the end (healing)
 *
 * All clients that wait for a name stand in one queue: the one at the first master that can be asked, in the order of
 * the client's URLs. A release wakes one of them. A client that finds the name contended begins there. Clients that
 * disagree about the arbiter still exclude each other, and give their votes back after a moment. A master cannot be
 * asked while it is away, while an answer from it is long overdue, or while it is under its restart guard. A lost vote
 * is asked for again only while enough others are held, and only if the lock is renewed: otherwise the new vote could
 * outlast the hold by a whole lease. */
#include "group/member.h"

enum { DOUBLINGS_MAX = 5, CALM_RTTS = 2, RACE_RTTS = 4, LOOK_US = 200000, LOOKS = 25 };
enum step { PAUSED = HL_GROUP_PAUSED, ROUND, STANDING, ASKING };

static struct hl_member *arbiter(struct hl_group *group) { return &group->members[group->at]; }

static uint64_t limit_us(const struct hl_group *group)
{
    uint64_t span_us = hl_members_patience_us(group), lease_us = hl_terms_lease_us(group->terms);
    span_us = lease_us / 4 < span_us ? lease_us / 4 : span_us;
    return hl_group_command_us(group) < span_us ? hl_group_command_us(group) : span_us;
}

static int is_able(const struct hl_member *member)
{
    const struct hl_node *node = hl_member_node(member);
    return hl_member_is_able(member) && !hl_node_guard_remaining_us(node) &&
           hl_member_vote(member)->state != VOTE_REFUSED;
}

/* The member has its vote, or has asked for it and was not refused as far as is known. */
static int may_have(const struct hl_member *member)
{
    const struct hilock_lock *lock = member->lock;
    int is_unrefused = hl_inner_is_trying(lock) || member->group->step == ASKING || !hl_inner_is_name_held(lock);
    return hl_member_has(member) || (hl_inner_is_asking(lock) && is_unrefused);
}

static void check(struct hl_group *group);

/* Gives all votes back and pauses, by chance, for a few round trips: two clients that race would otherwise meet again.
 * A round trip that was measured while the loop stood still is far too long, so the pause is no longer than an
 * attempt. */
static void pause_for_round_trips(struct hl_group *group, unsigned count)
{
    uint64_t span_us = count * hl_members_rtt_us(group), most_us = limit_us(group);
    hl_group_pause(group, 0, span_us < most_us ? span_us : most_us);
}

static void double_patience(struct hl_group *group) { group->doublings += group->doublings < DOUBLINGS_MAX; }

/* Makes the next master the arbiter. */
static void change(struct hl_group *group)
{
    hl_members_learn(group, 1);
    double_patience(group);
    group->at = (group->at + 1) % group->count;
    pause_for_round_trips(group, CALM_RTTS);
}

static void stand(struct hl_group *group)
{
    group->step = STANDING;
    group->looks = 0;
    hl_members_return(group, arbiter(group));
    hl_group_wake_in(group, LOOK_US / 2, LOOK_US);
}

static void begin_round(struct hl_group *group)
{
    group->step = ROUND;
    hl_members_ask(group, is_able, 1);
    hl_group_wake_in(group, limit_us(group), 0);
    check(group);
}

/* Asks all other masters, with the arbiter's vote in hand. A kind of lock without a queue at the store does not wait
 * for their votes: until a later poll found one free, the votes that it has would keep everybody else waiting. */
static void ask_with_arbiter(struct hl_group *group)
{
    group->step = ASKING;
    hl_group_wake_in(group, limit_us(group) / 2, limit_us(group) / 2);
    hl_members_ask(group, is_able, !hl_has_queue(group->terms));
    check(group);
}

/* Gives all votes back after a race, and chooses where to wait next. If one client holds enough of the other masters,
 * this one waits at one of those: the arbiter was away when that client began, or has forgotten it. A client with fewer
 * votes is in the same race, and all racers meet at the first master again. A kind that polls comes back at its next
 * poll, because another client may keep the missing votes for long. */
static void lose_race(struct hl_group *group)
{
    const struct hl_terms *terms = group->terms;
    unsigned agreed;
    hl_members_learn(group, 1);
    if (group->contention < CONTENTION_FOUND)
        group->contention = CONTENTION_FOUND;
    const struct hl_vote *vote = hl_vote_most_agreed(group->votes, group->count, HILOCK_TIMED_OUT, &agreed);
    group->at = agreed >= group->needed && vote->words ? (unsigned)(vote - group->votes) : 0;
    if (hl_has_queue(terms))
        pause_for_round_trips(group, RACE_RTTS);
    else
        hl_group_pause(group, (uint64_t)terms->poll_min_ms * 1000, (uint64_t)terms->poll_jitter_ms * 1000);
}

/* Ends a ROUND without a grant. is_over: the round took too long; otherwise too many votes are known to be refused */
static void end_round(struct hl_group *group, int is_over)
{
    if (group->is_try && !is_over)
        hl_group_decide(group, hl_members_verdict(group, 0));
    else if (group->is_try) /* silence is no refusal: the group tries again while there is time */
        pause_for_round_trips(group, CALM_RTTS);
    else if (hl_member_has(arbiter(group)))
        ask_with_arbiter(group);
    else if (hl_inner_is_asking(arbiter(group)->lock) && hl_member_node(arbiter(group))->is_up)
        stand(group);
    else
        change(group);
}

static void go_on(struct hl_group *group)
{
    int can_win = hl_members_count(group, may_have) >= group->needed;
    switch ((enum step)group->step) {
    case ROUND:
        if (!can_win)
            end_round(group, 0);
        break;
    case STANDING:
        if (hl_member_has(arbiter(group)))
            ask_with_arbiter(group);
        else if (!hl_inner_is_asking(arbiter(group)->lock))
            change(group);
        break;
    case ASKING:
        if (!hl_member_has(arbiter(group)) || !can_win)
            lose_race(group);
        break;
    case PAUSED: break;
    }
}

/* Called after each answer: grants if enough votes are held, decides if too many were refused for good, and otherwise
 * goes on. */
static void check(struct hl_group *group)
{
    if (hl_members_freshen(group) >= group->needed)
        hl_group_grant(group);
    else if (hl_members_are_final(group))
        hl_group_decide(group, hl_members_verdict(group, 0));
    else
        go_on(group);
}

static int is_contended(struct hl_group *group)
{
    const struct hilock_lock *lock = arbiter(group)->lock;
    int is_known = group->contention != CONTENTION_UNKNOWN;
    return !group->is_try && (is_known || hl_inner_is_name_held(lock) || hl_inner_waiting(lock) > 1);
}

/* Begins at the first master that can be asked, from the present arbiter on. */
static void start(struct hl_group *group)
{
    unsigned able = hl_members_count(group, is_able);
    int is_asked = 0;
    if (able >= group->needed) {
        for (unsigned i = 0; i < group->count && !is_able(arbiter(group)); i++)
            group->at = (group->at + 1) % group->count;
        hl_member_take_ids(group);
        is_asked = hl_member_ask(arbiter(group), group->is_try) == HILOCK_OK;
    }
    if (!is_asked)
        hl_group_pause(group, HL_GROUP_FEW_US / 2, HL_GROUP_FEW_US / 2);
    else if (is_contended(group))
        stand(group);
    else
        begin_round(group);
}

static void answered(struct hl_member *member, const struct hilock_result *result)
{
    struct hl_result_words *words =
        result->status == HILOCK_OK ? NULL : hl_view_copy_words(hl_group_memory(member->group), result);
    hl_group_keep(member->group, hl_member_vote(member), result->status, words);
    check(member->group);
}

/* Checks while STANDING. A client may keep the arbiter's vote without needing it, and then all others would wait in
 * vain: so every LOOKS-th time the other masters are tried. An arbiter that cannot be asked, or has a fault, is
 * changed. An arbiter from which nothing is known about the holder yet is kept: a sibling may have released the name
 * just now. */
static void look(struct hl_group *group)
{
    const struct hl_member *first = arbiter(group);
    if (!is_able(first) || hl_vote_state_of(hl_inner_outlook(first->lock)) >= VOTE_FAULT) {
        change(group);
        return;
    }
    hl_node_probe(hl_member_node(arbiter(group)));
    if (++group->looks % LOOKS == 0)
        begin_round(group);
    else
        hl_group_wake_in(group, LOOK_US / 2, LOOK_US);
}

static int is_silent(const struct hl_member *member)
{
    return hl_inner_is_asking(member->lock) && !hl_inner_is_name_held(member->lock);
}

static void on_alarm(struct hl_group *group)
{
    if (hl_group_now_us(group) >= group->ends_us) {
        hl_group_decide(group, hl_members_verdict(group, 1));
        return;
    }
    switch ((enum step)group->step) {
    case ROUND:
        double_patience(group);
        end_round(group, 1);
        break;
    case STANDING: look(group); break;
    case ASKING:
        if (hl_members_count(group, is_silent))
            double_patience(group);
        lose_race(group);
        break;
    case PAUSED: start(group); break;
    }
}

/* A server has come back, or has gone away. If that was the arbiter, another master becomes the arbiter, but only at
 * the alarm: the pending request to the old one is answered first. */
static void node(struct hl_group *group, int is_up)
{
    if (is_up && group->step == PAUSED) {
        group->at = 0;
        start(group);
    } else if (!is_up && (group->step == ROUND || group->step == STANDING) && !hl_member_node(arbiter(group))->is_up)
        hl_group_wake_in(group, 0, 0);
}

const struct hl_group_strategy hl_quorum_strategy =
    {.answered = answered, .check = check, .lost = go_on, .on_alarm = on_alarm, .node = node};
