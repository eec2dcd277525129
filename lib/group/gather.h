/* SPDX-License-Identifier: BSD-3-Clause */
/* gather - one call of the user that a group's members answer, and its one answer: to a release, to an extend, and, of
 * a quorum, to an operator's question. The question goes to each master by an inquiry of its own; masters that are away
 * are not asked if the others are enough. */
#ifndef HL_GROUP_GATHER_H
#define HL_GROUP_GATHER_H

#include "group/group.h"

struct hl_gather {
    TAILQ_ENTRY(hl_gather) entry; /* in the group's */
    struct hl_group *group;
    hilock_operation operation;
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us, tenure;
    uint64_t until_us;        /* EXTEND: enough members must be held until then for an OK */
    uint32_t epoch, attempts;
    unsigned open, unsettled; /* members: without an answer; RELEASE: UNKNOWN and not settled */
    int is_answered, was_unknown;
    char *named;              /* FORCE_RELEASE: whose hold must end; NULL: any holder's */
    unsigned voted;
    struct hl_vote votes[];   /* what members answered; words only of a question */
};

void hl_gather_forget(struct hl_group *group); /* memory only */

struct hl_gather *hl_gather_new(const struct hl_group *group); /* blank; NULL: no memory */
/* releases every member that is held, and takes group->end for it */
void hl_gather_release(struct hl_group *group, hilock_result_fn *on_result, void *user);
void hl_gather_settled(struct hl_group *group); /* a member's release that was UNKNOWN is over */

hilock_status hl_gather_extend(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                               hilock_result_fn *on_result, void *user);
/* answers the first extend that has no answer; 0: there is none. detail outlives the answer */
int hl_gather_answer_lost(struct hl_group *group, const char *detail);

/* OK, NO_MEMORY; UNSUPPORTED: of several names. holder NULL: any holder. */
hilock_status hl_gather_inquire(struct hl_core *core, struct hilock_lock *lock, hilock_operation operation,
                                const char *holder, hilock_result_fn *on_result, void *user);

#endif
