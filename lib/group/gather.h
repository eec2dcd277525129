/* SPDX-License-Identifier: BSD-3-Clause */
/* gather - makes one answer for the user from the answers of a group's members: to a release, to an extend, and to an
 * operator's question (survey.h). */
#ifndef HL_GROUP_GATHER_H
#define HL_GROUP_GATHER_H

#include "group/group.h"

struct hl_gather { /* one call of the user */
    TAILQ_ENTRY(hl_gather) entry; /* in the group's */
    struct hl_group *group;
    hilock_operation operation;
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us, tenure;
    uint32_t epoch, attempts;
    unsigned open, yes, lost, unsettled; /* members: without an answer; OK, LOST; RELEASE: UNKNOWN and not settled */
    hilock_status worst;                 /* EXTEND. OK: nothing but OK so far */
    int is_answered, was_unknown;
    struct hl_vote *votes;               /* what masters said to a question; the gather has the memory of their words */
    unsigned voted;
};

/* Into zeroed memory of the client's allocator; it has a reference to the handle. */
void hl_gather_begin(struct hl_gather *gather, struct hl_group *group, hilock_operation operation,
                     hilock_result_fn *on_result, void *user);
/* Adds the operation, attempts and time. The caller keeps a reference to the handle: the gather may be freed, and in
 * the callback the user may abandon the client. */
void hl_gather_answer(struct hl_gather *gather, struct hilock_result result);
void hl_gather_end(struct hl_gather *gather); /* frees it, unless a member's answer is to come */
void hl_gather_forget(struct hl_group *group); /* memory only */

int hl_gather_prepare(struct hl_group *group); /* for the release to come; -1: no memory */
/* releases every member that is held */
void hl_gather_release(struct hl_group *group, hilock_result_fn *on_result, void *user);
void hl_gather_settled(struct hl_group *group); /* a member's release that was UNKNOWN is over */
hilock_status hl_gather_extend(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                               hilock_result_fn *on_result, void *user);
struct hl_gather *hl_gather_extending(const struct hl_group *group); /* the first extend without an answer, or NULL */

#endif
