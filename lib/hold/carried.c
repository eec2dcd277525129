/* SPDX-License-Identifier: BSD-3-Clause */
/* carried - see carried.h. */
#include "hold/carried.h"

#include "hold/asking.h"
#include "hold/ending.h"

void hl_carried_attach(struct hl_hold *next)
{
    hl_hold_enter(next, HOLD_ASKING);
    hl_hold_wake_at(next, UINT64_MAX);
    hl_request_attach(&next->request);
}

void hl_carried_add_params(const struct hl_hold *hold, struct hl_release_params *params)
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

struct hl_hold *hl_carried_take(struct hl_hold *hold, const struct hl_reply *reply, struct hl_reply *ret_said)
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
