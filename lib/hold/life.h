/* SPDX-License-Identifier: BSD-3-Clause */
/* life - what becomes of a hold: for each of its states, which request is under way, and what its alarm, an answer, no
 * answer and its end do. The states and their drawing are in hold.h, and the table is in life.c: every request, every
 * alarm, every answer and every end goes through it.
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

struct hl_life { /* what happens in a state */
    uint8_t under_way; /* enum hl_under_way */
    uint8_t then;      /* the state that follows when that request is answered, or will not be */
    uint8_t ends_as;   /* the state that follows when the hold ends and that request cannot be taken back; of a hold
                          that is ending already: its own state */
    void (*on_alarm)(struct hl_hold *hold);
    /* When an answer comes, or none will, nothing is under way any more: these find the hold in the state `then`. */
    void (*on_answer)(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer);
    void (*on_silence)(struct hl_hold *hold, const struct hl_answer *answer);
};
extern const struct hl_life hl_life_in[]; /* by enum hl_hold_state */

int hl_life_init(struct hl_core *core); /* call before the first hold. Returns 0, or -1 without memory */

#endif
