/* SPDX-License-Identifier: BSD-3-Clause */
/* hold - a name at a node that the store keeps for us under an id.
 *
 *   IDLE -> ASKING -> HELD -> ENDING -> freed
 *             `-----------------^
 *
 * A hold is made before its first request, with room for its alarm, so that renewing, releasing and undoing need no
 * memory. Invariants:
 *  - its id is new for every acquisition and never used again (R2);
 *  - an id that may be at the store is released before the hold is freed, unless the store said that it is not there
 *    (R3, R4, R5);
 *  - a grant that replicas must confirm is MAYBE until they have, not OURS;
 *  - what may be at the store under its id is MAYBE until a definite answer;
 *  - only a reply moves its deadline, counted from that request's send, and never after it has passed (R1, R11). */
#ifndef HL_LOCK_HOLD_H
#define HL_LOCK_HOLD_H

#include "lock/core.h"

struct hl_hold *hl_hold_new(struct hl_core *core, const struct hilock_lock *lock); /* NULL: no memory */
void hl_hold_free(struct hl_hold *hold); /* nothing of it is at the store or on the wire */
void hl_hold_wake_at(struct hl_hold *hold, uint64_t at_us); /* UINT64_MAX: never */
/* visit may end the hold it is given */
void hl_hold_each_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg);

int hl_hold_is_told(const struct hl_hold *hold); /* its handle's user knows of it, and not yet of its end */
const struct hilock_lock *hl_hold_handle(const struct hl_hold *hold); /* its handle, or the one that asks for it; NULL:
                                                                         none */
uint64_t hl_hold_deadline_us(const struct hl_hold *hold); /* 0: it is not ours */
uint64_t hl_hold_ends_us(const struct hl_hold *hold); /* HELD: when belief ends: the deadline, or hold_max before it */
uint64_t hl_hold_left_us(const struct hl_hold *hold, uint64_t now_us); /* of belief; 0: not HELD */
uint64_t hl_hold_max_ends_us(const struct hl_hold *hold); /* UINT64_MAX: no limit */
/* what must be left for a handle of these terms to begin with */
uint64_t hl_hold_least_us(const struct hl_hold *hold, const struct hl_terms *terms);
uint32_t hl_hold_entries(const struct hl_hold *hold); /* how many releases it needs */
uint64_t hl_hold_token(const struct hl_hold *hold); /* of its present turn; 0: the kind has none */
unsigned hl_hold_reserved(const struct hl_hold *hold); /* tokens that its acquire reserves for later turns */
uint32_t hl_hold_asked_ms(const struct hl_hold *hold); /* the lease that the latest round of renewals asked for, or its
                                                          own */
int hl_hold_is_confirming(const struct hl_hold *hold); /* it is granted, and replicas have not confirmed it yet */
int hl_hold_is_blank(const struct hl_hold *hold);  /* nothing of it is at the store or on the wire */
int hl_hold_is_at(const struct hl_hold *hold, const struct hl_node *node); /* as the route has it */
int hl_hold_has_moved(const struct hl_hold *hold); /* its latest request went to another node than its present one */
int hl_hold_is_adrift(const struct hl_hold *hold); /* its latest request went over an older link, or to another
                                                      server */

/* The answer to its latest request, read by its kind. */
struct hl_response hl_hold_read(const struct hl_hold *hold, const struct hl_reply *reply);
/* 1: this answer to an acquire proves that nothing of the id is at the store. */
int hl_hold_is_cleared_by(const struct hl_hold *hold, const struct hl_response *said);
/* The store does not know this hold. Its id may still come: by an acquire without an answer, or from the queue, if the
 * store forgot its grant. In both cases it is released. */
void hl_hold_not_ours(struct hl_hold *hold);

struct hl_side *hl_hold_side(struct hl_core *core, struct hl_hold *hold); /* made if there is none; NULL: no memory */
void hl_hold_side_free(struct hl_core *core, struct hl_hold *hold); /* nothing is in it */

#endif
