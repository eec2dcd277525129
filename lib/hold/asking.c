/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - see asking.h. */
#include "hold/asking.h"

#include "base/plant.h"
#include "core/lease.h"
#include "hold/ending.h"
#include "hold/messages.h"
#include "node/wait_link.h"

static void ask(struct hl_hold *hold, enum hl_way way)
{
    struct hl_core *core = hl_hold_core(hold);
    unsigned how = hold->terms->is_unguarded ? HL_REQUEST_URGENT : HL_REQUEST_GRANT;
    hold->ask = ASK_ACQUIRE;
    hold->kept = KEPT_MAYBE;
    hold->is_in_order = 0;
    hold->way = (uint8_t)way;
    if (hold->terms->replicas || HL_PLANTED(REPLICAS_LINK_FOR_ALL))
        how |= HL_REQUEST_CONFIRM;
    hl_route_submit(core->route, &hold->request, core->limits.command_timeout_ms, how);
}

/* ASKING; NULL: no answer */
static void report(struct hl_hold *hold, const struct hl_response *said)
{
    hl_hold_core(hold)->owner->answered(hold->lock->acquire, said);
}

static void on_granted(struct hl_hold *hold, const struct hl_response *said)
{
    uint64_t from_us = HL_PLANTED(R1_DEADLINE_FROM_REPLY) ? hl_now_us(&hl_hold_core(hold)->host)
        : hold->request.sent_us;
    hold->kept = KEPT_OURS;
    hold->is_queued = 0;
    hold->token = said->token;
    hold->deadline_us = hl_lease_deadline_us(from_us, (uint64_t)hold->asked_ms * 1000);
    if (!hold->terms->replicas || HL_PLANTED(REPLICAS_TOLD_EARLY)) {
        report(hold, said);
        return;
    }
    hold->kept = KEPT_MAYBE;
    hold->ask = ASK_CONFIRM;
    hl_wait_link_ask(&hold->request, hold->terms->replicas, hold->terms->replica_timeout_ms);
}

/* The clock sample was old, or the command took very long to arrive: ask once more with the server's time from the
 * refusal. */
static void on_late(struct hl_hold *hold, const struct hl_response *said)
{
    static const char words[] = "the request reached the store later than it may run";
    hl_node_learn_time(hold->request.node, said->server_us, hold->request.sent_us);
    if (hold->way != WAY_AGAIN)
        ask(hold, WAY_AGAIN);
    else
        report(hold, &(struct hl_response){.result = HL_FAULT, .fault = {HL_FAULT_PASSING, HILOCK_UNREACHABLE, 1},
                                           .quote = words, .quote_length = sizeof words - 1});
}

/* After the store's definite no the id is not there, unless an earlier request of it went unanswered and may still run.
 * A lasting error (a missing right) may have stopped the script halfway: the id is released for safety. */
static void on_asked(struct hl_hold *hold, const struct hl_reply *reply)
{
    struct hl_response said = hl_hold_read(hold, reply);
    if (hl_hold_is_cleared_by(hold, &said))
        hold->kept = KEPT_NOTHING;
    hold->is_queued |= said.position != 0;
    if (said.result == HL_YES)
        on_granted(hold, &said);
    else if (said.result == HL_AGAIN)
        ask(hold, WAY_SECOND);
    else if (said.result == HL_LATE)
        on_late(hold, &said);
    else
        report(hold, &said);
}

/* The answer to WAIT. */
static void on_confirmed(struct hl_hold *hold, const struct hl_reply *reply)
{
    struct hl_response said = {.result = HL_FAULT, .fault = {HL_FAULT_PASSING, HILOCK_NOT_REPLICATED, 0}};
    struct hl_text words;
    if (reply->type == HL_REPLY_INTEGER && reply->integer >= hold->terms->replicas) {
        hold->kept = KEPT_OURS;
        report(hold, &(struct hl_response){.result = HL_YES});
        return;
    }
    hl_terms_trace(hold->terms, HL_HOLD_UNDONE, &(struct hl_fact){.name = hold->name->bytes, .token = hold->token});
    if (reply->type == HL_REPLY_INTEGER)
        hl_message_of_replicas(hold->terms, reply->integer, &words);
    else {
        said = hl_response_fault(reply);
        hl_text_set(&words, "WAIT: %s", hl_message_of_server(hl_hold_core(hold), said.quote, said.quote_length).bytes);
    }
    said.quote = words.bytes;
    said.quote_length = strlen(words.bytes);
    report(hold, &said);
}

/* Without an answer, a grant that waits for replicas is at the store, even if its request never leaves again. */
void hl_asking_answered(struct hl_hold *hold, const struct hl_answer *answer)
{
    if (answer->reply && hold->ask == ASK_CONFIRM)
        on_confirmed(hold, answer->reply);
    else if (answer->reply)
        on_asked(hold, answer->reply);
    else {
        if (hold->ask == ASK_ACQUIRE && HL_PLANTED(R3_UNKNOWN_IS_FAILURE))
            hold->kept = KEPT_NOTHING;
        else if (hold->ask == ASK_ACQUIRE || !HL_PLANTED(REPLICAS_UNASKED_FORGOTTEN))
            hl_ending_haunt(hold);
        report(hold, NULL);
    }
}

uint64_t hl_asking_id(const struct hilock_lock *lock)
{
    struct hl_attempt *attempt = lock->attempt;
    return ++*(attempt && attempt->id_last ? &attempt->id_last : &lock->terms->cell->core->id_last);
}

void hl_asking_begin(struct hl_hold *hold)
{
    if (!hold->id)
        hold->id = hl_asking_id(hold->lock);
    hold->state = HOLD_ASKING;
    if (hold->kept != KEPT_OURS && !hl_request_is_busy(&hold->request))
        ask(hold, WAY_FIRST);
}
