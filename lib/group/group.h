/* SPDX-License-Identifier: BSD-3-Clause */
/* group - a handle made of several plain handles, its members; it holds while `needed` of them do: all names (multi.c),
 * or one name at enough of several masters (quorum.c).
 *
 *   IDLE -> WAITING -> HELD -> IDLE
 *             \-> DECIDED -----^      (an answer other than OK, until it is reported)
 *
 * The strategy (hl_group_strategy) decides how a group is acquired. Once held, all groups are alike: the deadline is
 * the needed-th longest of the members', the group is lost when too few members are left, members that it lacks are
 * asked for again, and all members are extended and released. A group uses its members through the calls and callbacks
 * that every handle has, so nothing below this folder knows of groups. Members are internal: the log, the statistics
 * and the lists of handles show the group alone.
 *
 * Invariants: a held member belongs to a group that waits or is held; the end of the wait or of the hold gives all
 * members back; a function here calls the user last, because the callback may free the group. Releasing needs no
 * memory: the acquire makes the struct that gathers its answers. */
#ifndef HL_GROUP_GROUP_H
#define HL_GROUP_GROUP_H

#include "base/container.h"
#include "core/lock.h"
#include "wait/view.h"

/* Ids of one attempt differ in these alone. So few, that ids stay below 2^53 for as long as a machine lives. */
enum { HL_GROUP_ID_BITS = 8 };
enum { HL_GROUP_PAUSED = 0 };   /* a step */
enum { HL_GROUP_FEW_US = 50000 }; /* the longest pause for lack of memory, or of masters */
enum hl_group_state { GROUP_IDLE, GROUP_WAITING, GROUP_HELD, GROUP_DECIDED };

struct hl_vote { /* an answer: of a member to its acquire, of a master to an operator's question, of the whole group */
    hilock_status status;        /* OK: also none */
    struct hl_result_words *words; /* NULL: none */
};

struct hl_member {
    struct hl_group *group;
    struct hilock_lock *lock; /* a plain, internal handle */
    uint8_t index;            /* its index in the user's list of names */
    uint8_t is_extending : 1; /* an extend of the wait is pending: a reference to the group's handle */
    uint8_t is_failing : 1;   /* HELD: its renewals fail */
};

struct hl_group_strategy { /* how it is acquired: called only while it is WAITING */
    void (*answered)(struct hl_member *member, const struct hilock_result *result); /* its acquire */
    void (*check)(struct hl_group *group); /* a member was extended, or found held by others, and waits in line */
    void (*lost)(struct hl_group *group);  /* a member that was held is lost, or cannot be extended */
    void (*on_alarm)(struct hl_group *group); /* the alarm; first of all the begin: PAUSED, at the first member */
    void (*node)(struct hl_group *group, int is_up); /* a server is back, or away; NULL: that changes nothing */
    int is_voted;                          /* members are votes for one name */
};

struct hl_gather;

struct hl_group {
    struct hl_notice notice;         /* REPORT_RESULT: DECIDED; REPORT_WAITING: a member was lost */
    struct hilock_lock *lock;        /* the user's handle */
    const struct hl_group_strategy *strategy;
    struct hl_terms *terms;          /* of its members alone: the user's once it is held; before that all are renewed */
    struct hl_alarm alarm;
    struct hl_gather *end;           /* for the next release; NULL: none made yet */
    TAILQ_HEAD(, hl_gather) gathers; /* calls that are not over */
    hilock_result_fn *on_result;     /* WAITING, DECIDED: of the acquire */
    void *user;
    uint64_t ends_us;                /* the same */
    uint64_t report_us;              /* WAITING: when the next WAITING event is due; 0: none was reported yet */
    uint64_t since_us;               /* HELD */
    uint64_t tenure;                 /* counts its holds */
    struct hl_attempt attempt;       /* ids: of a quorum, also for later holds of the same grant */
    struct hl_vote refusal;          /* the last one */
    struct hl_vote *votes;           /* WAITING: of each member the last refusal */
    uint32_t attempts;
    uint8_t state;                   /* enum hl_group_state */
    uint8_t step;                    /* the strategy's own state; HL_GROUP_PAUSED: it has nothing, until the alarm */
    uint8_t is_try;
    unsigned at, looks;              /* the strategy's: a member; how often it looked, or was refused */
    uint8_t is_found_held, was_found_held; /* it was found held by others, in this wait; in the one before */
    uint8_t is_failing;              /* HELD: the renewals of too many members fail, and that was reported */
    unsigned doublings;              /* WAITING: how often its patience was doubled, because it proved too short */
    unsigned count, needed;
    struct hl_member members[];      /* in the order of their names' bytes, the same for all groups */
};

extern const struct hl_group_strategy hl_multi_strategy, hl_quorum_strategy;
extern const struct hl_handle_ops hl_group_ops;

static inline struct hl_group *hl_group_of(const struct hilock_lock *lock) /* the user's handle; NULL: it is plain */
{
    return lock->attempt ? HL_CONTAINER(lock->attempt, struct hl_group, attempt) : NULL;
}

/* Makes a handle of it. References the names. -1: no memory, unref the handle */
int hl_group_new(struct hl_core *core, struct hilock_lock *lock, const struct hl_group_strategy *strategy,
                 struct hl_name *const *names, unsigned count, unsigned needed);

void hl_group_alarm(struct hl_alarm *alarm); /* of core->group_alarms */
void hl_groups_node(struct hl_core *core, int is_up); /* to all groups: a server is back, or away */
void hl_groups_close(struct hl_core *core); /* every wait ends CLOSED */

/* ---- for a strategy ---- */

static inline struct hl_core *hl_group_core(const struct hl_group *group) { return group->lock->terms->cell->core; }
static inline const struct hl_memory *hl_group_memory(const struct hl_group *group)
{
    return &group->lock->terms->cell->memory;
}
static inline uint64_t hl_group_now_us(const struct hl_group *group) { return hl_now_us(&hl_group_core(group)->host); }
static inline uint64_t hl_group_command_us(const struct hl_group *group)
{
    return (uint64_t)hl_group_core(group)->limits.command_timeout_ms * 1000;
}
void hl_group_wake_in(struct hl_group *group, uint64_t least_us, uint64_t random_us); /* its alarm: after least_us and
                                                                                         a random part of random_us */
void hl_group_rest(struct hl_group *group); /* no alarm */
/* the same as to wake, but gives all back first */
void hl_group_pause(struct hl_group *group, uint64_t least_us, uint64_t random_us);
/* in place of what it was; takes over their memory */
static inline void hl_group_keep(const struct hl_group *group, struct hl_vote *vote, hilock_status status,
                                 struct hl_result_words *words)
{
    hl_memory_free(hl_group_memory(group), vote->words);
    *vote = (struct hl_vote){status, words};
}
void hl_group_decide(struct hl_group *group, hilock_status status); /* DECIDED: gives all back */
void hl_group_grant(struct hl_group *group); /* enough are held; a function calls it last */

#endif
