/* SPDX-License-Identifier: BSD-3-Clause */
/* group - a handle made of several plain handles, its members; it holds while `needed` of them do: all names (multi.c),
 * or one name at enough of several masters (quorum.c).
 *
 *   IDLE -> WAITING -> HELD <-> FAILING -> IDLE    FAILING: held, but the renewals of too many members fail, and that
 *             \-> DECIDED --------------------^               was reported. DECIDED: an answer other than OK, until it
 *                                                             is reported
 *
 * The strategy (hl_group_strategy) decides how a group is acquired. Once held, all groups are alike: the deadline is
 * the needed-th longest of the members', the group is lost when too few members are left, members that it lacks are
 * asked for again, and all members are extended and released. A group uses its members through the calls and callbacks
 * that every handle has, and through lock/inner.h. Members are internal: the log, the statistics and the lists of
 * handles show the group alone.
 *
 * Invariants: a held member belongs to a group that waits or is held; the end of the wait or of the hold gives all
 * members back; a function here calls the user last, because the callback may free the group. Releasing needs no
 * memory: the acquire makes the struct that gathers its answers. */
#ifndef HL_GROUP_GROUP_H
#define HL_GROUP_GROUP_H

#include "base/container.h"
#include "core/lock.h"
#include "group/vote.h"
#include "lock/view.h"

enum { HL_GROUP_PAUSED = 0 };     /* the one step that all strategies have */
enum { HL_GROUP_FEW_US = 50000 }; /* the longest pause when memory is short, or masters are too few */
enum hl_group_state { GROUP_IDLE, GROUP_WAITING, GROUP_HELD, GROUP_FAILING, GROUP_DECIDED };
enum hl_contention { /* whether others want the names of a group; a wait only moves it down this list */
    CONTENTION_UNKNOWN,
    CONTENTION_BEFORE,  /* the latest wait before this one found a name held */
    CONTENTION_FOUND,   /* this wait found one held */
    CONTENTION_REPORTED /* it did, and the user got a WAITING event */
};

struct hl_member {
    struct hl_group *group;
    struct hilock_lock *lock; /* a plain, internal handle, which this member owns */
    uint8_t index;            /* the index of the name in the user's list */
};

/* How a group is acquired. The functions are called only while the group is WAITING. */
struct hl_group_strategy {
    void (*answered)(struct hl_member *member, const struct hilock_result *result); /* a member's acquire has ended */
    void (*check)(struct hl_group *group); /* a member was extended, or waits because others hold its name */
    void (*lost)(struct hl_group *group);  /* a member that was held is lost, or cannot be extended */
    void (*on_alarm)(struct hl_group *group); /* the alarm is due; also called to begin, PAUSED and `at` 0 */
    void (*node)(struct hl_group *group, int is_up); /* a server has come back or gone away; NULL: does not matter */
};

struct hl_gather;

struct hl_groups { /* what this folder keeps for a client, which has it beside its core; core->groups points to it */
    struct hl_alarms alarms;
};

struct hl_group {
    struct hl_notice notice;         /* REPORT_RESULT: the group is DECIDED; REPORT_WAITING: a member was lost */
    struct hilock_lock *lock;        /* the user's handle */
    const struct hl_group_strategy *strategy;
    struct hl_terms *terms;          /* the terms of the members alone. While the group waits they renew every member;
                                        once it is held they are the user's */
    struct hl_alarm alarm;
    struct hl_gather *end;           /* the gather for the next release; NULL: not allocated yet */
    TAILQ_HEAD(, hl_gather) gathers; /* the user's calls that are not over */
    hilock_result_fn *on_result;     /* WAITING, DECIDED: the callback of the acquire */
    void *user;
    uint64_t ends_us;                /* WAITING, DECIDED: when the wait ends */
    uint64_t report_us;              /* REPORTED: when the next WAITING event is due, if the user wants more than one */
    uint64_t since_us;               /* HELD: when the group was granted */
    uint64_t tenure;                 /* the number of the present or latest hold of this group */
    struct hl_attempt attempt;       /* the ids for the members. A quorum takes more of them for votes got back later */
    struct hl_vote refusal;          /* the latest refusal of any member */
    struct hl_vote *votes;           /* WAITING: the latest refusal of each member */
    uint32_t attempts;
    uint8_t state;                   /* enum hl_group_state */
    uint8_t step;                    /* the strategy's own state; HL_GROUP_PAUSED: nothing is held until the alarm */
    uint8_t is_try;
    unsigned at, looks;              /* the strategy's own: the index of a member; how often it looked or was refused */
    uint8_t contention;              /* enum hl_contention */
    unsigned doublings;              /* WAITING: how often hl_members_patience_us was too short, and was doubled */
    unsigned count, needed;
    struct hl_member members[];      /* sorted by the bytes of their names, as in every other group */
};

extern const struct hl_group_strategy hl_multi_strategy, hl_quorum_strategy;
extern const struct hl_handle_ops hl_group_ops;

/* Returns the group of the user's handle; NULL: the handle is a plain one. */
static inline struct hl_group *hl_group_of(const struct hilock_lock *lock)
{
    return lock->attempt ? HL_CONTAINER(lock->attempt, struct hl_group, attempt) : NULL;
}

static inline int hl_group_is_held(const struct hl_group *group)
{
    return group->state == GROUP_HELD || group->state == GROUP_FAILING;
}

/* Makes the handle one of a group, and takes references to the names. Returns -1 without memory; the caller must then
 * unref the handle. */
int hl_group_new(struct hl_core *core, struct hilock_lock *lock, const struct hl_group_strategy *strategy,
                 struct hl_name *const *names, unsigned count, unsigned needed);

void hl_group_alarm(struct hl_alarm *alarm); /* the callback of core->groups->alarms */
void hl_groups_node(struct hl_core *core, int is_up); /* tells all groups that a server has come back or gone away */
void hl_groups_close(struct hl_core *core); /* ends the wait of every group with CLOSED */

/* ---- for a strategy ---- */

static inline struct hl_core *hl_group_core(const struct hl_group *group) { return hl_lock_core(group->lock); }
static inline const struct hl_memory *hl_group_memory(const struct hl_group *group)
{
    return &group->lock->terms->cell->memory;
}
static inline uint64_t hl_group_now_us(const struct hl_group *group) { return hl_now_us(&hl_group_core(group)->host); }
static inline uint64_t hl_group_command_us(const struct hl_group *group)
{
    return (uint64_t)hl_group_core(group)->limits.command_timeout_ms * 1000;
}
/* Sets the group's alarm to least_us from now, plus a random part of random_us. */
void hl_group_wake_in(struct hl_group *group, uint64_t least_us, uint64_t random_us);
void hl_group_rest(struct hl_group *group); /* stops the group's alarm */
/* Gives all members back, and goes on at the alarm, which is set as by hl_group_wake_in. */
void hl_group_pause(struct hl_group *group, uint64_t least_us, uint64_t random_us);
/* Replaces the content of a vote. The vote takes over the memory of the words. */
static inline void hl_group_keep(const struct hl_group *group, struct hl_vote *vote, hilock_status status,
                                 struct hl_result_words *words)
{
    hl_memory_free(hl_group_memory(group), vote->words);
    *vote = (struct hl_vote){hl_vote_state_of(status), status, words};
}
void hl_group_decide(struct hl_group *group, hilock_status status); /* ends the wait: gives all members back */
/* Reports the grant: enough members are held. It calls the user, so the caller must do nothing after it. */
void hl_group_grant(struct hl_group *group);

#endif
