/* SPDX-License-Identifier: BSD-3-Clause */
/* member - one member of a group, and all of them together.
 *
 * A member is asked for, extended while the group waits, joined to a group that is held, and given back. While the
 * group waits, the answer to a member's acquire goes to the strategy; once the group is held, a late grant joins it.
 * All members together have one validity, and are given back together. The votes of a quorum's masters make one
 * answer: the holder, or why too few masters can grant. */
#ifndef HL_GROUP_MEMBER_H
#define HL_GROUP_MEMBER_H

#include "base/text.h"
#include "core/name.h"
#include "group/group.h"
#include "lock/inner.h"

static inline int hl_member_has(const struct hl_member *member) /* this member is held, and not lost */
{
    return hl_inner_is_held(member->lock);
}
static inline struct hl_vote *hl_member_vote(const struct hl_member *member)
{
    return &member->group->votes[member - member->group->members];
}
static inline struct hl_node *hl_member_node(const struct hl_member *member)
{
    return hl_name_node(hl_group_core(member->group), member->lock->name);
}
/* Takes a new block of ids for one attempt. Operators see by the block that holds belong together. */
void hl_member_take_ids(struct hl_group *group);
int hl_member_is_able(const struct hl_member *member); /* this member's server can be expected to answer soon */
/* Begins the member's acquire. NO_MEMORY: it could not begin, and the member's vote is NO_MEMORY. */
hilock_status hl_member_ask(struct hl_member *member, int is_try);
/* Extends the member for a whole lease while the group waits, unless an extend is pending already. */
void hl_member_extend(struct hl_member *member);
void hl_member_join(struct hl_member *member);   /* adds a member that was granted to a group that is held */
void hl_member_return(struct hl_member *member); /* withdraws the request and releases the hold; needs no memory */

/* ---- all members of a group ---- */

void hl_members_return(struct hl_group *group, const struct hl_member *but); /* but: this one stays; NULL: none stays */
/* Asks for the members for which may() returns true, except those that are held or have a request pending. */
void hl_members_ask(struct hl_group *group, int (*may)(const struct hl_member *member), int is_try);
uint64_t hl_members_rtt_us(const struct hl_group *group); /* the longest mean round trip to a master; at least 1 ms */
uint64_t hl_members_patience_us(const struct hl_group *group); /* a master whose answer takes longer counts as silent */
/* Extends each member with too little left, and each whose server may have forgotten the hold; for a group that waits.
 * Returns how many members are good enough for a grant. */
unsigned hl_members_freshen(struct hl_group *group);
unsigned hl_members_count(const struct hl_group *group, int (*is)(const struct hl_member *member));
unsigned hl_members_votes(const struct hl_group *group); /* how many masters of a quorum that is held hold it; else 0 */
uint64_t hl_members_end_us(const struct hl_group *group); /* the needed-th longest deadline; 0: too few are held */
unsigned hl_members_attempts(const struct hl_group *group); /* how many requests the group's acquire has made so far */

/* ---- the votes of the members ---- */

/* Stores as votes what is known about requests that are pending. is_over: the wait has ended, so silence counts, too */
void hl_members_learn(struct hl_group *group, int is_over);
int hl_members_are_final(const struct hl_group *group); /* 1: too many have refused for good */
/* Makes group->refusal from the votes, and returns its status. is_over: the time of the wait is up */
hilock_status hl_members_verdict(struct hl_group *group, int is_over);
/* Writes the detail of a grant: how many masters granted, which did not, and how long the hold is valid. */
void hl_members_write_votes(const struct hl_group *group, struct hl_text *text);

#endif
