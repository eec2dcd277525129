/* SPDX-License-Identifier: BSD-3-Clause */
/* member - one member of a group: it is asked for, extended while the group waits, joins a group that is held, and is
 * given back. Its answers go to the group's way; once the group is held, a late grant joins. */
#ifndef HL_GROUP_MEMBER_H
#define HL_GROUP_MEMBER_H

#include "core/name.h"
#include "group/group.h"

static inline int hl_member_has(const struct hl_member *member) /* it is held, and not lost */
{
    return member->lock->hold && member->lock->hold->state == HOLD_HELD;
}
static inline struct hl_node *hl_member_node(const struct hl_member *member)
{
    return hl_name_node(hl_group_core(member->group), member->lock->name);
}
void hl_member_take_ids(struct hl_group *group); /* begins one attempt: operators see that its holds belong together */
hilock_status hl_member_ask(struct hl_member *member, int is_try); /* its acquire begins; NO_MEMORY */
void hl_member_extend(struct hl_member *member); /* WAITING: for the whole lease, unless that is under way */
void hl_member_join(struct hl_member *member);   /* HELD: this member is held, too */
void hl_member_return(struct hl_member *member); /* after it, the member has no request and no hold; needs no memory */

#endif
