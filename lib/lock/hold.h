/* SPDX-License-Identifier: BSD-3-Clause */
/* hold - what the store keeps for us: 1..n parts (a name at a node), of which `needed` must stand.
 *
 *   IDLE -> ASKING -> HELD -> ENDING -> freed
 *             |  ^
 *             v  |  (granted with too little left)
 *          RETURNING
 *
 * A hold is made before anything is asked, room for its alarm included, so that renewing, releasing and undoing need no memory. Invariants:
 *  - its id is new for every acquisition and never used again (R2);
 *  - what may be at the store is released before the hold is freed, unless the store said that it is not there (R3, R4, R5);
 *  - a part that replicas are to confirm is not OURS before they have: what is at the store is MAYBE till then;
 *  - a part's deadline moves only by a reply, by that request's own send time, and never after it has passed (R1, R11). */
#ifndef HL_LOCK_HOLD_H
#define HL_LOCK_HOLD_H

#include "lock/core.h"

struct hl_hold *hl_hold_new(struct hl_core *core, const struct hilock_lock *lock); /* NULL: no memory */
void hl_hold_free(struct hl_hold *hold); /* nothing of it is at the store or on the wire */
void hl_hold_wake_at(struct hl_hold *hold, uint64_t at_us); /* UINT64_MAX: never */
void hl_hold_each_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg); /* visit may end the hold it is given */

uint64_t hl_hold_deadline_us(const struct hl_hold *hold); /* 0: not enough parts stand */
uint64_t hl_hold_ends_us(const struct hl_hold *hold); /* HELD: when belief ends: the deadline, or hold_max before it */
uint64_t hl_hold_max_ends_us(const struct hl_hold *hold); /* UINT64_MAX: no limit */
uint32_t hl_hold_entries(const struct hl_hold *hold); /* how many releases it needs */
uint32_t hl_hold_votes(const struct hl_hold *hold); /* of a quorum: masters that granted it; else 0 */
uint64_t hl_hold_token(const struct hl_hold *hold); /* of its present turn; 0: the kind has none */
unsigned hl_hold_reserved(const struct hl_hold *hold); /* tokens that its acquire sets aside, for the turns behind the first */
uint32_t hl_hold_asked_ms(const struct hl_hold *hold); /* the lease that the latest round of renewals asked for, or its own */
int hl_hold_is_quorum(const struct hl_hold *hold); /* its parts are one name at several masters */
unsigned hl_hold_count(const struct hl_hold *hold, enum hl_part_state state);
unsigned hl_hold_asking(const struct hl_hold *hold); /* parts that have a request under way */
unsigned hl_hold_heard(const struct hl_hold *hold, enum hl_part_heard heard); /* of those that are not behind */
const struct hl_part *hl_hold_weakest(const struct hl_hold *hold); /* one that does not stand, or else the one that ends first */
int hl_hold_is_blank(const struct hl_hold *hold);  /* nothing of it is at the store or on the wire */
int hl_hold_is_at(const struct hl_hold *hold, const struct hl_node *node); /* a part of it is, as the route has it */
int hl_hold_has_moved(const struct hl_hold *hold); /* a part of it was last asked for at another node than where it is now */

#endif
