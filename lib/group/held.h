/* SPDX-License-Identifier: BSD-3-Clause */
/* held - a held group: its validity, its renewals, its loss. */
#ifndef HL_GROUP_HELD_H
#define HL_GROUP_HELD_H

#include "group/group.h"

hilock_status hl_held_validity(struct hl_core *core, struct hilock_lock *lock, struct hilock_validity **ret);
void hl_held_lost(struct hl_member *member, const struct hilock_event *event);
void hl_held_join(struct hl_member *member); /* HELD: this member is held, too */
void hl_held_heal(struct hl_member *member); /* the same, but later than the others */
/* HELD: after a member's renewal, or the loss of a vote: the user learns when too many fail, and when no longer */
void hl_held_report_failing(struct hl_group *group, const char *detail);
void hl_held_over(struct hl_group *group); /* no longer held; the caller gives its members back */
void hl_held_end_validity(struct hl_group *group); /* other threads see no hold from here on */

#endif
