/* SPDX-License-Identifier: BSD-3-Clause */
/* gate - the client's local queue for one name: only its head asks the store, the others wait for it in order of
 * arrival.
 *
 * It lives while somebody waits. It listens to the unlock channel, knows what the store last said about the name, and
 * keeps its head from asking while a sibling holds the name, and while a release of this client is unanswered. Handles
 * of several kinds may stand in one line, and ask each in the words of its own. Who polls neither needs the channel nor
 * asks for it. A try (wait 0) stands in no line: it asks beside it, or is answered from what the gate knows. Invariant:
 * nothing here goes through the line: who stands in it costs the same however many others do. (Those who are queued at
 * the store are gone through when a new link comes.) */
#ifndef HL_LOCK_GATE_H
#define HL_LOCK_GATE_H

#include "lock/core.h"
#include "lock/name.h"

struct hl_gate *hl_gate_of(struct hl_core *core, struct hl_name *name); /* made if there is none, and then to be joined.
                                                                           NULL: no memory */
void hl_gate_join(struct hl_gate *gate, struct hl_acquire *acquire); /* which may ask at once */
void hl_gate_leave(struct hl_acquire *acquire);
int hl_gate_is_head(const struct hl_acquire *acquire); /* of those who wait */
struct hl_acquire *hl_gate_behind(const struct hl_acquire *acquire); /* the next one in its line; NULL: nobody */
void hl_gate_step_back(struct hl_acquire *acquire); /* to the end of its line */
void hl_gate_place(struct hl_acquire *acquire); /* it was given a ticket: behind lower ones, before higher ones */
void hl_gate_released(struct hl_name *name);   /* a hold of ours is over at the store, or unanswerable */
void hl_gate_wake(struct hl_name *name);       /* somebody's pause is over */
void hl_gate_wake_for(struct hl_acquire *acquire); /* it has given back what came too late, and asks anew */
void hl_gate_deny_tries(struct hl_name *name); /* a hold of ours has begun */
void hl_gates_advance(struct hl_core *core);   /* whose turn it is anywhere asks, if it does not yet */
/* who stand somewhere */
void hl_gates_visit(const struct hl_core *core, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg);
void hl_gates_close(struct hl_core *core);     /* every wait ends CLOSED */
void hl_gate_forget(struct hl_acquire *acquire); /* out of the line, and nothing follows from it */
void hl_gates_clear(struct hl_core *core);     /* every wait is freed, and nobody is called back */
void hl_gate_tell_waiting(struct hl_core *core, struct hl_name *name); /* found held: to all in line, once each */
struct hl_acquire *hl_gate_next(const struct hl_name *name); /* whose turn it is when who has it now has it no more;
                                                                NULL: nobody's */
void hl_gate_saw_others(struct hl_name *name); /* another program holds the name */
int hl_gate_has_others(const struct hl_name *name);
unsigned hl_gate_waiting(const struct hl_name *name);

#endif
