/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - see asking.h. */
#include "lock/asking.h"

#include "base/plant.h"
#include "lock/ending.h"
#include "lock/hold.h"
#include "lock/part.h"
#include "lock/replicas.h"

void hl_asking_begin(struct hl_hold *hold, struct hl_part *part, int is_second)
{
    part->ask = PART_ACQUIRE;
    part->state = PART_MAYBE;
    part->is_second = is_second != 0;
    hl_route_submit(hl_hold_core(hold)->route, &part->request, hl_hold_core(hold)->limits.command_timeout_ms,
                    HL_REQUEST_GRANT | (hold->terms->replicas || HL_PLANTED(REPLICAS_LINK_FOR_ALL) ? HL_REQUEST_CONFIRM : 0));
}

/* Also from a store under its restart guard: the hold stands without it, so nobody else can hold what that store forgot. */
void hl_asking_heal(struct hl_hold *hold, struct hl_part *part, uint32_t timeout_ms, int is_second)
{
    part->ask = PART_ACQUIRE;
    part->state = PART_MAYBE;
    part->is_second = is_second != 0;
    hl_route_submit(hl_hold_core(hold)->route, &part->request, timeout_ms, HL_REQUEST_URGENT);
}

static void on_granted(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    hl_part_grant(hold, part, said);
    if (hold->terms->replicas && !HL_PLANTED(REPLICAS_TOLD_EARLY))
        hl_replicas_ask(hold, part);
    else
        hl_part_answered(hold, part, (struct hl_asked){.answer = ASKED_GRANTED});
}

/* The clock sample was old, or the command was on its way for very long: with the server's time from the refusal it is asked once more. */
static void on_late(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    static const char words[] = "the request reached the store later than it may run";
    hl_node_learn_time(part->request.node, said->server_us, part->request.sent_us);
    if (!part->is_late_once) {
        part->is_late_once = 1;
        hl_asking_begin(hold, part, 0);
        return;
    }
    part->is_late_once = 0;
    hl_part_answered(hold, part, (struct hl_asked){.answer = ASKED_FAULT, .fault = {HL_FAULT_PASSING, HILOCK_UNREACHABLE, 1}, .quote = words, .quote_length = sizeof words - 1});
}

/* The store's definite no takes the id off it, unless an earlier request of it went unanswered and may still run. An error that will last
 * (a right that the script lacks) may have come in its midst: the id is released for safety. */
static void on_asked(struct hl_hold *hold, struct hl_part *part, const struct hl_reply *reply)
{
    struct hl_said said = hl_part_said(hold, part, reply);
    part->is_late_once = part->is_late_once && said.verdict == HL_LATE;
    if (said.verdict == HL_YES) {
        on_granted(hold, part, &said);
        return;
    }
    if (said.verdict == HL_AGAIN) {
        hl_asking_begin(hold, part, 1);
        return;
    }
    if (hl_part_is_cleared_by(hold, part, &said))
        part->state = PART_CLEAR;
    hold->is_queued = hold->is_queued || said.position;
    if (said.verdict == HL_LATE)
        on_late(hold, part, &said);
    else if (said.verdict == HL_NO)
        hl_part_answered(hold, part, (struct hl_asked){.answer = ASKED_HELD, .left_ms = said.left_ms, .has_no_ttl = said.has_no_ttl, .holder = said.holder,
                                            .holder_length = said.holder_length, .ticket = said.ticket, .position = said.position,
                                            .waiters = said.waiters, .hands_over = said.hands_over});
    else
        hl_part_answered(hold, part, (struct hl_asked){.answer = ASKED_FAULT, .fault = said.fault, .quote = said.quote, .quote_length = said.quote_length});
}

static void on_unanswered(struct hl_hold *hold, struct hl_part *part)
{
    if (HL_PLANTED(R3_UNKNOWN_IS_FAILURE))
        part->state = PART_CLEAR;
    else
        hl_ending_haunt(hold, part);
    hl_part_answered(hold, part, (struct hl_asked){.answer = ASKED_UNANSWERED});
}

void hl_asking_answered(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer)
{
    if (answer->reply)
        on_asked(hold, part, answer->reply);
    else
        on_unanswered(hold, part);
}
