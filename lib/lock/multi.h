/* SPDX-License-Identifier: BSD-3-Clause */
/* multi - what is different when a handle stands for several names, all of them.
 *
 * Its hold has a part for each name, and all are asked for at once. Its acquire stands in the line of one name at a time, as any waiter does:
 * first that of the first name, then that of the name which was found busy. Before it asks, and when it is refused, it looks where it has
 * to stand. Whatever an attempt got goes back when another part of it is refused (acquire.c), so nothing is kept while something is
 * waited for: there is no order to remember, and no deadlock.
 *
 * Attempts that cross would take names from each other for ever, the more so the slower the way to the store is. So who lost, and had taken
 * something, asks the next time for half as many at a time, in the end for one, in the order of their bytes, which all share; it stops at the
 * first that is refused. Of several who ask for one at a time, who has the last name of all that are taken for now finds what it lacks
 * free, or taken by somebody who is further still: one of them comes through.
 *
 * Names that many want are hardly ever free at one time: who keeps nothing would wait for ever. So a multi that lost four times, and asks for
 * one at a time, keeps what it has when the next one is refused, stands in that one's line, and goes on from there when it gets it. Each name
 * is then waited for as by a single lock, whom the others let go first in his turn (courtesy.h). All who keep go by the one order, so
 * none of them waits for another in a circle; and nobody keeps for longer than half of the time that his lease has to spare (a quarter of it,
 * unless min_validity_ms says otherwise): then everything goes back, and it begins anew. Who must wait longer than that for his names, all told, is
 * promised nothing: his lease is too short for them. What he kept across the loss of a link is not believed in: nobody verifies it before the grant,
 * as a hold is verified, so all is asked for anew.
 * Invariant: a name that a sibling holds, that a release of ours is still out for, or that siblings wait for, is not asked for past them. (But
 * for the last: who has moved for it once asks where it stands then. Multis in two lines, each moving for what was heard in the other, would
 * change places for ever, and nobody would ask any more.) */
#ifndef HL_LOCK_MULTI_H
#define HL_LOCK_MULTI_H

#include "lock/core.h"

/* Index of a name, other than the one in whose line it stands, that it may not ask for now; -1: none, as for every plain acquire. */
int hl_multi_barred_at(const struct hl_acquire *acquire);
unsigned hl_multi_step(const struct hl_acquire *acquire); /* how many of its names it asks for at a time */
void hl_multi_refused(struct hl_acquire *acquire);        /* one of them was, and it had, or may have, others */
int hl_multi_keeps(const struct hl_acquire *acquire); /* refused: what it has stays with it, for a while (wait.h) */
int hl_multi_is_adrift(const struct hl_acquire *acquire); /* a name of it was got over a link, or of a server, that is another one now */
void hl_multi_late(struct hl_acquire *acquire);           /* it got them all, when too little was left of the first */
unsigned hl_multi_crowd(const struct hl_acquire *acquire); /* how many others were last heard to wait for its names, added up. Also of a plain one */
int hl_multi_held_at(const struct hilock_lock *lock); /* index of a name that is known to be held; -1: none. Also of a plain handle */

#endif
