/* SPDX-License-Identifier: BSD-3-Clause */
/* news - what members and the alarm report to their group: while it waits, to its way; while it is held, to held.h. A
 * loss is reported before its consequences (R6). */
#ifndef HL_GROUP_NEWS_H
#define HL_GROUP_NEWS_H

#include "group/group.h"

hilock_result_fn hl_news_acquired; /* of a member's acquire */
hilock_event_fn hl_news_lost, hl_news_event; /* of the terms of members */
void hl_news_alarm(struct hl_alarm *alarm); /* of core->group_alarms */

#endif
