/* SPDX-License-Identifier: BSD-3-Clause */
/* member - one member of a group: it is asked for, extended while the group waits, joins a group that is held, and is
 * given back. Its answers go to the group's strategy; once the group is held, a late grant joins. And what all members
 * hold together, its validity, and giving it back; and one answer of the answers of a quorum's masters: the holder, or
 * why too few can say yes. */
#ifndef HL_GROUP_MEMBER_H
#define HL_GROUP_MEMBER_H

#include "base/text.h"
#include "core/name.h"
#include "group/group.h"

static inline int hl_member_has(const struct hl_member *member) /* it is held, and not lost */
{
    return member->lock->hold && member->lock->hold->state == HOLD_HELD;
}
static inline struct hl_vote *hl_member_vote(const struct hl_member *member)
{
    return &member->group->votes[member - member->group->members];
}
static inline struct hl_node *hl_member_node(const struct hl_member *member)
{
    return hl_name_node(hl_group_core(member->group), member->lock->name);
}
void hl_member_take_ids(struct hl_group *group); /* begins one attempt: operators see that its holds belong together */
int hl_member_is_able(const struct hl_member *member); /* its server may answer soon */
hilock_status hl_member_ask(struct hl_member *member, int is_try); /* its acquire begins; NO_MEMORY: its vote is that */
void hl_member_extend(struct hl_member *member); /* WAITING: for the whole lease, unless that is under way */
void hl_member_join(struct hl_member *member);   /* HELD: this member is held, too */
void hl_member_return(struct hl_member *member); /* after it, the member has no request and no hold; needs no memory */

/* ---- all of them ---- */

void hl_members_return(struct hl_group *group, const struct hl_member *but); /* NULL: every one */
/* those that may be asked, and neither are held nor ask already */
void hl_members_ask(struct hl_group *group, int (*may)(const struct hl_member *member), int is_try);
uint64_t hl_members_rtt_us(const struct hl_group *group); /* the longest of the usual round trips; 1 ms at least */
uint64_t hl_members_patience_us(const struct hl_group *group); /* one that owes an answer for longer is silent */
/* WAITING: extends each member with too little left, and each whose server may have forgotten it since. Returns how
 * many are good for a grant */
unsigned hl_members_freshen(struct hl_group *group);
unsigned hl_members_count(const struct hl_group *group, int (*is)(const struct hl_member *member));
unsigned hl_members_votes(const struct hl_group *group); /* HELD, of a quorum: masters that have it; else 0 */
uint64_t hl_members_end_us(const struct hl_group *group); /* the needed-th longest deadline; 0: too few are held */
unsigned hl_members_attempts(const struct hl_group *group); /* all that the group's acquire has made */

/* ---- their votes ---- */

int hl_member_vote_lasts(hilock_status refusal); /* asking again would fail again */
int hl_member_vote_is_fault(hilock_status status); /* neither a yes, nor "held", nor silence */
int hl_members_name_same_holder(const char *holder, const char *other); /* the same, or holds of one attempt */
void hl_members_learn(struct hl_group *group, int is_over); /* what is known of pending ones; is_over: silence, too */
/* with that status, the one whose holder most others name, too; NULL: none. ret_agreed: how many name it */
struct hl_vote *hl_members_most_agreed(struct hl_vote *votes, unsigned count, hilock_status status,
                                       unsigned *ret_agreed);
int hl_members_are_final(const struct hl_group *group); /* too many refused for good: the others are too few */
/* makes group->refusal, and returns its status; is_over: the time is up */
hilock_status hl_members_verdict(struct hl_group *group, int is_over);
void hl_members_write_votes(const struct hl_group *group, struct hl_text *text); /* a grant: votes that are missing */

#endif
