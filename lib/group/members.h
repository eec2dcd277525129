/* SPDX-License-Identifier: BSD-3-Clause */
/* members - what a group's members hold together, and how it is given back. */
#ifndef HL_GROUP_MEMBERS_H
#define HL_GROUP_MEMBERS_H

#include "group/group.h"

void hl_member_return(struct hl_member *member); /* nothing of it is asked for or held any more; no memory is needed */
void hl_members_return(struct hl_group *group, unsigned from); /* from that member on nothing is asked for or held
                                                                  any more; no memory is needed */
void hl_members_expire(struct hl_group *group); /* those whose deadline has passed are lost now */
unsigned hl_members_held(const struct hl_group *group); /* how many are held now */
unsigned hl_members_votes(const struct hl_group *group); /* HELD, of a quorum: masters that have it; else 0 */
uint64_t hl_members_end_us(const struct hl_group *group); /* until when enough are held: the needed-th longest
                                                             deadline; 0: too few */
unsigned hl_members_attempts(const struct hl_group *group); /* of those that are not answered */
struct hl_look hl_members_look(const struct hilock_lock *lock, uint64_t now_us); /* of the group's handle */

#endif
