/* SPDX-License-Identifier: BSD-3-Clause */
/* side - see side.h. */
#include "lock/side.h"

#include "base/contract.h"
#include "lock/reentry.h"

struct hl_side *hl_side_of(struct hl_core *core, struct hl_hold *hold)
{
    if (hold->side || !(hold->side = hl_memory_new(&core->host.memory, sizeof *hold->side)))
        return hold->side;
    TAILQ_INIT(&hold->side->extends);
    hl_reentry_init(&hold->side->desk);
    hold->side->next_us = hold->due_us ? hold->due_us : UINT64_MAX;
    return hold->side;
}

void hl_side_free(struct hl_core *core, struct hl_hold *hold)
{
    const struct hl_side *side = hold->side;
    if (!side)
        return;
    /* a turn's end or a teardown has emptied it */
    HL_REQUIRE(!side->validity && TAILQ_EMPTY(&side->extends) && TAILQ_EMPTY(&side->desk.leaves));
    hl_memory_free(&core->host.memory, hold->side);
    hold->side = NULL;
}
