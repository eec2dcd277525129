/* SPDX-License-Identifier: BSD-3-Clause */
/* deliver - the only place that calls user callbacks.
 *
 * What has something to tell is a notice in one of two lists; the lists are drained when control is about to go back to the loop.
 * Invariants: losses are told before anything else (R6), and what has expired is found before anything is told; the rest in the order
 * things happened; what comes up during a drain is told in a later turn, so that no callback can keep the loop from turning; at most a
 * bounded batch a turn. Before its callback a notice is out of every list and whatever it changes is changed: inside the callback any
 * call on any object is legal, and nothing is touched after it but the core. */
#ifndef HL_LOCK_DELIVER_H
#define HL_LOCK_DELIVER_H

#include "lock/core.h"

void hl_deliver_init(struct hl_core *core);
void hl_deliver(struct hl_core *core); /* at the end of a call from the loop; core->is_gone may be true after it */
int hl_deliver_is_due(const struct hl_core *core); /* something is to be told */

void hl_notice_move(struct hl_core *core, struct hl_notice *notice, enum hl_notice_place place);
void hl_notice_tell(struct hl_core *core, struct hl_notice *notice, unsigned bit); /* on delivery; once more before it is nothing */
void hl_notice_hush(struct hl_core *core, struct hl_notice *notice);               /* nothing of it is told */

#endif
