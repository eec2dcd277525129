/* SPDX-License-Identifier: BSD-3-Clause */
/* recheck - checks at the store whether a grant was used. A release, a heartbeat or a try of
 * this client may make a waiter the holder for the length of a window. If the client of that waiter is dead or stands
 * still, the window ends unused: the grant has lapsed. Nobody would notice that the name is free before the next
 * heartbeat in the queue. Therefore the client that made the grant sends another release when the window is over: the
 * recheck, with a fresh id that is not at the store. If the name is free, the store grants it to the next waiter that
 * is ready, and removes the places of the client that let its grant lapse.
 *
 *   none --an answer shows a grant of ours--> WAITING --the window is over--> SENT --answer--> none, or WAITING again
 *     ^                                          |
 *     `------------------------------------------' this client got the name itself: its own release will find
 *                                                  lapsed grants
 *
 * If the name may be free while a recheck is SENT, another one is sent when that one is answered: DUE_AGAIN.
 * A name has at most one recheck, for the latest such grant; the earlier grants were over before that one was made. At
 * the store a grant lasts a little longer than the window on which its client relies. The recheck comes in this last
 * moment: it finds the unused grant still there and treats it as lapsed. So no client can take the name before the
 * recheck, and thereby hide whose grant lapsed (wire/lapsed.lua). The places of two stopped clients may alternate in
 * the queue. If the recheck named only the client whose grant lapsed last, each of them would get the name again in
 * turn. So it names all clients whose grants have lapsed since the name was last used.
 *
 * Invariants: the id of a recheck is used for nothing else, so a recheck ends no hold and no place. A recheck without
 * an answer is not repeated: when the link is back, every waiter sends a request. Without memory there is no recheck,
 * and a heartbeat finds the free name. */
#ifndef HL_HOLD_RECHECK_H
#define HL_HOLD_RECHECK_H

#include "hold/hold.h"

int hl_rechecks_init(struct hl_core *core); /* returns -1 without memory */
/* A request of this hold made a grant, by its answer; or it found too many waiters that are not ready, and the recheck
 * goes on. */
void hl_recheck_follow(struct hl_hold *hold, const struct hl_response *said);
/* the name may be free: sends a recheck at once */
void hl_recheck_now(struct hl_core *core, struct hl_name *name, struct hl_terms *terms);
/* this client has the name now, which has a recheck: none is needed */
void hl_recheck_cancel(struct hl_name *name);
/* frees all rechecks, and sends nothing */
void hl_rechecks_clear(struct hl_core *core);

#endif
