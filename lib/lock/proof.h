/* SPDX-License-Identifier: BSD-3-Clause */
/* proof - what the answers to a hold's requests say, and what they prove.
 * Invariant: what may be at the store under the hold's id is MAYBE until a definite answer. */
#ifndef HL_LOCK_PROOF_H
#define HL_LOCK_PROOF_H

#include "lock/core.h"

/* What the answer to its latest request says, in the words of its kind. */
struct hl_said hl_proof_said(const struct hl_hold *hold, const struct hl_reply *reply);
/* 1: this answer to an acquire proves that nothing of the id is at the store. */
int hl_proof_is_cleared_by(const struct hl_hold *hold, const struct hl_said *said);
/* The store does not know this hold. Nothing of it is there, but what an unanswered acquire may still put there, and
 * the place in the queue of one whose grant was forgotten: those are released. */
void hl_proof_not_ours(struct hl_hold *hold);
/* 1: a native command that the server told of was refused for good (a right that the user lacks): from here on scripts
 * say the same. */
int hl_proof_forgoes_native(struct hl_hold *hold, const struct hl_said *said);
void hl_proof_grant(struct hl_hold *hold, const struct hl_said *said); /* the store said yes to its acquire */
void hl_proof_told(struct hl_hold *hold, struct hl_asked asked); /* ASKING: the owner hears it */

#endif
