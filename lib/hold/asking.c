/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - see asking.h. */
#include "hold/asking.h"

#include "base/contract.h"
#include "base/plant.h"
#include "core/lease.h"
#include "core/name.h"
#include "hold/ending.h"
#include "hold/hold.h"
#include "hold/messages.h"
#include "node/wait_link.h"

static void ask(struct hl_hold *hold, enum hl_way way)
{
    hold->ask = ASK_ACQUIRE;
    hold->kept = KEPT_MAYBE;
    hold->is_in_order = 0;
    hold->way = (uint8_t)way;
    hl_route_submit(hl_hold_core(hold)->route, &hold->request, hl_hold_core(hold)->limits.command_timeout_ms,
                    (hold->terms->is_unguarded ? HL_REQUEST_URGENT
                     : HL_REQUEST_GRANT) | (hold->terms->replicas || HL_PLANTED(REPLICAS_LINK_FOR_ALL)
                                            ? HL_REQUEST_CONFIRM : 0));
}

/* ASKING; NULL: no answer */
static void report(struct hl_hold *hold, const struct hl_response *said)
{
    hl_hold_core(hold)->owner->answered(hold->lock->acquire, said);
}

static void confirm(struct hl_hold *hold)
{
    hold->kept = KEPT_MAYBE;
    hold->ask = ASK_CONFIRM;
    hl_wait_link_ask(&hold->request, hold->terms->replicas, hold->terms->replica_timeout_ms);
}

static void on_granted(struct hl_hold *hold, const struct hl_response *said)
{
    uint64_t lease_us = (uint64_t)hold->asked_ms * 1000, from_us = hold->request.sent_us;
    if (HL_PLANTED(R1_DEADLINE_FROM_REPLY))
        from_us = hl_now_us(&hl_hold_core(hold)->host);
    hold->kept = KEPT_OURS;
    hold->is_queued = 0;
    hold->token = said->token;
    hold->deadline_us = hl_lease_deadline_us(from_us, lease_us);
    if (hold->terms->replicas && !HL_PLANTED(REPLICAS_TOLD_EARLY))
        confirm(hold);
    else
        report(hold, said);
}

/* The clock sample was old, or the command took very long to arrive: ask once more with the server's time from the
 * refusal. */
static void on_late(struct hl_hold *hold, const struct hl_response *said)
{
    static const char words[] = "the request reached the store later than it may run";
    hl_node_learn_time(hold->request.node, said->server_us, hold->request.sent_us);
    if (hold->way != WAY_AGAIN) {
        ask(hold, WAY_AGAIN);
        return;
    }
    report(hold, &(struct hl_response){.result = HL_FAULT, .fault = {HL_FAULT_PASSING, HILOCK_UNREACHABLE, 1},
                                              .quote = words, .quote_length = sizeof words - 1});
}

/* After the store's definite no the id is not there, unless an earlier request of it went unanswered and may still run.
 * A lasting error (a missing right) may have stopped the script halfway: the id is released for safety. */
static void on_asked(struct hl_hold *hold, const struct hl_reply *reply)
{
    struct hl_response said = hl_hold_read(hold, reply);
    if (said.result == HL_YES) {
        on_granted(hold, &said);
        return;
    }
    if (said.result == HL_AGAIN) {
        ask(hold, WAY_SECOND);
        return;
    }
    if (hl_hold_is_cleared_by(hold, &said))
        hold->kept = KEPT_NOTHING;
    hold->is_queued |= said.position != 0;
    if (said.result == HL_LATE)
        on_late(hold, &said);
    else
        report(hold, &said);
}

static void on_unanswered(struct hl_hold *hold)
{
    if (HL_PLANTED(R3_UNKNOWN_IS_FAILURE))
        hold->kept = KEPT_NOTHING;
    else
        hl_ending_haunt(hold);
    report(hold, NULL);
}

void hl_asking_answered(struct hl_hold *hold, const struct hl_answer *answer)
{
    if (answer->reply)
        on_asked(hold, answer->reply);
    else
        on_unanswered(hold);
}

/* ---- replicas ---- */

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
    report(hold, &said);
}

void hl_asking_confirmed(struct hl_hold *hold, const struct hl_answer *answer)
{
    const struct hl_reply *reply = answer->reply;
    HL_REQUIRE(hold->state == HOLD_ASKING); /* an end withdraws the request */
    if (!reply) {
        if (!HL_PLANTED(REPLICAS_UNASKED_FORGOTTEN)) /* it is at the store, even if its request never leaves again */
            hl_ending_haunt(hold);
        report(hold, NULL);
    } else if (reply->type == HL_REPLY_INTEGER && reply->integer >= hold->terms->replicas) {
        hold->kept = KEPT_OURS;
        report(hold, &(struct hl_response){.result = HL_YES});
    } else
        on_too_few(hold, reply);
}

/* ---- the begin ---- */

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
