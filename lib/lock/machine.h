/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - all locks of a client: how they begin and end, and the calls of a handle of one name. */
#ifndef HL_LOCK_MACHINE_H
#define HL_LOCK_MACHINE_H

#include "core/lock.h"

extern const struct hl_handle_ops hl_machine_ops; /* the calls of a handle of one name */

/* core is zeroed, except for its host and its options. -1: there is no memory; call hl_machine_done. */
int hl_machine_init(struct hl_core *core);
/* Frees all waits and holds. The route still exists, but gives no answers after this. */
void hl_machine_clear(struct hl_core *core);
void hl_machine_done(struct hl_core *core);
/* Frees the wait, the hold and the extras of one handle; in a forked child, too. */
void hl_machine_forget_lock(struct hl_core *core, struct hilock_lock *lock);

#endif
