/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict - makes one answer of the answers of a quorum's masters: the holder, or why too few can say yes. */
#ifndef HL_GROUP_VERDICT_H
#define HL_GROUP_VERDICT_H

#include "base/text.h"
#include "group/group.h"

int hl_verdict_is_lasting(hilock_status refusal); /* asking again would fail again */
int hl_verdict_is_fault(hilock_status status); /* neither a yes, nor "held", nor silence */
void hl_verdict_keep(struct hl_member *member, const struct hilock_result *result); /* its acquire was answered */
void hl_verdict_learn(struct hl_group *group, int is_over); /* for pending ones: what is known, as if refused; is_over:
                                                               also silence */
void hl_verdict_forget(struct hl_group *group);
int hl_verdict_is_one(const char *holder, const char *other); /* the same, or holds of one attempt */
/* how many have that status and name that holder */
unsigned hl_verdict_agreed(const struct hl_vote *votes, unsigned count, const struct hl_vote *vote);
/* with that status, the one that agrees with most others; NULL: none */
struct hl_vote *hl_verdict_speaker(struct hl_vote *votes, unsigned count, hilock_status status);
int hl_verdict_is_final(const struct hl_group *group); /* too many refused for good: the others are too few */
void hl_verdict_reach(struct hl_group *group, int is_over); /* the wait ends without the lock: group->refusal. is_over:
                                                               its time is up */
void hl_verdict_of_votes(const struct hl_group *group, struct hl_text *text); /* a grant: the masters that did not say
                                                                                 yes */

#endif
