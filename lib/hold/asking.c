/* SPDX-License-Identifier: BSD-3-Clause */
/* asking - see asking.h. */
#include "hold/asking.h"

#include "base/contract.h"
#include "base/plant.h"
#include "core/lease.h"
#include "core/words.h"
#include "hold/ending.h"
#include "node/clock.h"
#include "node/confirm_link.h"

struct hl_acquire_params hl_asking_params(struct hl_hold *hold)
{
    const struct hl_core *core = hl_hold_core(hold);
    struct hl_node *node = hold->request.node;
    struct hl_acquire_params params = {
        .lease_ms = hold->asked_ms,
        .not_after_ms = hl_clock_not_after_ms(node, hold->request.sent_us),
        .token_ttl_ms = core->limits.token_ttl_ms,
        .reserved = hl_hold_reserved(hold),
        .holders_max = hold->terms->holders_max,
        .is_sharded = hl_node_parent(node)->subscriptions.is_sharded,
        .queue_max = core->limits.queue_max,
        .names_all_keys = core->route->ops->is_spread,
        .is_second = hold->stage >= STAGE_SECOND,
    };
    hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_ASKS, .params = &params});
    return params;
}

void hl_asking_send(struct hl_hold *hold, enum hl_stage stage)
{
    struct hl_core *core = hl_hold_core(hold);
    unsigned how = hold->terms->owner == TERMS_OF_HELD_GROUP ? HL_REQUEST_URGENT : HL_REQUEST_GRANT;
    HL_REQUIRE(!hl_request_is_busy(&hold->request)); /* the line lets a waiter send one request at a time */
    if (!hold->id)
        hold->id = hl_asking_new_id(hl_hold_handle(hold));
    hl_hold_enter(hold, HOLD_ASKING);
    hold->kept = KEPT_MAYBE;
    hold->stage = stage & 3u;
    if (hold->terms->replicas)
        how |= HL_REQUEST_CONFIRM;
    hl_route_submit(core->route, &hold->request, core->limits.command_timeout_ms, how);
}

static void tell_granted(struct hl_hold *hold)
{
    hold->kept = KEPT_OURS;
    hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_GRANTED});
}

static void take_grant(struct hl_hold *hold, const struct hl_response *said)
{
    uint64_t from_us = HL_PLANTED(R1_DEADLINE_FROM_REPLY) ? hl_hold_now_us(hold) : hold->request.sent_us;
    hold->is_queued = 0;
    hold->token = said->token;
    hold->deadline_us = hl_lease_deadline_us(from_us, (uint64_t)hold->asked_ms * 1000);
    if (!hold->terms->replicas)
        tell_granted(hold);
    else {
        hl_hold_enter(hold, HOLD_CONFIRMING);
        hl_confirm_link_ask(&hold->request, hold->terms->replicas, hold->terms->replica_timeout_ms);
    }
}

void hl_asking_on_wait(struct hl_hold *hold, const struct hl_response *fault, const struct hl_answer *answer)
{
    const struct hl_reply *reply = answer->reply;
    struct hl_response said = {.result = HL_FAULT, .fault = {HL_FAULT_PASSING, HILOCK_NOT_REPLICATED, 0}};
    struct hl_text words;
    if (reply->type == HL_REPLY_INTEGER && reply->integer >= hold->terms->replicas) {
        tell_granted(hold);
        return;
    }
    hl_terms_trace(hold->terms, HL_HOLD_UNDONE, &(struct hl_fact){.name = hold->name->bytes, .token = hold->token});
    if (reply->type == HL_REPLY_INTEGER)
        hl_words_too_few_replicas(&words, (long long)reply->integer, hold->terms->replicas,
                                  hold->terms->replica_timeout_ms);
    else {
        said = *fault;
        hl_words_wait_refused(&words, hl_words_of_server(hl_hold_core(hold), said.quote, said.quote_length).bytes);
    }
    said.quote = words.bytes;
    said.quote_length = strlen(words.bytes);
    hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_UNCONFIRMED, .said = &said});
}

/* After a definite no, the id is not at the store, unless an earlier acquire with this id has no answer and may still
 * execute.
 * A lasting error, such as a missing right, may have stopped the script halfway, so the id is released for safety.
 * LATE means that our sample of the server's clock was old, or that the command took very long to arrive. The acquire
 * is sent once more, with the server's time from the refusal. */
void hl_asking_on_answer(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer)
{
    const struct hl_response late = {
        .result = HL_FAULT, .fault = {HL_FAULT_PASSING, HILOCK_UNREACHABLE, 1},
        .quote = hl_words_acquire_late, .quote_length = strlen(hl_words_acquire_late)};
    (void)answer;
    if (hl_hold_is_cleared_by(hold, said))
        hold->kept = KEPT_NOTHING;
    hold->is_queued |= said->position != 0;
    if (said->result == HL_LATE)
        hl_clock_learn(hold->request.node, said->server_us, hold->request.sent_us);
    if (said->result == HL_YES)
        take_grant(hold, said);
    else if (said->result == HL_AGAIN)
        hl_asking_send(hold, STAGE_SECOND);
    else if (said->result == HL_LATE && hold->stage != STAGE_FIRST_AFTER_LATE)
        hl_asking_send(hold, STAGE_FIRST_AFTER_LATE);
    else
        hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_ANSWERED,
                                                   .said = said->result == HL_LATE ? &late : said});
}

void hl_asking_on_silence(struct hl_hold *hold, const struct hl_answer *answer)
{
    (void)answer;
    if (HL_PLANTED(R3_UNKNOWN_IS_FAILURE))
        hold->kept = KEPT_NOTHING;
    else
        hl_ending_mark_acquire_unanswered(hold);
    hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_ANSWERED}); /* there is none */
}

/* The grant is at the store, even if its acquire is never sent again. */
void hl_asking_on_no_wait(struct hl_hold *hold, const struct hl_answer *answer)
{
    (void)answer;
    hl_ending_mark_acquire_unanswered(hold);
    hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_ANSWERED}); /* there is none */
}

void hl_asking_use_push(struct hl_hold *hold, uint64_t token, uint64_t deadline_us, uint32_t window_ms)
{
    if (hl_node_withdraw(&hold->request))
        hl_hold_enter(hold, HOLD_WAITING);
    hold->is_queued = 0;
    hold->token = token;
    hold->deadline_us = deadline_us;
    hold->window_ms = (uint16_t)window_ms;
    tell_granted(hold);
}

/* ---- a release that carries an acquire ---- */

void hl_asking_attach(struct hl_hold *next)
{
    hl_hold_enter(next, HOLD_ASKING);
    next->stage = STAGE_FIRST;
    hl_hold_wake_at(next, UINT64_MAX);
    hl_request_attach(&next->request);
}

void hl_asking_add_carried(const struct hl_hold *hold, struct hl_release_params *params)
{
    struct hl_hold *next = hold->ending.carried;
    struct hl_acquire_params more;
    if (!next || next->state != HOLD_ASKING) /* its waiter has given up */
        return;
    if (params->is_second || params->entry.due_s || hl_node_guard_remaining_us(hold->request.node))
        return;
    hl_request_go_with(&next->request, &hold->request);
    next->kept = KEPT_MAYBE;
    next->form = HL_FORM_SCRIPT;
    next->asked_ms = next->terms->lease_ms;
    more = hl_asking_params(next);
    params->next.id = next->id;
    params->next.lease_ms = more.lease_ms;
    params->next.queue_max = more.queue_max;
    params->next.entry = more.entry;
}

/* The reply does not answer the acquire. An acquire that still waits is not sent at once, but when the line of its name
 * comes to it: the release goes first (R4). */
static void send_back(struct hl_hold *next, const struct hl_reply *reply)
{
    int carried_nothing = reply && (reply->type == HL_REPLY_INTEGER || reply->type == HL_REPLY_STRING);
    int was_sent = hl_request_is_carried(&next->request) && !carried_nothing;
    if (next->state != HOLD_ASKING) {
        hl_request_answer_carried(&next->request, &(struct hl_answer){NULL, was_sent});
        return;
    }
    hl_request_forget(&next->request);
    hl_hold_enter(next, HOLD_WAITING);
    if (was_sent)
        hl_ending_mark_acquire_unanswered(next);
    else
        hl_hold_mark_unsent(next);
    hl_hold_tell(next, &(struct hl_hold_event){.what = EVENT_SENT_BACK});
}

struct hl_hold *hl_asking_take_carried(struct hl_hold *hold, const struct hl_reply *reply, struct hl_reply *ret_said)
{
    struct hl_hold *next = hold->ending.carried;
    if (!next)
        return NULL;
    hold->ending.carried = NULL;
    if (reply && hl_request_is_carried(&next->request) && hl_queued_next(reply, ret_said))
        return next;
    send_back(next, reply);
    return NULL;
}
