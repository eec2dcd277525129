/* SPDX-License-Identifier: BSD-3-Clause */
/* members - what a group's members hold together, its validity, and giving it back. */
#ifndef HL_GROUP_MEMBERS_H
#define HL_GROUP_MEMBERS_H

#include "group/member.h"

void hl_members_return(struct hl_group *group); /* all of them */
uint64_t hl_members_trip_us(const struct hl_group *group); /* the longest of the usual round trips; 1 ms at least */
uint64_t hl_members_patience_us(const struct hl_group *group); /* how long a server may owe an answer before it counts
                                                                  as silent */
/* WAITING: how many are good for a grant. One with too little left is extended, and so is one whose server may have
 * forgotten it since */
unsigned hl_members_good(struct hl_group *group);
unsigned hl_members_held(const struct hl_group *group); /* how many are held now */
unsigned hl_members_votes(const struct hl_group *group); /* HELD, of a quorum: masters that have it; else 0 */
uint64_t hl_members_end_us(const struct hl_group *group); /* the needed-th longest deadline; 0: too few are held */
unsigned hl_members_attempts(const struct hl_group *group); /* of acquires without an answer */
void hl_members_over(struct hl_group *group); /* no longer held; the caller gives its members back */
struct hl_look hl_members_look(const struct hilock_lock *lock); /* of the group's handle */

#endif
