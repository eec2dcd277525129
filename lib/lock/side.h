/* SPDX-License-Identifier: BSD-3-Clause */
/* side - what few holds need (an extend, a re-entry, a validity for other threads), made when first needed: a hold
 * without it pays one pointer. It lives as long as its hold, and freeing it needs no memory. */
#ifndef HL_LOCK_SIDE_H
#define HL_LOCK_SIDE_H

#include "lock/core.h"

struct hl_side *hl_side_of(struct hl_core *core, struct hl_hold *hold); /* made if there is none; NULL: no memory */
void hl_side_free(struct hl_core *core, struct hl_hold *hold); /* nothing is in it */

#endif
