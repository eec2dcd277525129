/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog - see watchdog.h. The hold says what the alarm means next: due_us is the next renewal or retry, unless the
 * end of belief or of hold_max comes first. */
#include "hold/watchdog.h"

#include "base/plant.h"
#include "core/lease.h"
#include "hold/belief.h"
#include "hold/extend.h"
#include "hold/messages.h"
#include "hold/validity.h"

/* A pushed grant has no send of its own to count from: two thirds of its window before the end. */
static uint64_t renewal_us(const struct hl_hold *hold)
{
    if (!hold->terms->is_renewed)
        return UINT64_MAX;
    if (hold->is_windowed)
        return hl_left_us(hl_hold_deadline_us(hold), hl_belief_stood_us(hold) / 3 * 2);
    return hl_lease_renewal_us(hold->request.sent_us, hl_terms_lease_us(hold->terms));
}

static int is_open(const struct hl_hold *hold)
{
    return hold->ask == ASK_RENEW && hl_request_is_busy(&hold->request);
}

/* How long until a renewal counts as failed: after a failure at most half of the time that is left, so that the second
 * failure is reported while the hold is still valid. Its link waits for command_timeout_ms: other locks use it, too. */
static uint64_t patience_us(const struct hl_hold *hold, uint64_t now_us)
{
    uint64_t half_us = hl_left_us(hl_hold_deadline_us(hold), now_us) / 2;
    uint32_t command_ms = hl_hold_core(hold)->limits.command_timeout_ms;
    uint64_t timeout_us = hl_lease_renewal_timeout_us(hl_belief_stood_us(hold), command_ms);
    return hold->failures && half_us < timeout_us ? half_us : timeout_us;
}

static void count_failure(struct hl_hold *hold, const char *why)
{
    struct hl_core *core = hl_hold_core(hold);
    if (hold->failures < UINT8_MAX)
        hold->failures++;
    hl_trace(&core->host, HL_HOLD_RENEWAL_FAILED,
             &(struct hl_fact){.lock = hold->lock, .name = hold->name->bytes, .count = hold->failures, .detail = why,
                               .remaining_us = hl_left_us(hl_hold_deadline_us(hold), hl_now_us(&core->host))});
    if (hold->failures == 2 && hl_hold_is_told(hold) && hold->terms->is_renewed)
        hl_notice_post(core, &hold->notice, REPORT_RENEWAL_FAILED);
}

static uint64_t retry_us(struct hl_hold *hold)
{
    return hl_lease_retry_us(&hl_hold_core(hold)->host.random, hl_belief_stood_us(hold));
}

static void retry(struct hl_hold *hold)
{
    hl_belief_sleep_until(hold, hl_now_us(&hl_hold_core(hold)->host) + retry_us(hold));
}

static void on_failed(struct hl_hold *hold, const char *why)
{
    count_failure(hold, why);
    retry(hold);
}

/* A heartbeat that a push overtook may still be under way, and a hold has one request: its answer asks
 * (hl_watchdog_crossed). */
static void renew(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t now_us = hl_now_us(&core->host);
    if (!hl_request_is_busy(&hold->request)) {
        hold->is_overdue = 0;
        hold->ask = ASK_RENEW;
        hl_route_submit(core->route, &hold->request, core->limits.command_timeout_ms,
                        HL_REQUEST_URGENT | HL_REQUEST_FIRST);
    }
    hl_belief_sleep_until(hold, now_us + patience_us(hold, now_us));
}

/* Its time is over. An unsent request is withdrawn. One on the wire may still be answered; its answer counts as
 * usual. */
static void give_up_request(struct hl_hold *hold)
{
    uint64_t now_us = hl_now_us(&hl_hold_core(hold)->host), pause_us = retry_us(hold), longer_us;
    if (hl_node_withdraw(&hold->request)) {
        on_failed(hold, "the store is unreachable");
        return;
    }
    hold->is_overdue = 1;
    count_failure(hold, "no answer yet");
    longer_us = patience_us(hold, now_us);
    hl_belief_sleep_until(hold, now_us + (longer_us > pause_us ? longer_us : pause_us));
}

/* Extends that were accepted after the latest renewal left are asked for at once. */
static void go_on(struct hl_hold *hold)
{
    if (hl_extend_is_pending(hold) && !is_open(hold))
        renew(hold);
    else
        hl_belief_sleep_until(hold, renewal_us(hold));
}

/* ---- answers ---- */

static void believe(struct hl_hold *hold, uint64_t deadline_us)
{
    if (deadline_us > hold->deadline_us || HL_PLANTED(EXTEND_SHORTENS))
        hold->deadline_us = deadline_us;
    hold->is_windowed = 0;
    hl_validity_follow(hold->lock);
}

static void trace_anomaly(const struct hl_hold *hold, uint64_t found_us, const char *how)
{
    struct hl_text detail;
    hl_text_set(&detail,
                "the lease of \"%s\" was %u ms at the store, %s: did its clock jump, or did another program change it?",
                hl_name_quoted(hold->name).bytes, hl_lease_span_ms(found_us), how);
    hl_trace(&hl_hold_core(hold)->host, HL_CLOCK_ANOMALY,
             &(struct hl_fact){.name = hold->name->bytes, .remaining_us = found_us, .detail = detail.bytes});
}

/* Reported once while it lasts. The lease of an extend without an answer does not count. */
static void look_for_overlong(struct hl_hold *hold, uint64_t found_us)
{
    uint64_t lease_us = hl_terms_lease_us(hold->terms);
    int is_overlong = found_us > lease_us + hl_lease_drift_us(lease_us) &&
        hold->request.sent_us + found_us > hl_extend_over_us(hold);
    if (is_overlong && !hold->is_overlong)
        trace_anomaly(hold, found_us, "longer than was asked for");
    hold->is_overlong = is_overlong != 0;
}

static void on_kept(struct hl_hold *hold, const struct hl_response *said)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t now_us = hl_now_us(&core->host), sent_us = hold->request.sent_us, found_us = said->left_ms * 1000;
    int is_extended_late = HL_PLANTED(EXTEND_FROM_REPLY) && hl_extend_is_pending(hold);
    int is_from_reply = is_extended_late || HL_PLANTED(R1_DEADLINE_FROM_REPLY);
    if (now_us + found_us + 1000 < hold->deadline_us) {
        /* another program shortened it: belief is what this reply proves, even if it is less (R1's one exception) */
        hold->deadline_us = hl_lease_deadline_us(sent_us, found_us);
        trace_anomaly(hold, found_us, "less than believed");
    }
    believe(hold, hl_lease_deadline_us(is_from_reply ? now_us : sent_us, (uint64_t)hold->asked_ms * 1000));
    look_for_overlong(hold, found_us);
    hl_trace(&core->host, HL_HOLD_RENEWED,
             &(struct hl_fact){.lock = hold->lock, .name = hold->name->bytes, .count = hold->failures,
                               .waited_us = hl_now_us(&core->host) - sent_us});
    if (hold->failures >= 2 && hold->terms->is_renewed && hl_hold_is_told(hold))
        hl_notice_post(core, &hold->notice, REPORT_RENEWED);
    hold->failures = 0;
    hl_extend_answered(hold, HILOCK_OK, NULL);
    go_on(hold);
}

static void on_fault(struct hl_hold *hold, const struct hl_response *said)
{
    struct hl_text quote = hl_message_of_server(hl_hold_core(hold), said->quote, said->quote_length);
    if (HL_PLANTED(R5_ERROR_IS_LOSS))
        hl_belief_end(hold, HILOCK_REASON_TAKEN);
    else {
        hl_extend_answered(hold, said->fault.status, quote.bytes);
        on_failed(hold, quote.bytes);
    }
}

void hl_watchdog_answered(struct hl_hold *hold, const struct hl_answer *answer)
{
    struct hl_response said;
    if (!answer->reply) {
        if (!hold->is_overdue)
            count_failure(hold, "no answer");
        retry(hold);
        return;
    }
    said = hl_hold_read(hold, answer->reply);
    if (said.result == HL_NO && HL_PLANTED(R5_TAKEN_IGNORED))
        on_failed(hold, "not ours");
    else if (said.result == HL_NO) {
        hl_hold_not_ours(hold);
        hl_belief_end(hold, HILOCK_REASON_TAKEN);
    } else if (!HL_PLANTED(R11_RESURRECT) && hl_belief_has_ended(hold))
        return;
    else if (said.result == HL_YES)
        on_kept(hold, &said);
    else
        on_fault(hold, &said);
}

void hl_watchdog_crossed(struct hl_hold *hold, int is_ours)
{
    if (!HL_PLANTED(R11_HEARTBEAT_RESURRECTS) && hl_belief_has_ended(hold))
        return;
    if (is_ours)
        believe(hold, hl_lease_deadline_us(hold->request.sent_us, hl_terms_lease_us(hold->terms)));
    go_on(hold);
}

/* ---- turns, alarms, extends ---- */

void hl_watchdog_keep(struct hl_hold *hold)
{
    hold->state = HOLD_HELD;
    hold->since_us = hold->granted_us = hl_hold_core(hold)->host.entered_us; /* the grant was there by then */
    hold->name->hold = hold;
    go_on(hold);
}

/* A request that was due soon (the link is back, or a renewal failed) stays due when another handle gets the hold. */
void hl_watchdog_go_on(struct hl_hold *hold)
{
    uint64_t early_us = HL_PLANTED(HANDOFF_UNVERIFIED) ? 0 : hold->due_us;
    hold->failures = 0;
    go_on(hold);
    if (early_us && early_us < hold->due_us && !is_open(hold))
        hl_belief_sleep_until(hold, early_us);
}

/* Before the end it is due for a reason: a lease that is renewed, an extend, or a doubt. */
void hl_watchdog_tick(struct hl_hold *hold)
{
    if (hl_belief_has_ended(hold))
        return;
    if (hl_request_is_busy(&hold->request))
        give_up_request(hold);
    else
        renew(hold);
}

void hl_watchdog_ask(struct hl_hold *hold)
{
    if (!is_open(hold))
        renew(hold);
}

/* One that is not renewed is asked for if its user has it. */
void hl_watchdog_verify(struct hl_hold *hold, uint64_t within_us)
{
    struct hl_host *host = &hl_hold_core(hold)->host;
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(hold), hl_now_us(host)) / 4;
    int is_fixed = hl_hold_is_told(hold) && !HL_PLANTED(FIXED_UNVERIFIED);
    within_us = within_us < left_us ? within_us : left_us;
    if (!is_open(hold) && (hold->terms->is_renewed || is_fixed))
        hl_belief_sleep_until(hold, hl_now_us(host) + hl_random_below(&host->random, within_us));
}

struct ends { const struct hl_node *node; uint64_t first_us; };

static void find_end(struct hl_hold *hold, void *arg)
{
    struct ends *ends = arg;
    uint64_t deadline_us = hl_hold_deadline_us(hold);
    if (hold->terms->is_renewed && deadline_us < ends->first_us && (!ends->node || hl_hold_is_at(hold, ends->node)))
        ends->first_us = deadline_us;
}

uint64_t hl_watchdog_left_us(struct hl_core *core, const struct hl_node *node)
{
    struct ends ends = {node, UINT64_MAX};
    hl_hold_each_held(core, find_end, &ends);
    return ends.first_us == UINT64_MAX ? UINT64_MAX : hl_left_us(ends.first_us, hl_now_us(&core->host));
}
