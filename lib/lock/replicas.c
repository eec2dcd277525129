/* SPDX-License-Identifier: BSD-3-Clause */
/* replicas - see replicas.h. */
#include "lock/replicas.h"

#include "base/plant.h"
#include "lock/ending.h"
#include "lock/hold.h"
#include "lock/part.h"
#include "lock/words.h"
#include "node/confirm.h"

void hl_replicas_ask(struct hl_hold *hold, struct hl_part *part)
{
    part->state = PART_MAYBE;
    part->ask = PART_CONFIRM;
    hl_confirm_ask(&part->request, hold->terms->replicas, hold->terms->replica_timeout_ms);
}

static void on_too_few(struct hl_hold *hold, struct hl_part *part, const struct hl_reply *reply)
{
    struct hl_asked asked = {.answer = ASKED_FAULT, .is_granted = 1, .fault = {HL_FAULT_PASSING, HILOCK_NOT_REPLICATED, 0}};
    struct hl_said said;
    struct hl_text words;
    hl_trace(&hl_hold_core(hold)->host, HL_HOLD_UNDONE, &(struct hl_fact){.name = part->name->bytes, .token = part->token});
    if (reply->type == HL_REPLY_INTEGER)
        hl_words_of_replicas(hold->terms, reply->integer, &words);
    else {
        said = hl_said_fault(reply);
        hl_text_set(&words, "WAIT: %s", hl_words_of_server(hl_hold_core(hold), said.quote, said.quote_length).bytes);
        asked.fault = said.fault;
    }
    asked.quote = words.bytes;
    asked.quote_length = strlen(words.bytes);
    hl_part_answered(hold, part, asked);
}

void hl_replicas_answered(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer)
{
    const struct hl_reply *reply = answer->reply;
    if (hold->state != HOLD_ASKING)
        hl_ending_answered(hold, part, answer);
    else if (!reply) {
        if (!HL_PLANTED(REPLICAS_UNASKED_FORGOTTEN)) /* it is at the store, though what asks for it again may never leave */
            hl_ending_haunt(hold, part);
        hl_part_answered(hold, part, (struct hl_asked){.answer = ASKED_UNANSWERED});
    } else if (reply->type == HL_REPLY_INTEGER && reply->integer >= hold->terms->replicas) {
        part->state = PART_OURS;
        hl_part_answered(hold, part, (struct hl_asked){.answer = ASKED_GRANTED});
    } else
        on_too_few(hold, part, reply);
}

int hl_replicas_are_asked(const struct hl_hold *hold)
{
    for (unsigned i = 0; hold && i < hold->parts_count; i++)
        if (hold->parts[i].request.place == REQUEST_CONFIRMING)
            return 1;
    return 0;
}
