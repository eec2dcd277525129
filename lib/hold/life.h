/* SPDX-License-Identifier: BSD-3-Clause */
/* life - what becomes of a hold: for each of its states, what its alarm, an answer, no answer and its end do. The
 * states and their drawing are in hold.h, and the table is in life.c: every alarm, every answer and every end goes
 * through it.
 *
 * Invariant: a state says whether a request is under way, and which. So a hold enters a state with such a request just
 * before that is submitted, and leaves it when the request is answered or taken back. */
#ifndef HL_HOLD_LIFE_H
#define HL_HOLD_LIFE_H

#include "hold/hold.h"

enum hl_under_way { /* the request that is under way in a state */
    UNDER_WAY_NOTHING,
    UNDER_WAY_ACQUIRE,
    UNDER_WAY_WAIT,
    UNDER_WAY_RENEWAL,
    UNDER_WAY_RELEASE
};

struct hl_withdrawal { /* how a hold ends */
    enum hl_end end;
    struct hl_caller caller; /* the release call of its user, if there was one */
    struct hl_hold *carried; /* the hold whose acquire the release carries (carried.h); NULL: none */
};

int hl_life_init(struct hl_core *core); /* call before the first hold. Returns 0, or -1 without memory */
void hl_life_end(struct hl_hold *hold, const struct hl_withdrawal *how); /* the hold ends, as its state prescribes */
enum hl_under_way hl_life_under_way(const struct hl_hold *hold);

#endif
