/* SPDX-License-Identifier: BSD-3-Clause */
/* tracing - see tracing.h. The user gets each step at once, inside the event itself: with its time, and without
 * memory. */
#include "client/tracing.h"

/* 0: it is not a step. A hold that was lost before its grant was reported is no end: its acquire asks again. */
static hilock_trace_step step_of(enum hl_what what, const struct hl_fact *fact)
{
    static const uint8_t steps[] = {
        [HL_ACQUIRE_BEGUN] = HILOCK_TRACE_ACQUIRE,   [HL_ACQUIRE_ASKED] = HILOCK_TRACE_ATTEMPT,
        [HL_ACQUIRE_WAITS] = HILOCK_TRACE_WAIT,      [HL_ACQUIRE_PLACED] = HILOCK_TRACE_PLACE,
        [HL_ACQUIRE_ENDED] = HILOCK_TRACE_FAILED,    [HL_ACQUIRE_REENTERED] = HILOCK_TRACE_GRANT,
        [HL_HOLD_HANDED_ON] = HILOCK_TRACE_HANDOFF,  [HL_HOLD_RENEWED] = HILOCK_TRACE_RENEW,
        [HL_HOLD_RENEWAL_FAILED] = HILOCK_TRACE_RENEW_FAILED, [HL_HOLD_LOST] = HILOCK_TRACE_LOSS,
        [HL_HOLD_RELEASED] = HILOCK_TRACE_RELEASE,   [HL_NODE_UP] = HILOCK_TRACE_CONNECT,
        [HL_NODE_DOWN] = HILOCK_TRACE_DISCONNECT,
    };
    if (what == HL_ACQUIRE_ENDED && fact->status == HILOCK_OK)
        return HILOCK_TRACE_GRANT;
    if (what == HL_HOLD_LOST && !fact->lock)
        return 0;
    return what < sizeof steps / sizeof *steps ? (hilock_trace_step)steps[what] : 0;
}

static const char *text_of(const char *text) { return text ? text : ""; }

void hl_tracing_tell(struct hilock_client *client, enum hl_what what, const struct hl_fact *fact)
{
    hilock_trace_step step = step_of(what, fact);
    if (!step)
        return;
    const struct hilock_lock *lock = fact->lock && !fact->lock->terms->is_internal ? fact->lock : NULL;
    const struct hilock_trace trace = {.size = sizeof trace,
                                       .step = step,
                                       .at_us = hl_now_us(&client->core.host),
                                       .span_us = what == HL_NODE_DOWN ? fact->retry_us : fact->waited_us,
                                       .client = client,
                                       .lock = lock,
                                       .lock_user = lock ? lock->user : NULL,
                                       .fencing_token = fact->token,
                                       .status = fact->status,
                                       .reason = fact->reason,
                                       .position = fact->position,
                                       .waiters = fact->waiters,
                                       .name = text_of(fact->name),
                                       .node = text_of(fact->node),
                                       .detail = text_of(fact->detail)};
    client->on_trace(&trace, client->user);
}
