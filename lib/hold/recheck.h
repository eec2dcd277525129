/* SPDX-License-Identifier: BSD-3-Clause */
/* recheck - asks the store once more after a grant whether that grant was used. A release, a heartbeat or a try of ours
 * may make a waiter the holder for the length of a window. If that waiter's client is dead or stands still, the window
 * lapses and the name is free, and nobody would notice before the next heartbeat in the queue. Therefore the client
 * that made the grant sends another release when the window is over: a look, with a fresh id that holds nothing. If the
 * name is free, the store gives it to the next waiter that is ready, and removes the places of the client that let its
 * grant lapse.
 *
 *   none --an answer shows a grant of ours--> waits for the end of the window --> asks --> none, or waits for the next
 *     ^----------------------------------------' this client got the name itself: its own release looks
 *
 * A name has at most one recheck, for the latest such grant; earlier grants ended before. A grant stands at the store a
 * little longer than its client may rely on it, so the look still finds it, and no client can take the name before that
 * and so hide whose grant lapsed (wire/lapsed.lua). The look names all clients whose grants lapsed one after the other,
 * because the places of two stopped clients may alternate in the queue.
 * Invariants: the id of a look is used for nothing else, so a look ends no hold and no place. A look without an answer
 * is not repeated: when the link is back, every waiter asks. Without memory there is no look, and a heartbeat finds the
 * free name. */
#ifndef HL_HOLD_RECHECK_H
#define HL_HOLD_RECHECK_H

#include "hold/hold.h"

int hl_rechecks_init(struct hl_core *core); /* returns -1 without memory */
/* Takes from an answer to a request of this hold what it reports beside its result: the server's clock, the places that
 * the store removed from the queue, and a grant that it made. */
void hl_recheck_read_answer(struct hl_hold *hold, const struct hl_response *said);
/* looks at once, because the name may be free */
void hl_recheck_now(struct hl_core *core, struct hl_name *name, struct hl_terms *terms);
/* this client has the name now: no look is needed */
void hl_recheck_cancel(struct hl_core *core, struct hl_name *name);
void hl_rechecks_clear(struct hl_core *core);

#endif
