/* SPDX-License-Identifier: BSD-3-Clause */
/* gate - the client's local queue for one name: only its head asks the store; the others wait behind it in order of
 * arrival.
 *
 * It lives while there are waiters. It listens to the unlock channel, keeps the store's latest answer about the name,
 * and stops its head from asking while a sibling holds the name or a release of this client has no answer. Handles of
 * several kinds may stand in one line; each asks with the scripts of its kind. A waiter that polls needs no channel. A
 * try (wait 0) stands in no line: it asks beside it, or gets its answer from what the gate knows. Invariant: no code
 * here walks the line, so a waiter costs the same in a line of any length. (Waiters in the store's queue are visited
 * when a new link is up.) */
#ifndef HL_LOCK_GATE_H
#define HL_LOCK_GATE_H

#include "lock/core.h"
#include "lock/name.h"

struct hl_gate *hl_gate_of(struct hl_core *core, struct hl_name *name); /* makes one if needed, which must be joined.
                                                                           NULL: no memory */
void hl_gate_join(struct hl_gate *gate, struct hl_acquire *acquire); /* which may ask at once */
void hl_gate_leave(struct hl_acquire *acquire);
int hl_gate_is_head(const struct hl_acquire *acquire); /* of its waiters */
struct hl_acquire *hl_gate_behind(const struct hl_acquire *acquire); /* the next in its line; NULL: none */
void hl_gate_step_back(struct hl_acquire *acquire); /* to the end of its line */
void hl_gate_place(struct hl_acquire *acquire); /* it got a ticket: moves it behind lower ones */
void hl_gate_released(struct hl_name *name);   /* a hold of ours is over at the store, or gets no answer */
void hl_gate_wake(struct hl_name *name);       /* a waiter's pause is over */
void hl_gate_wake_for(struct hl_acquire *acquire); /* it has given back a late grant, and asks again */
void hl_gate_deny_tries(struct hl_name *name); /* a hold of ours has begun */
void hl_gates_close(struct hl_core *core);     /* every wait ends CLOSED */
void hl_gate_forget(struct hl_acquire *acquire); /* takes it out of the line, with no other effect */
void hl_gate_tell_waiting(struct hl_core *core, struct hl_name *name); /* found held: reports it to all in line, once
                                                                          each */
struct hl_acquire *hl_gate_next(const struct hl_name *name); /* the next one after the present holder; NULL: none */
void hl_gate_saw_others(struct hl_name *name); /* another program holds the name */
int hl_gate_has_others(const struct hl_name *name);
unsigned hl_gate_waiting(const struct hl_name *name);

/* A waiter whose turn to ask has come, but there is no memory for its hold, keeps its place, and the lines are
 * advanced from time to time until there is some; if its end comes first it is answered NO_MEMORY. The timer for that
 * is made with the client. */
int hl_gates_init(struct hl_core *core); /* 0; -1: no memory */
void hl_gates_done(struct hl_core *core);
void hl_gates_retry_soon(struct hl_core *core); /* a second call changes nothing */

#endif
