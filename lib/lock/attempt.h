/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt - an acquire asks for what it wants: one name; of a multi some of its names, in the order that all multis share; of a quorum all masters,
 * or one after the other (ballot.h). */
#ifndef HL_LOCK_ATTEMPT_H
#define HL_LOCK_ATTEMPT_H

#include "lock/core.h"

void hl_attempt_begin(struct hl_hold *hold); /* asks for what it has not, under the id that it has or a new one */
void hl_attempt_counts(struct hl_hold *hold, const struct hl_part *part); /* a request leaves */
/* A part was answered. 1: that decides the attempt; 0: there are more answers to come, or more to be asked for, which is done. */
int hl_attempt_weigh(struct hl_hold *hold, struct hl_part *part, const struct hl_asked *asked, struct hl_asked *ret_verdict);

#endif
