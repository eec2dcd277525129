/* SPDX-License-Identifier: BSD-3-Clause */
/* replicas - see replicas.h. */
#include "lock/replicas.h"

#include "base/plant.h"
#include "lock/ending.h"
#include "lock/hold.h"
#include "lock/proof.h"
#include "lock/terms.h"
#include "lock/messages.h"
#include "node/wait_link.h"

void hl_replicas_ask(struct hl_hold *hold)
{
    hold->kept = KEPT_MAYBE;
    hold->ask = ASK_CONFIRM;
    hl_wait_link_ask(&hold->request, hold->terms->replicas, hold->terms->replica_timeout_ms);
}

static void on_too_few(struct hl_hold *hold, const struct hl_reply *reply)
{
    struct hl_response said = {.result = HL_FAULT, .fault = {HL_FAULT_PASSING, HILOCK_NOT_REPLICATED, 0}};
    struct hl_text words;
    hl_terms_trace(hold->terms, HL_HOLD_UNDONE, &(struct hl_fact){.name = hold->name->bytes, .token = hold->token});
    if (reply->type == HL_REPLY_INTEGER)
        hl_message_of_replicas(hold->terms, reply->integer, &words);
    else {
        said = hl_response_fault(reply);
        hl_text_set(&words, "WAIT: %s", hl_message_of_server(hl_hold_core(hold), said.quote, said.quote_length).bytes);
    }
    said.quote = words.bytes;
    said.quote_length = strlen(words.bytes);
    hl_proof_told(hold, &said);
}

void hl_replicas_answered(struct hl_hold *hold, const struct hl_answer *answer)
{
    const struct hl_reply *reply = answer->reply;
    if (hold->state != HOLD_ASKING)
        hl_ending_answered(hold, answer);
    else if (!reply) {
        if (!HL_PLANTED(REPLICAS_UNASKED_FORGOTTEN)) /* it is at the store, even if its request never leaves again */
            hl_ending_haunt(hold);
        hl_proof_told(hold, NULL);
    } else if (reply->type == HL_REPLY_INTEGER && reply->integer >= hold->terms->replicas) {
        hold->kept = KEPT_OURS;
        hl_proof_told(hold, &(struct hl_response){.result = HL_YES});
    } else
        on_too_few(hold, reply);
}

int hl_replicas_are_asked(const struct hl_hold *hold)
{
    return hold && hold->request.place == REQUEST_CONFIRMING;
}
