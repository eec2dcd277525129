/* SPDX-License-Identifier: BSD-3-Clause */
/* gather - one call of the user that all members of a group answer, gathered in one answer: a release, an extend, or
 * an operator's question to a quorum. Each master gets the question as an inquiry of its own; masters that are away
 * are not asked if the others are enough.
 *
 *   OPEN --> ANSWERED -----------------------------> freed, when the last member has answered
 *     `----> UNKNOWN --all releases are settled----> that is reported, too, then freed */
#ifndef HL_GROUP_GATHER_H
#define HL_GROUP_GATHER_H

#include "group/group.h"

enum hl_gather_state { GATHER_OPEN, GATHER_ANSWERED, GATHER_UNKNOWN }; /* UNKNOWN: it was answered so */

struct hl_gather {
    TAILQ_ENTRY(hl_gather) entry; /* in the list `gathers` of the group */
    struct hl_group *group;
    hilock_operation operation;
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us, tenure;
    uint64_t until_us;        /* EXTEND: for an OK enough members must be held until this time */
    uint32_t epoch, attempts;
    unsigned open;            /* how many members have not answered yet */
    unsigned unsettled;       /* RELEASE: how many members answered UNKNOWN and are not settled yet */
    enum hl_gather_state state;
    char *named;              /* FORCE_RELEASE of a named holder: that holder. Such a gather begins with peeks */
    unsigned voted;
    struct hl_vote votes[];   /* the first `voted` are the members' answers. Those to a release, and the OK to an
                                 extend, have no words */
};

void hl_gather_forget(struct hl_group *group); /* frees all gathers of the group; reports and sends nothing */

struct hl_gather *hl_gather_new(const struct hl_group *group); /* allocates an uninitialized one; NULL: no memory */
/* Releases every member that is held. Uses the gather group->end, so it needs no memory. */
void hl_gather_release(struct hl_group *group, hilock_result_fn *on_result, void *user);
void hl_gather_settled(struct hl_group *group); /* a member reports that its UNKNOWN release is settled */

hilock_status hl_gather_extend(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                               hilock_result_fn *on_result, void *user);
/* Answers the first pending extend with LOST. Returns 0 if there is none. detail must stay until this returns. */
int hl_gather_answer_lost(struct hl_group *group, const char *detail);

/* Returns OK or NO_MEMORY; UNSUPPORTED: the group has several names. holder: NULL means any holder */
hilock_status hl_gather_inquire(struct hl_core *core, struct hilock_lock *lock, hilock_operation operation,
                                const char *holder, hilock_result_fn *on_result, void *user);

#endif
