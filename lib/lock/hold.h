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

#include "lock/acquire.h"

struct hl_hold *hl_hold_new(struct hl_core *core, const struct hilock_lock *lock); /* NULL: no memory */
void hl_hold_on_alarm(struct hl_alarm *alarm); /* of core->hold_alarms */
void hl_hold_free(struct hl_hold *hold); /* nothing of it is at the store or on the wire */

void hl_hold_ask(struct hl_hold *hold);    /* asks for what it has not; hl_acquire_answered follows */
void hl_hold_ask_masters(struct hl_hold *hold); /* of a quorum: as its ballot wants */
void hl_hold_keep(struct hl_hold *hold);   /* ASKING, granted: the watchdog begins */

uint64_t hl_hold_deadline_us(const struct hl_hold *hold); /* 0: not enough parts stand */
uint64_t hl_hold_ends_us(const struct hl_hold *hold); /* HELD: when belief ends: the deadline, or hold_max before it */
uint64_t hl_hold_max_ends_us(const struct hl_hold *hold); /* UINT64_MAX: no limit */
uint32_t hl_hold_entries(const struct hl_hold *hold); /* how many releases it needs */
uint32_t hl_hold_votes(const struct hl_hold *hold); /* of a quorum: masters that granted it; else 0 */
uint64_t hl_hold_token(const struct hl_hold *hold); /* of its present turn; 0: the kind has none */
int hl_hold_is_quorum(const struct hl_hold *hold); /* its parts are one name at several masters */
unsigned hl_hold_count(const struct hl_hold *hold, enum hl_part_state state);
unsigned hl_hold_asking(const struct hl_hold *hold); /* parts that have a request under way */
unsigned hl_hold_heard(const struct hl_hold *hold, enum hl_part_heard heard); /* of those that are not behind */
const struct hl_part *hl_hold_weakest(const struct hl_hold *hold); /* one that does not stand, or else the one that ends first */
struct hl_share *hl_part_share(struct hl_hold *hold, const struct hl_part *part); /* NULL: it is the only part */
int hl_hold_is_blank(const struct hl_hold *hold);  /* nothing of it is at the store or on the wire */
void hl_hold_heal(struct hl_hold *hold, struct hl_part *part, uint32_t timeout_ms, int is_second); /* HELD: asks for a part that is not ours, under the same id */
/* What the answer to its latest request says, in the words of its kind. */
struct hl_said hl_part_said(const struct hl_hold *hold, const struct hl_part *part, const struct hl_reply *reply);
/* 1: this answer to an acquire proves that nothing of the id is at the store. */
int hl_part_is_cleared_by(const struct hl_hold *hold, const struct hl_part *part, const struct hl_said *said);
/* The store does not know this hold. Nothing of it is there, but what an unanswered acquire may still put there, and the place in the queue of
 * one whose grant was pushed, and forgotten: those are released. */
void hl_part_not_ours(const struct hl_hold *hold, struct hl_part *part);
/* 1: a native command that the server told of was refused for good (a right that the user lacks): from here on scripts say the same. */
int hl_part_forgoes_native(const struct hl_part *part, const struct hl_said *said);
int hl_hold_is_at(const struct hl_hold *hold, const struct hl_node *node); /* a part of it is, as the route has it */
int hl_hold_has_moved(const struct hl_hold *hold); /* a part of it was last asked for at another node than where it is now */
void hl_part_grant(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said); /* the store said yes to its acquire */
/* ASKING: what this part was answered, in view of the others: hl_acquire_answered follows when it decides. */
void hl_hold_weigh(struct hl_hold *hold, struct hl_part *part, struct hl_asked asked);
void hl_hold_wake_at(struct hl_hold *hold, uint64_t at_us); /* UINT64_MAX: never */

#endif
