/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - what a hold is for is asked for, and answered: granted, held by another, refused, or silence. Invariant:
 * a silence leaves the id at the store until it is released (R3); belief counts from the send of the very request
 * (R1). */
#ifndef HL_LOCK_ASKING_H
#define HL_LOCK_ASKING_H

#include "lock/core.h"

void hl_asking_begin(struct hl_hold *hold, enum hl_way way); /* ASKING; the owner hears the answer */
void hl_asking_answered(struct hl_hold *hold, const struct hl_answer *answer);

#endif
