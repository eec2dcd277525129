/* SPDX-License-Identifier: BSD-3-Clause */
/* news - what members and the alarm report to their group: while it waits, to its way; while it is held, to
 * the user, and members that it lacks are asked for again. A loss is reported before its consequences (R6). */
#ifndef HL_GROUP_NEWS_H
#define HL_GROUP_NEWS_H

#include "group/group.h"

hilock_event_fn hl_news_lost, hl_news_event; /* of the terms of members */
/* HELD: after a member's renewal, or the loss of a vote: the user learns when too many fail, and when no longer */
void hl_news_failing(struct hl_group *group, const char *detail);
void hl_news_granted(struct hl_group *group); /* HELD from now on */
void hl_news_node(struct hl_core *core, int is_up); /* to all groups: a server is back, or away */
/* The group's alarm: after least_us and a random part of random_us; never. */
void hl_news_wake_in(struct hl_group *group, uint64_t least_us, uint64_t random_us);
void hl_news_rest(struct hl_group *group);
void hl_news_alarm(struct hl_alarm *alarm); /* of core->group_alarms */

#endif
