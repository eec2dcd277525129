/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog - see watchdog.h. The state of the hold decides what the alarm does next: due_at_us is the time of the next
 * renewal or retry, unless the deadline or hold_max_ms comes first. */
#include "hold/watchdog.h"

#include "base/container.h"
#include "base/plant.h"
#include "core/lease.h"
#include "core/words.h"
#include "hold/downgrade.h"
#include "hold/ending.h"
#include "hold/recheck.h"
#include "hold/seat.h"
#include "hold/shortening.h"
#include "hold/validity.h"

enum { MANY_HOLDS = 300 };

/* Returns the extend of this hold that comes after that one, handle by handle, of those that are not decided yet.
 * extend NULL: returns the first one. Returns NULL if there is none, or if extends must wait. */
static struct hl_extend *next_pending(const struct hl_hold *hold, struct hl_extend *extend)
{
    const struct hilock_lock *lock = extend ? extend->call.lock : hl_hold_handle(hold);
    if (hl_shortening_may_run(hold))
        return NULL;
    for (; lock; lock = TAILQ_NEXT(lock, by_hold), extend = NULL) {
        extend = extend ? TAILQ_NEXT(extend, entry) : lock->extras ? TAILQ_FIRST(&lock->extras->extends) : NULL;
        while (extend && extend->call.notice.pending)
            extend = TAILQ_NEXT(extend, entry);
        if (extend)
            break;
    }
    return extend;
}

/* If the hold is renewed, the renewal asks for the lease of its terms at least. If the hold is not renewed, and is only
 * verified, the renewal asks for the time that is left, which does not lengthen the lease; the store needs at least one
 * millisecond. */
uint32_t hl_watchdog_begin_round(struct hl_hold *hold)
{
    uint64_t now_us = hl_hold_now_us(hold), lease_us, extended_until_us;
    uint32_t longest_ms = hold->terms->is_renewed ? hold->terms->lease_ms : 0;
    struct hl_extend *first = next_pending(hold, NULL);
    for (struct hl_extend *extend = first; extend; extend = next_pending(hold, extend)) {
        extend->attempts++;
        longest_ms = extend->lease_ms > longest_ms ? extend->lease_ms : longest_ms;
    }
    lease_us = (uint64_t)longest_ms * 1000;
    extended_until_us = now_us + lease_us + hl_lease_drift_us(lease_us);
    if (first && extended_until_us > hold->held.extended_until_us)
        hold->held.extended_until_us = extended_until_us;
    if (!longest_ms)
        longest_ms = hl_lease_span_ms(hl_left_us(hl_hold_deadline_us(hold), now_us));
    return longest_ms ? longest_ms : 1;
}

static void decide(struct hl_core *core, struct hl_extend *extend, hilock_status status, const char *why, int is_loss)
{
    hl_memory_free(&core->host.memory, extend->detail);
    extend->detail = why ? hl_memory_copy(&core->host.memory, why, strlen(why)) : NULL;
    extend->status = status;
    hl_call_decided(core, &extend->call, is_loss);
}

/* Answers the extends of this round. A refusal, perhaps of the login, also answers the extends that wait for the next
 * round. */
static void answer_extends(struct hl_hold *hold, hilock_status status, const char *why)
{
    for (struct hl_extend *extend = next_pending(hold, NULL); extend; extend = next_pending(hold, extend)) {
        hilock_status answer = status;
        if (extend->operation == HILOCK_OP_DOWNGRADE && status != HILOCK_OK)
            answer = hl_downgrade_on_refusal(hold, extend->attempts, status);
        if (extend->attempts || status != HILOCK_OK)
            decide(hl_hold_core(hold), extend, answer, why, 0);
    }
}

/* The extend had no answer within command_timeout_ms. */
static void on_extend_timeout(struct hl_core *core, struct hl_call *call)
{
    struct hl_extend *extend = HL_CONTAINER(call, struct hl_extend, call);
    struct hl_quoted name = hl_name_quoted(call->lock->name);
    const struct hl_node *node = hl_name_node(core, call->lock->name);
    uint32_t waited_ms = core->limits.command_timeout_ms;
    struct hl_text why;
    if (extend->operation == HILOCK_OP_DOWNGRADE && !extend->attempts && hl_hold_is_held(call->lock->hold))
        hl_downgrade_revert(call->lock->hold);
    if (extend->operation == HILOCK_OP_DOWNGRADE && extend->attempts)
        hl_words_downgrade_unknown(&why, name.bytes, hl_node_name(node), waited_ms);
    else if (extend->attempts)
        hl_words_extend_unknown(&why, name.bytes, hl_node_name(node), waited_ms);
    else
        hl_words_extend_unreachable(&why, name.bytes, hl_node_name(node), waited_ms, hl_node_why(node));
    decide(core, extend, extend->attempts ? HILOCK_UNKNOWN : HILOCK_UNREACHABLE, why.bytes, 0);
}

void hl_watchdog_report_extend(struct hl_core *core, struct hl_extend *extend, const char *detail)
{
    char *words = extend->detail;
    struct hilock_result result =
        {.status = extend->status, .operation = extend->operation, .attempts = extend->attempts,
         .detail = detail ? detail : words ? words : hilock_status_text(extend->status)};
    extend->detail = NULL;
    hl_call_answer(core, &extend->call, result);
    hl_memory_free(&core->host.memory, words);
}

static void report(struct hl_core *core, struct hl_notice *notice)
{
    hl_watchdog_report_extend(core, HL_CONTAINER(notice, struct hl_extend, call.notice), NULL);
}

static void forget(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_extend *extend = HL_CONTAINER(notice, struct hl_extend, call.notice);
    if (extend->status != HILOCK_LOST)
        TAILQ_REMOVE(&extend->call.lock->extras->extends, extend, entry);
    hl_memory_free(&core->host.memory, extend->detail);
    hl_call_free(core, &extend->call);
}

void hl_watchdog_end_extends(struct hl_core *core, struct hilock_lock *lock, int is_loss)
{
    struct hl_extend *extend;
    while (lock->extras && (extend = TAILQ_FIRST(&lock->extras->extends)) != NULL) {
        TAILQ_REMOVE(&lock->extras->extends, extend, entry);
        decide(core, extend, HILOCK_LOST, NULL, is_loss);
    }
}

void hl_watchdog_forget_extends(struct hl_core *core, struct hilock_lock *lock)
{
    while (lock->extras && !TAILQ_EMPTY(&lock->extras->extends))
        forget(core, &TAILQ_FIRST(&lock->extras->extends)->call.notice);
}

/* Returns for how long the latest grant or renewal lasts: a window, or a lease. */
static uint64_t granted_span_us(const struct hl_hold *hold)
{
    return hold->window_ms ? (uint64_t)hold->window_ms * 1000 : hl_terms_lease_us(hold->terms);
}

/* Sleeps until next_us, or until the hold ends. */
static void sleep_until(struct hl_hold *hold, uint64_t next_us)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t ends_us = hl_hold_first_end_us(hold);
    hl_notices_expire_at(&core->notices, ends_us); /* it moves nearer if another program has shortened the lease */
    hl_hold_wake_at(hold, ends_us < next_us ? ends_us : next_us);
}

void hl_watchdog_take_from_user(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason)
{
    hold->reason = reason & 7u;
    hl_seats_trace_loss(hold);
    /* pending reports about renewals would keep the hold from being freed */
    hl_notice_cancel(core, &hold->notice);
    hl_notice_post_loss(core, &hold->notice, TENURE_LOST);
    hl_ending_begin(hold, &(struct hl_withdrawal){.end = END_BY_CLIENT});
}

void hl_watchdog_lose(struct hl_hold *hold, hilock_lost_reason reason)
{
    int is_with_user = hl_hold_is_with_user(hold); /* otherwise the hold has ended, and may be freed, when it is told */
    hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_UNREPORTED});
    if (is_with_user)
        hl_watchdog_take_from_user(hl_hold_core(hold), hold, reason);
}

/* Ends the hold if its deadline or hold_max_ms has passed, but not if hold_max_ms has passed for some of its handles
 * only: then just these lose it. If the hold has ended, returns 1: then the report of the loss is pending
 * or, if the grant was never reported, the acquire tries again. The reason is EXPIRED if the watchdog ran in time and
 * no renewal succeeded. The reason is SUSPENDED if the loop missed a renewal: it ran only when more than a sixth of
 * the lease had passed since the renewal was due. It is also SUSPENDED if the loop ran more than a second after the
 * deadline. */
static int end_if_over(struct hl_hold *hold)
{
    const uint64_t stall_us = 1000000; /* a loop that is later than this was stopped */
    uint64_t now_us = hl_hold_now_us(hold), deadline_us = hl_hold_deadline_us(hold);
    int is_expired = deadline_us <= now_us;
    int missed_its_turn = hold->due_at_us && hold->due_at_us < deadline_us &&
        now_us - hold->due_at_us > granted_span_us(hold) / 6 && hold->terms->is_renewed;
    int was_stopped = missed_its_turn || now_us - deadline_us > stall_us;
    if (hl_hold_first_end_us(hold) > now_us)
        return 0;
    if (!hl_seats_are_over(hold, now_us)) {
        hl_seats_lose_some(hold, now_us);
        return !hl_hold_is_held(hold); /* it ends if nobody whose grant was reported counts on it any more */
    }
    hl_watchdog_lose(hold, !is_expired ? HILOCK_REASON_HOLD_MAX
                    : was_stopped ? HILOCK_REASON_SUSPENDED : HILOCK_REASON_EXPIRED);
    return 1;
}

static void sweep(struct hl_hold *hold, void *now_us)
{
    if (hl_hold_first_end_us(hold) <= *(const uint64_t *)now_us && end_if_over(hold))
        return;
    hl_notices_expire_at(&hl_hold_core(hold)->notices, hl_hold_first_end_us(hold));
}

void hl_watchdog_sweep(struct hl_core *core, uint64_t now_us) { hl_hold_each_held(core, sweep, &now_us); }

int hl_watchdog_is_failing(const struct hl_hold *hold) { return hold->failures >= 2 && hold->terms->is_renewed; }

static int is_renewing(const struct hl_hold *hold)
{
    return hold->state == HOLD_RENEWING || hold->state == HOLD_OVERDUE;
}

/* Returns when the renewal under way counts as failed. If one renewal has failed already, this one gets at most half of
 * the time that is left, so that the second failure is reported while the hold is still valid. The request itself stays
 * on the wire until command_timeout_ms, because other locks use the same link. */
static uint64_t overdue_us(const struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t now_us = hl_now_us(&core->host), half_us = hl_left_us(hl_hold_deadline_us(hold), now_us) / 2;
    uint64_t timeout_us = hl_lease_renewal_timeout_us(granted_span_us(hold), core->limits.command_timeout_ms);
    return now_us + (hold->failures && half_us < timeout_us ? half_us : timeout_us);
}

/* Sends the renewal again in a moment, but not while its request may still be answered in time. why NULL: this failure
 * has been counted already. */
static void on_failed(struct hl_hold *hold, const char *why)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t now_us = hl_now_us(&core->host), retry_us, answer_us;
    if (why) {
        if (hold->failures < UINT8_MAX)
            hold->failures++;
        hl_trace(&core->host, HL_HOLD_RENEWAL_FAILED,
                 &(struct hl_fact){.lock = hl_hold_handle(hold), .name = hold->name->bytes, .count = hold->failures,
                                   .detail = why, .remaining_us = hl_left_us(hl_hold_deadline_us(hold), now_us)});
        if (hold->failures == 2 && hl_hold_is_with_user(hold) && hold->terms->is_renewed)
            hl_seats_post(hold, TENURE_RENEWAL_FAILED);
    }
    retry_us = now_us + hl_lease_retry_us(&core->host.random, granted_span_us(hold));
    answer_us = hl_request_is_busy(&hold->request) ? overdue_us(hold) : 0;
    sleep_until(hold, answer_us > retry_us ? answer_us : retry_us);
}

/* Sends a renewal. If the hold is PUSHED, a heartbeat that was sent before is still under way, and a hold has only one
 * request: then the answer to that heartbeat renews (hl_watchdog_on_stale). */
static void renew(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    if (hold->state == HOLD_HELD) {
        hl_hold_enter(hold, HOLD_RENEWING);
        hl_route_submit(core->route, &hold->request, core->limits.command_timeout_ms,
                        HL_REQUEST_URGENT | HL_REQUEST_FIRST);
    }
    sleep_until(hold, overdue_us(hold));
}

/* Plans the next renewal. If extends were accepted after the latest renewal was sent, the next one is sent at once. A
 * pushed grant counts from the send of an older request, so its renewal is planned back from its deadline: two thirds
 * of the window before it. */
static void plan_next(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    if (next_pending(hold, NULL) && !is_renewing(hold))
        renew(hold);
    else if (!hold->terms->is_renewed)
        sleep_until(hold, UINT64_MAX);
    else if (hold->window_ms)
        sleep_until(hold, hl_left_us(hl_hold_deadline_us(hold), (uint64_t)hold->window_ms * 1000 / 3 * 2));
    else if (core->holds->count > MANY_HOLDS)
        sleep_until(hold, hl_lease_spread_renewal_us(&core->host.random, hold->request.sent_us,
                                                     hl_terms_lease_us(hold->terms)));
    else
        sleep_until(hold, hl_lease_renewal_us(hold->request.sent_us, hl_terms_lease_us(hold->terms)));
}

static void raise_deadline(struct hl_hold *hold, uint64_t deadline_us)
{
    if (deadline_us > hold->deadline_us)
        hold->deadline_us = deadline_us;
    hold->window_ms = 0;
    hl_validity_follow_all(hold);
}

static void trace_anomaly(const struct hl_hold *hold, uint64_t found_us,
                          void (*words)(struct hl_text *text, const char *name, uint32_t found_ms))
{
    struct hl_text detail;
    words(&detail, hl_name_quoted(hold->name).bytes, hl_lease_span_ms(found_us));
    hl_trace(&hl_hold_core(hold)->host, HL_CLOCK_ANOMALY,
             &(struct hl_fact){.name = hold->name->bytes, .remaining_us = found_us, .detail = detail.bytes});
}

static void on_renewed(struct hl_hold *hold, const struct hl_response *said)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t now_us = hl_now_us(&core->host), sent_us = hold->request.sent_us;
    uint64_t lease_us = hl_terms_lease_us(hold->terms);
    /* the answer to a downgrade does not tell the lease that it found */
    uint64_t found_us = hold->form == HL_FORM_DOWNGRADE ? hl_left_us(hold->deadline_us, now_us) : said->left_ms * 1000;
    /* a lease is not reported as too long if an extend without an answer explains its length */
    int is_lease_too_long = found_us > lease_us + hl_lease_drift_us(lease_us) &&
                            sent_us + found_us > hl_hold_may_last_until_us(hold);
    uint64_t from_us = HL_PLANTED(R1_DEADLINE_FROM_REPLY) ? now_us : sent_us;
    if (now_us + found_us + 1000 < hold->deadline_us) {
        /* another program shortened the lease: the deadline moves to the time that this reply proves, even if that is
         * earlier (the one exception of R1) */
        hold->deadline_us = hl_lease_deadline_us(sent_us, found_us);
        trace_anomaly(hold, found_us, hl_words_lease_shorter);
    }
    raise_deadline(hold, hl_lease_deadline_us(from_us, (uint64_t)hold->asked_ms * 1000));
    /* reported once, and again only after a lease of the right length */
    if (is_lease_too_long && !hold->is_lease_too_long)
        trace_anomaly(hold, found_us, hl_words_lease_longer);
    /* A later renewal may shorten this lease (hold/shortening.h), and needs the server's time for that: ask for it. */
    if (is_lease_too_long)
        hl_node_probe(hl_node_parent(hold->request.node));
    int is_new = is_lease_too_long && !hold->is_lease_too_long;
    hold->is_lease_too_long = is_lease_too_long != 0;
    hl_trace(&core->host, HL_HOLD_RENEWED,
             &(struct hl_fact){.lock = hl_hold_handle(hold), .name = hold->name->bytes, .count = hold->failures,
                               .waited_us = hl_now_us(&core->host) - sent_us});
    if (hl_watchdog_is_failing(hold) && hl_hold_is_with_user(hold))
        hl_seats_post(hold, TENURE_RENEWED);
    hold->failures = 0;
    hold->is_queued = 0; /* an id that has the name has no place */
    answer_extends(hold, HILOCK_OK, NULL);
    plan_next(hold);
    if (is_new && hold->terms->is_renewed)
        sleep_until(hold, now_us + hl_lease_retry_us(&core->host.random, granted_span_us(hold)));
}

void hl_watchdog_on_answer(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer)
{
    struct hl_text quote;
    (void)answer;
    hl_downgrade_on_answer(hold, said);
    if (!hl_shortening_may_run(hold)) /* otherwise an older renewal without an answer may still execute */
        hold->is_shortening = 0;
    if (said->result == HL_NO) {
        hl_hold_mark_not_ours(hold);
        hl_watchdog_lose(hold, HILOCK_REASON_TAKEN);
    } else if (!HL_PLANTED(R11_RESURRECT) && end_if_over(hold))
        return;
    else if (said->result == HL_YES)
        on_renewed(hold, said);
    else if (HL_PLANTED(R5_ERROR_IS_LOSS))
        hl_watchdog_lose(hold, HILOCK_REASON_TAKEN);
    else {
        quote = hl_words_of_server(hl_hold_core(hold), said->quote, said->quote_length);
        answer_extends(hold, said->fault.status, quote.bytes);
        on_failed(hold, quote.bytes);
    }
}

/* why NULL: this failure has been counted already. */
static void on_unanswered(struct hl_hold *hold, const char *why)
{
    hl_downgrade_on_silence(hold);
    if (hold->is_shortening)
        hl_ending_mark_request_unanswered(hold);
    on_failed(hold, why);
}

void hl_watchdog_on_silence(struct hl_hold *hold, const struct hl_answer *answer)
{
    (void)answer;
    on_unanswered(hold, hl_words_renewal_unanswered);
}

void hl_watchdog_on_unheard(struct hl_hold *hold, const struct hl_answer *answer)
{
    (void)answer;
    on_unanswered(hold, NULL);
}

/* If the answer shows a place, the heartbeat was executed before the grant, or when that had lapsed. If it is "granted"
 * with another token, the pushed grant had lapsed, and the heartbeat took the lock anew: the user's token is no longer
 * valid, so this is a loss, and the new grant is released with the report of it. */
void hl_watchdog_on_stale(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer)
{
    (void)answer;
    hold->is_queued |= said->position != 0;
    if (said->result == HL_YES && said->token != hold->token) {
        hl_watchdog_lose(hold, HILOCK_REASON_TAKEN);
        return;
    }
    if (!HL_PLANTED(R11_HEARTBEAT_RESURRECTS) && end_if_over(hold))
        return;
    if (said->result == HL_YES)
        raise_deadline(hold, hl_lease_deadline_us(hold->request.sent_us, (uint64_t)hold->asked_ms * 1000));
    plan_next(hold);
}

void hl_watchdog_on_no_stale(struct hl_hold *hold, const struct hl_answer *answer)
{
    if (answer->was_sent)
        hl_ending_mark_request_unanswered(hold);
    hl_watchdog_on_stale(hold, &(struct hl_response){.result = HL_FAULT}, answer);
}

void hl_watchdog_start(struct hl_hold *hold)
{
    int is_acquire_under_way = hl_request_is_busy(&hold->request); /* a push has granted the hold meanwhile */
    hl_hold_enter(hold, is_acquire_under_way ? HOLD_PUSHED : HOLD_HELD);
    hold->since_us = hold->held.granted_at_us = hl_hold_core(hold)->host.entered_us; /* the store granted it no later */
    LIST_INSERT_HEAD(&hold->name->holds, hold, held.entry);
    if (hold->name->recheck && hl_holds_alone(hold->terms)) /* beside a share other grants may still lapse */
        hl_recheck_cancel(hold->name);
    plan_next(hold);
}

/* If a renewal was due soon, because the link is back, a renewal failed or the lease is too long, it stays due when
 * another handle gets the hold. If a renewal is under way, its alarm stays as it is. */
void hl_watchdog_on_new_tenure(struct hl_hold *hold)
{
    uint64_t early_us = hl_hold_needs_verification(hold) || hold->is_lease_too_long ? hold->due_at_us : 0;
    hold->failures = 0;
    if (is_renewing(hold))
        return;
    plan_next(hold);
    if (early_us && early_us < hold->due_at_us)
        sleep_until(hold, early_us);
}

void hl_watchdog_on_due(struct hl_hold *hold)
{
    int is_end = hl_hold_first_end_us(hold) <= hl_hold_now_us(hold); /* perhaps of some handles only */
    if (end_if_over(hold))
        return;
    if (is_end)
        plan_next(hold);
    else
        renew(hold);
}

/* A request that was not sent yet is withdrawn. On the wire it may still be answered, and its answer counts as
 * usual. */
void hl_watchdog_on_late(struct hl_hold *hold)
{
    int is_end = hl_hold_first_end_us(hold) <= hl_hold_now_us(hold), is_withdrawn;
    if (end_if_over(hold))
        return;
    if (is_end) {
        sleep_until(hold, overdue_us(hold));
        return;
    }
    is_withdrawn = hl_node_withdraw(&hold->request);
    if (is_withdrawn)
        hl_hold_enter(hold, HOLD_HELD);
    else if (hold->state == HOLD_RENEWING)
        hl_hold_enter(hold, HOLD_OVERDUE);
    on_failed(hold, is_withdrawn ? hl_words_renewal_unsent : hl_words_renewal_overdue);
}

static hilock_status ask(struct hl_core *core, struct hilock_lock *lock, hilock_operation operation, uint32_t lease_ms,
                         hilock_result_fn *on_result, void *user)
{
    static const struct hl_notice_ops ops = {report, forget};
    struct hl_extras *extras = hl_lock_extras(lock);
    struct hl_extend *extend = NULL;
    if (extras)
        extend = hl_call_new(core, sizeof *extend, &ops, on_extend_timeout, lock, on_result, user);
    if (!extend)
        return HILOCK_NO_MEMORY;
    extend->operation = operation;
    extend->lease_ms = lease_ms;
    TAILQ_INSERT_TAIL(&extras->extends, extend, entry);
    if (hl_hold_is_held(lock->hold) && !is_renewing(lock->hold))
        renew(lock->hold);
    return HILOCK_OK;
}

hilock_status hl_watchdog_extend(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                                 hilock_result_fn *on_result, void *user)
{
    return ask(core, lock, HILOCK_OP_EXTEND, lease_ms, on_result, user);
}

/* Waiters of this client that relied on the end of this hold send their own requests from now on. */
hilock_status hl_watchdog_downgrade(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result,
                                    void *user)
{
    hilock_status status = hl_downgrade_accept(lock->hold) == 0 ? HILOCK_OK : HILOCK_NO_MEMORY;
    if (status == HILOCK_OK)
        status = ask(core, lock, HILOCK_OP_DOWNGRADE, 0, on_result, user);
    if (status != HILOCK_OK)
        hl_downgrade_revert(lock->hold);
    if (status == HILOCK_OK && hl_hold_is_held(lock->hold))
        hl_hold_tell(lock->hold, &(struct hl_hold_event){.what = EVENT_SHARES});
    return status;
}

/* A hold that is not renewed is verified only if its grant was reported. The renewal is sent within a quarter of the
 * time that is left. */
void hl_watchdog_verify(struct hl_hold *hold, uint64_t within_us)
{
    struct hl_host *host = &hl_hold_core(hold)->host;
    uint64_t most_us = hl_left_us(hl_hold_deadline_us(hold), hl_now_us(host)) / 4;
    within_us = within_us < most_us ? within_us : most_us;
    if (!is_renewing(hold) && (hold->terms->is_renewed || hl_hold_is_with_user(hold)))
        sleep_until(hold, hl_now_us(host) + hl_random_below(&host->random, within_us));
}
