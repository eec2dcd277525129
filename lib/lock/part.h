/* SPDX-License-Identifier: BSD-3-Clause */
/* part - a name at a node, which a hold is made of: what its answers say, and what they prove.
 * Invariant: what may be at the store under the hold's id is MAYBE until a definite answer. */
#ifndef HL_LOCK_PART_H
#define HL_LOCK_PART_H

#include "lock/core.h"

struct hl_share *hl_part_share(struct hl_hold *hold, const struct hl_part *part); /* NULL: it is the only part */
uint32_t hl_part_asked_ms(struct hl_hold *hold, const struct hl_part *part); /* what its latest request asked for */
/* What the answer to its latest request says, in the words of its kind. */
struct hl_said hl_part_said(const struct hl_hold *hold, const struct hl_part *part, const struct hl_reply *reply);
/* 1: this answer to an acquire proves that nothing of the id is at the store. */
int hl_part_is_cleared_by(const struct hl_hold *hold, const struct hl_part *part, const struct hl_said *said);
/* The store does not know this hold. Nothing of it is there, but what an unanswered acquire may still put there, and the place in the queue of
 * one whose grant was forgotten: those are released. */
void hl_part_not_ours(const struct hl_hold *hold, struct hl_part *part);
/* 1: a native command that the server told of was refused for good (a right that the user lacks): from here on scripts say the same. */
int hl_part_forgoes_native(const struct hl_part *part, const struct hl_said *said);
void hl_part_grant(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said); /* the store said yes to its acquire */
void hl_part_answered(struct hl_hold *hold, struct hl_part *part, struct hl_asked asked); /* ASKING: the owner hears it */
uint64_t hl_part_patience_us(const struct hl_hold *hold); /* of a quorum: how long a master may owe an answer before it counts as silent */
int hl_part_can_vote(const struct hl_hold *hold, const struct hl_part *part); /* of a quorum: its master can be asked */

#endif
