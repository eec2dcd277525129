/* SPDX-License-Identifier: BSD-3-Clause */
/* proof - what the answers to a hold's requests prove.
 * Invariant: what may be at the store under the hold's id is MAYBE until a definite answer. */
#ifndef HL_LOCK_PROOF_H
#define HL_LOCK_PROOF_H

#include "lock/core.h"

/* The answer to its latest request, read by its kind. */
struct hl_response hl_proof_said(const struct hl_hold *hold, const struct hl_reply *reply);
/* 1: this answer to an acquire proves that nothing of the id is at the store. */
int hl_proof_is_cleared_by(const struct hl_hold *hold, const struct hl_response *said);
/* The store does not know this hold. Its id may still come: by an acquire without an answer, or from the queue, if the
 * store forgot its grant. In both cases it is released. */
void hl_proof_not_ours(struct hl_hold *hold);
void hl_proof_grant(struct hl_hold *hold, const struct hl_response *said); /* the store said yes to its acquire */
void hl_proof_told(struct hl_hold *hold, struct hl_acquire_result asked); /* ASKING: reports it to the owner */

#endif
