/* SPDX-License-Identifier: BSD-3-Clause */
/* ends - releases of a group: makes one answer for the user from the answers of its members. */
#ifndef HL_GROUP_ENDS_H
#define HL_GROUP_ENDS_H

#include "group/group.h"

int hl_ends_prepare(struct hl_group *group); /* for the release to come; -1: no memory */
void hl_ends_begin(struct hl_group *group, hilock_result_fn *on_result, void *user); /* releases every member that is
                                                                                        held */
void hl_ends_settled(struct hl_group *group); /* a member's release that was UNKNOWN is over */
void hl_ends_forget(struct hl_group *group); /* memory only */

#endif
