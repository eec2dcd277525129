/* SPDX-License-Identifier: BSD-3-Clause */
/* quorum - a group of one name at several independent masters; it holds while enough of them grant it.
 *
 *   ROUND      it waits at one master, the arbiter, and tries the others at the same time; enough votes are a grant
 *     | held by others, or too few: what was got goes back, but the place at the arbiter
 * STANDING it waits at the arbiter alone; now and then it tries the others, in case no client needs the arbiter's vote
 *     | granted there
 *   ASKING     the arbiter is ours; it waits at the others, for a moment, or tries them if it has to poll
 *     | not enough by then: all goes back
 *   PAUSED     it has nothing; masters that can be asked are too few, or it lost a race. Then STANDING, or ROUND
 *   held       late votes join; masters that were away, or have lost it, are asked again, until it ends (heals)
 *
 * All clients that wait for a name stand in one queue: that of the first master, in the order of the client's URLs,
 * that can be asked. A release wakes one of them. A client that finds the name contended begins there. Clients that
 * disagree about the arbiter still exclude each other, and give back their votes after a moment. A master cannot be
 * asked while it is away, owes an answer for long, or is under its restart guard. A lost vote is asked for again while
 * the others stand, never after the end, and not if the lock is not renewed: the vote would stay for a whole lease. */
#ifndef HL_GROUP_QUORUM_H
#define HL_GROUP_QUORUM_H

#include "group/group.h"

extern const struct hl_group_ways hl_quorum_ways;

#endif
