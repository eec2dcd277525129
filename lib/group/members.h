/* SPDX-License-Identifier: BSD-3-Clause */
/* members - what a group's members hold together, its validity, and giving it back. */
#ifndef HL_GROUP_MEMBERS_H
#define HL_GROUP_MEMBERS_H

#include "group/group.h"

static inline int hl_member_has(const struct hl_member *member) /* it is held, and not lost */
{
    return member->lock->hold && member->lock->hold->state == HOLD_HELD;
}
void hl_member_return(struct hl_member *member); /* after it, the member has no request and no hold; needs no memory */
void hl_members_return(struct hl_group *group); /* the same for all of them */
void hl_members_expire(struct hl_group *group); /* reports members past their deadline as lost */
unsigned hl_members_held(const struct hl_group *group); /* how many are held now */
unsigned hl_members_votes(const struct hl_group *group); /* HELD, of a quorum: masters that have it; else 0 */
uint64_t hl_members_end_us(const struct hl_group *group); /* the needed-th longest deadline; 0: too few are held */
unsigned hl_members_attempts(const struct hl_group *group); /* of acquires without an answer */
hilock_status hl_members_validity(struct hl_core *core, struct hilock_lock *lock, struct hilock_validity **ret);
void hl_members_end_validity(struct hl_group *group); /* other threads see no hold from here on */
void hl_member_join(struct hl_member *member); /* HELD: this member is held, too */
void hl_members_over(struct hl_group *group); /* no longer held; the caller gives its members back */
struct hl_look hl_members_look(const struct hilock_lock *lock); /* of the group's handle */

#endif
