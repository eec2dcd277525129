/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt - see attempt.h. */
#include "lock/attempt.h"

#include "lock/asking.h"
#include "lock/ballot.h"
#include "lock/hold.h"
#include "lock/multi.h"
#include "lock/name.h"

void hl_attempt_counts(struct hl_hold *hold, const struct hl_part *part)
{
    if (hold->state != HOLD_ASKING || part->is_second)
        return;
    hold->owner.acquire->attempts++;
    hl_trace(&hl_hold_core(hold)->host, HL_ACQUIRE_ASKED, &(struct hl_fact){.name = part->name->bytes});
}

/* So many of the first that it has not, in the order that all multis share. */
static void ask_names(struct hl_hold *hold)
{
    const struct hl_names *names = hold->terms->multi;
    unsigned room = hl_multi_step(hold->owner.acquire);
    for (unsigned i = 0; room && i < names->count; i++) {
        struct hl_part *part = &hold->parts[names->order[i]];
        if (part->state == PART_OURS)
            continue;
        room--;
        if (!hl_request_is_busy(&part->request))
            hl_asking_begin(hold, part, 0);
    }
}

static void ask_masters(struct hl_hold *hold)
{
    int asks_one = hl_ballot_asks_one(hold);
    for (unsigned i = 0; i < hold->parts_count; i++) {
        struct hl_part *part = &hold->parts[i];
        if (!hl_ballot_may_ask(hold, part))
            continue;
        hl_asking_begin(hold, part, 0);
        if (asks_one)
            break;
    }
}

void hl_attempt_begin(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    if (!hold->id)
        hold->id = ++core->id_last;
    hold->state = HOLD_ASKING;
    hl_ballot_begin(hold);
    if (hold->terms->multi)
        ask_names(hold);
    else if (hl_hold_is_quorum(hold))
        ask_masters(hold);
    else if (hold->parts->state != PART_OURS && !hl_request_is_busy(&hold->parts->request))
        hl_asking_begin(hold, hold->parts, 0);
}

static int weigh_vote(struct hl_hold *hold, struct hl_part *part, const struct hl_asked *asked, struct hl_asked *ret_verdict)
{
    if (hl_ballot_cast(hold, part, asked, ret_verdict))
        return 1;
    if (!hl_hold_asking(hold))
        ask_masters(hold);
    return 0;
}

int hl_attempt_weigh(struct hl_hold *hold, struct hl_part *part, const struct hl_asked *asked, struct hl_asked *ret_verdict)
{
    *ret_verdict = *asked;
    if (hl_hold_count(hold, PART_OURS) >= hold->needed) {
        *ret_verdict = (struct hl_asked){.answer = ASKED_GRANTED};
        return 1;
    }
    if (hl_hold_is_quorum(hold))
        return weigh_vote(hold, part, asked, ret_verdict);
    if (asked->answer != ASKED_GRANTED)
        return 1;
    if (!hl_hold_asking(hold))
        ask_names(hold);
    return 0;
}
