/* SPDX-License-Identifier: BSD-3-Clause */
/* quorum - a group of one name at several independent masters, which holds while the needed ones of them have it.
 *
 *   ROUND      it waits at one master, the arbiter, and tries the others at the same time; enough votes are a grant
 *     | held by others, or too few: what was got goes back, but the place at the arbiter
 *   STANDING   it waits at the arbiter alone; now and then it tries the others, for nobody may need the arbiter's vote
 *     | granted there
 *   ASKING     the arbiter is ours; it waits at the others, for a moment
 *     | not enough by then: all goes back
 *   PAUSED     it has nothing; masters that can be asked are too few, or it lost a race. Then STANDING, or ROUND
 *   held       late votes join; masters that were away, or have lost it, are asked again, until it ends (heals)
 *
 * All who wait for a name stand in one queue, that of the first master in the order of the client's URLs that can be
 * asked, and a release wakes one of them. Who finds the name contended begins there. Clients that do not agree on the
 * arbiter exclude each other still, and give back what they have after a moment. A master cannot be asked while it is
 * away, owes an answer for long, or is kept from granting by its restart guard. A vote that is lost is asked for again
 * while the others stand, never after the end, and not if it is not renewed: it would stand for a whole lease. */
#ifndef HL_GROUP_QUORUM_H
#define HL_GROUP_QUORUM_H

#include "group/group.h"

extern const struct hl_group_ways hl_quorum_ways;

#endif
