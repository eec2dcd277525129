/* SPDX-License-Identifier: BSD-3-Clause */
/* recheck - looks again whether a grant was taken. A release, a heartbeat or a try of ours may make a waiter the holder
 * for a window. If that waiter's client is dead or stands still the window lapses, and the name is free; nobody else
 * would notice before the next heartbeat in the queue. So whoever made the grant says a release again when the window
 * is over, with a fresh id that holds nothing: the store then gives a name that is free to the next waiter that is
 * ready, and takes the places of the client that let its grant lapse out of the queue.
 *
 *   none --an answer shows a grant of ours--> waits for the end of the window --> asks --> none, or waits for the next
 *     ^-----------------------------------------' this client has the name itself: its own release looks
 *
 * One for a name, of the latest such grant: the earlier one ended before. A grant stands a little longer at the store
 * than its client may believe in it, so the look finds it there, and nobody could hide whose grant lapsed by taking the
 * name before (wire/lapsed.lua). The look names the clients that let it lapse, one after the other, because the places
 * of two stopped clients may stand by turns. Invariants: the id of a look is used for nothing else, so the look can end
 * no hold and no place. A look without an answer is not repeated: when the link is back every waiter asks. Without
 * memory nobody looks, and a heartbeat finds the free name. */
#ifndef HL_HOLD_RECHECK_H
#define HL_HOLD_RECHECK_H

#include "hold/hold.h"

int hl_rechecks_init(struct hl_core *core); /* -1: no memory */
/* What the answer to a request of this hold shows beside what was asked for: the server's clock, places that it took
 * out of the queue, a grant that it made. */
void hl_recheck_read_answer(struct hl_hold *hold, const struct hl_response *said);
void hl_recheck_now(struct hl_core *core, struct hl_name *name, struct hl_terms *terms); /* it may be free */
void hl_recheck_cancel(struct hl_core *core, struct hl_name *name); /* this client has it now */
void hl_rechecks_clear(struct hl_core *core);

#endif
