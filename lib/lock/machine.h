/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - a client's locks as a whole: their begin and end, the tables of calls up, and the calls of a handle of one
 * name. */
#ifndef HL_LOCK_MACHINE_H
#define HL_LOCK_MACHINE_H

#include "core/lock.h"

extern const struct hl_handle_ops hl_machine_ops; /* of a handle of one name */

int hl_machine_init(struct hl_core *core); /* zeroed, but for its host and its options. -1: no memory, call
                                              hl_machine_done */
void hl_machine_clear(struct hl_core *core); /* frees all waits and holds; the route still exists, and sends no answers
                                                after this */
void hl_machine_done(struct hl_core *core);
/* what one handle has; in a forked child, too */
void hl_machine_forget_lock(struct hl_core *core, struct hilock_lock *lock);

#endif
