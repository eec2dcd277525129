/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict - makes one answer of the answers of a quorum's masters: the holder, or why too few can say yes. */
#ifndef HL_GROUP_VERDICT_H
#define HL_GROUP_VERDICT_H

#include "base/text.h"
#include "group/group.h"

int hl_verdict_is_lasting(hilock_status refusal); /* asking again would fail again */
int hl_verdict_is_fault(hilock_status status); /* neither a yes, nor "held", nor silence */
void hl_verdict_learn(struct hl_group *group, int is_over); /* what is known of pending ones; is_over: silence, too */
void hl_verdict_forget(struct hl_group *group); /* all that was refused */
int hl_verdict_is_one(const char *holder, const char *other); /* the same, or holds of one attempt */
/* with that status, the one whose holder most others name, too; NULL: none. ret_agreed: how many name it */
struct hl_vote *hl_verdict_speaker(struct hl_vote *votes, unsigned count, hilock_status status, unsigned *ret_agreed);
int hl_verdict_is_final(const struct hl_group *group); /* too many refused for good: the others are too few */
void hl_verdict_reach(struct hl_group *group, int is_over); /* makes group->refusal; is_over: the time is up */
void hl_verdict_of_votes(const struct hl_group *group, struct hl_text *text); /* a grant: votes that are missing */

#endif
