/* SPDX-License-Identifier: BSD-3-Clause */
/* desk - see desk.h. */
#include "lock/desk.h"

void hl_desk_init(struct hl_desk *desk)
{
    TAILQ_INIT(&desk->entries);
    TAILQ_INIT(&desk->leaving);
    desk->count = 0;
}

int hl_desk_is_empty(const struct hl_desk *desk) { return TAILQ_EMPTY(&desk->entries) && TAILQ_EMPTY(&desk->leaving); }
