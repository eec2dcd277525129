/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - see asking.h. */
#include "lock/asking.h"

#include "base/plant.h"
#include "lock/ending.h"
#include "lock/hold.h"
#include "lock/proof.h"
#include "lock/replicas.h"
#include "lock/name.h"

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

static void on_granted(struct hl_hold *hold, const struct hl_response *said)
{
    hl_proof_grant(hold, said);
    if (hold->terms->replicas && !HL_PLANTED(REPLICAS_TOLD_EARLY))
        hl_replicas_ask(hold);
    else
        hl_proof_told(hold, said);
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
    hl_proof_told(hold, &(struct hl_response){.result = HL_FAULT, .fault = {HL_FAULT_PASSING, HILOCK_UNREACHABLE, 1},
                                              .quote = words, .quote_length = sizeof words - 1});
}

/* After the store's definite no the id is not there, unless an earlier request of it went unanswered and may still run.
 * A lasting error (a missing right) may have stopped the script halfway: the id is released for safety. */
static void on_asked(struct hl_hold *hold, const struct hl_reply *reply)
{
    struct hl_response said = hl_proof_said(hold, reply);
    if (said.result == HL_YES) {
        on_granted(hold, &said);
        return;
    }
    if (said.result == HL_AGAIN) {
        ask(hold, WAY_SECOND);
        return;
    }
    if (hl_proof_is_cleared_by(hold, &said))
        hold->kept = KEPT_NOTHING;
    hold->queued = said.position || hold->queued == QUEUED_MAYBE ? QUEUED_MAYBE : QUEUED_NO;
    if (said.result == HL_LATE)
        on_late(hold, &said);
    else
        hl_proof_told(hold, &said);
}

static void on_unanswered(struct hl_hold *hold)
{
    if (HL_PLANTED(R3_UNKNOWN_IS_FAILURE))
        hold->kept = KEPT_NOTHING;
    else
        hl_ending_haunt(hold);
    hl_proof_told(hold, NULL);
}

void hl_asking_answered(struct hl_hold *hold, const struct hl_answer *answer)
{
    if (answer->reply)
        on_asked(hold, answer->reply);
    else
        on_unanswered(hold);
}

void hl_asking_counts(struct hl_hold *hold)
{
    if (hold->state != HOLD_ASKING || hold->way == WAY_SECOND)
        return;
    hold->lock->acquire->attempts++;
    hl_trace(&hl_hold_core(hold)->host, HL_ACQUIRE_ASKED,
             &(struct hl_fact){.lock = hl_hold_handle(hold), .name = hold->name->bytes});
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
