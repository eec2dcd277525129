/* SPDX-License-Identifier: BSD-3-Clause */
/* gate - the client's local queue for one name: only its head asks the store, the others wait for it in order of arrival.
 *
 * It lives while somebody waits. It listens to the unlock channel, knows what the store last said about the name, and keeps its head
 * from asking while a sibling holds the name, while a release of this client is unanswered, and for a moment after a release that others
 * listened to (so that they get their turn: back to back we would win against every other process).
 * Handles of several kinds may stand in one line, and ask each in the words of its own. Who polls neither needs the channel nor asks for it.
 * A try (wait 0) stands in no line: it asks beside it, or is answered from what the gate knows.
 * Invariant: nothing here goes through the line: who stands in it costs the same however many others do. (Those who are queued at the store
 * are gone through when a new link comes.) */
#ifndef HL_LOCK_GATE_H
#define HL_LOCK_GATE_H

#include "lock/core.h"
#include "lock/name.h"

hilock_status hl_gate_join(struct hl_core *core, struct hl_acquire *acquire); /* HILOCK_OK or NO_MEMORY */
void hl_gate_leave(struct hl_acquire *acquire);
/* To the end of the line of another of its names. 0: there is no memory for that line, and it stays where it is. */
int hl_gate_move(struct hl_core *core, struct hl_acquire *acquire, unsigned at);
int hl_gate_is_head(const struct hl_acquire *acquire); /* of those who wait */
void hl_gate_step_back(struct hl_acquire *acquire); /* to the end of its line */
void hl_gate_place(struct hl_acquire *acquire); /* it was given a ticket: behind lower ones, before higher ones */
/* An attempt got some of what it asked for and lost against another: nobody here asks again for a random while, of twice as many turns as others
 * are heard to wait: all who lost have the same odds, for all hear the same. Where nobody can be heard, it doubles some times.
 * A multi adds up those who wait for all of its names, pauses for a second at most, and is cut short by a message. */
void hl_gate_yield(struct hl_core *core, const struct hl_acquire *acquire);
uint64_t hl_gate_yields_until_us(const struct hl_name *name);
uint64_t hl_gate_pause_us(struct hl_core *core, const struct hl_acquire *acquire); /* refused by the first master: until all are asked */
void hl_gate_returned(struct hl_core *core, struct hl_name *name, uint64_t listeners); /* what such an attempt got is given back */
void hl_gate_released(struct hl_core *core, struct hl_name *name, uint64_t listeners); /* a hold of ours is over at the store, or unanswerable */
void hl_gate_wake(struct hl_name *name);       /* somebody's pause is over */
void hl_gate_wake_for(struct hl_acquire *acquire); /* it has given back what came too late, and asks anew */
void hl_gate_deny_tries(struct hl_name *name); /* a hold of ours has begun */
void hl_gates_advance(struct hl_core *core);   /* whose turn it is anywhere asks, if it does not yet */
void hl_gates_visit(const struct hl_core *core, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg); /* who stand somewhere */
void hl_gates_close(struct hl_core *core);     /* every wait ends CLOSED */
void hl_gate_forget(struct hl_acquire *acquire); /* out of the line, and nothing follows from it */
void hl_gates_clear(struct hl_core *core);     /* every wait is freed, and nobody is told */
void hl_gate_tell_waiting(struct hl_core *core, struct hl_name *name); /* found held: all in line are told, once each */
struct hl_acquire *hl_gate_next(const struct hl_name *name); /* whose turn it is when who has it now has it no more; NULL: nobody's */
unsigned hl_gate_waiting(const struct hl_name *name);

#endif
