/* SPDX-License-Identifier: BSD-3-Clause */
/* report - see report.h. */
#include "lock/report.h"

#include "base/contract.h"
#include "base/plant.h"
#include "base/quote.h"
#include "core/callback.h"
#include "core/lease.h"
#include "core/lock.h"
#include "hold/ending.h"
#include "hold/extend.h"
#include "hold/hold.h"
#include "hold/messages.h"
#include "lock/acquire.h"
#include "lock/turn.h"
#include "wait/gate.h"
#include "wait/known.h"
#include "wait/last_words.h"
#include "wait/place.h"

/* ---- acquires ---- */

static void report_waiting(struct hl_core *core, struct hl_acquire *acquire)
{
    struct hilock_lock *lock = acquire->lock;
    uint64_t now_us = core->notices.looked_us;
    const struct hl_known known = hl_known_of(core, acquire, HILOCK_TIMED_OUT);
    struct hilock_event event =
        {.kind = HILOCK_EVENT_WAITING, .waited_ms = hl_lease_span_ms(now_us - acquire->begun_us),
         .detail = "found held by another", .holder = known.words};
    if (acquire->lock->terms->kind->place_each) {
        event.position = acquire->place->position;
        event.waiters = acquire->place->waiters;
    }
    hl_callback_event(core, lock, lock->terms->on_event, &event);
}

/* R8: a grant may age in our own queues. With too little left it goes back, and the store is asked again. */
static int is_still_good(const struct hl_acquire *acquire)
{
    if (HL_PLANTED(R8_NO_CHECK_AFTER_QUEUE))
        return 1;
    return !hl_acquire_is_too_late(acquire) || HL_PLANTED(HANDOFF_BLIND);
}

static void fill_grant(struct hl_core *core, struct hl_acquire *acquire, struct hilock_result *result)
{
    struct hilock_lock *lock = acquire->lock;
    HL_REQUIRE(acquire->state == ACQUIRE_GRANTED); /* what is not DECIDED and has a result is */
    hl_turn_begin(core, lock, acquire->hold);
    acquire->hold = NULL;
    hl_gate_leave(acquire);
    result->status = HILOCK_OK;
    result->fencing_token = hl_hold_token(lock->hold);
}

static void report_result(struct hl_core *core, struct hl_acquire *acquire)
{
    struct hilock_lock *lock = acquire->lock;
    hilock_result_fn *on_result = acquire->on_result;
    void *user = acquire->user;
    uint64_t waited_us = core->notices.looked_us - acquire->begun_us;
    int is_decided = acquire->state == ACQUIRE_DECIDED;
    struct hl_last_words *words = acquire->words;
    struct hilock_result result = {.operation = HILOCK_OP_ACQUIRE};
    lock->acquire = NULL;
    core->waiting -= hl_terms_count(lock->terms);
    acquire->words = NULL;
    result.detail = "granted";
    if (is_decided) {
        result.status = (hilock_status)acquire->status;
        hl_last_words_say(words, &result);
    } else
        fill_grant(core, acquire, &result);
    if (is_decided && lock->terms->kind->place_each) {
        result.position = acquire->place->position;
        result.waiters = acquire->place->waiters;
    }
    result.waited_ms = hl_lease_span_ms(waited_us);
    result.attempts = acquire->attempts;
    hl_terms_trace(lock->terms, HL_ACQUIRE_ENDED,
                   &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .status = result.status,
                                     .waited_us = waited_us, .token = result.fencing_token, .detail = result.detail,
                                     .count = result.attempts, .is_local = lock->hold && lock->hold->turn});
    hl_acquire_free(core, acquire);
    hl_callback_result(lock, on_result, result, user);
    if (!HL_PLANTED(MEMORY_KEPT))
        hl_memory_free(&core->host.memory, words);
}

static void report_acquire(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_acquire *acquire = (struct hl_acquire *)(void *)notice;
    unsigned bit = hl_notice_take(core, &acquire->notice);
    if (bit == REPORT_WAITING)
        report_waiting(core, acquire);
    else if (acquire->state == ACQUIRE_GRANTED && !is_still_good(acquire))
        hl_acquire_regain(acquire);
    else
        report_result(core, acquire);
}

static void forget_acquire(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_acquire *acquire = (struct hl_acquire *)(void *)notice;
    acquire->lock->acquire = NULL;
    hl_acquire_free(core, acquire);
}

/* ---- holds ---- */

static void report_lost(struct hl_core *core, struct hl_hold *hold)
{
    struct hilock_lock *lock = hold->lock;
    struct hl_text detail;
    struct hilock_event event =
        {.kind = HILOCK_EVENT_LOST, .reason = (hilock_lost_reason)hold->reason, .fencing_token = hl_hold_token(hold),
         .detail = detail.bytes};
    /* a loss is reported once: here by the answer to the extend */
    struct hl_extend *extend = lock->side ? TAILQ_FIRST(&lock->side->extends) : NULL;
    hl_message_of_loss(core, hold, &detail);
    hl_turn_lost(core, hold);
    hl_ending_go_on(hold); /* leaves with the flush after this drain */
    lock->refs++;
    if (!extend || lock->terms->is_internal)
        hl_callback_event(core, lock, lock->terms->on_lost, &event);
    if (extend)
        hl_extend_report(core, extend, detail.bytes);
    hl_lock_unref(lock);
}

static void report_renewals(struct hl_core *core, struct hl_hold *hold, unsigned bit)
{
    struct hilock_lock *lock = hold->lock;
    struct hl_text detail;
    struct hilock_event event =
        {.kind = bit == REPORT_RENEWED ? HILOCK_EVENT_RENEWED : HILOCK_EVENT_RENEWAL_FAILED, .detail = detail.bytes,
         .fencing_token = hl_hold_token(hold)};
    if (bit == REPORT_RENEWED)
        hl_text_set(&detail, "\"%s\" is renewed again", hl_quote(lock->name->bytes, lock->name->length).bytes);
    else
        hl_message_of_renewals(core, hold, &detail);
    event.remaining_ms = hl_lease_span_ms(hl_hold_left_us(hold, hl_now_us(&core->host)));
    hl_callback_event(core, lock, lock->terms->on_event, &event);
}

/* Its release was asked for with a callback, so it keeps its handle. Settling may end the hold. */
static void report_released(struct hl_core *core, struct hl_hold *hold)
{
    struct hilock_lock *lock = hold->lock;
    hilock_status status = hold->end == END_OK ? HILOCK_OK : hold->end == END_LOST ? HILOCK_LOST : HILOCK_UNKNOWN;
    hilock_result_fn *on_result = hl_callback_is_off(lock, &hold->notice) ? NULL : hold->on_result;
    void *user = hold->user;
    struct hl_text detail;
    struct hilock_result result =
        {.status = status, .operation = HILOCK_OP_RELEASE, .attempts = 1,
         .detail = status == HILOCK_OK ? hilock_status_text(status) : detail.bytes,
         .waited_ms = hl_lease_span_ms(core->notices.looked_us - hold->since_us)};
    if (status != HILOCK_OK)
        hl_message_of_release(hold, status, &detail);
    lock->refs++;
    hl_ending_settle(hold);
    if (on_result)
        hl_callback_result(lock, on_result, result, user);
    hl_lock_unref(lock);
}

static void report_settled(struct hl_core *core, struct hl_hold *hold)
{
    struct hilock_lock *lock = hold->lock;
    int is_off = hl_callback_is_off(lock, &hold->notice);
    struct hl_text detail;
    struct hilock_event event =
        {.kind = HILOCK_EVENT_RELEASE_SETTLED, .fencing_token = hl_hold_token(hold), .detail = detail.bytes,
         .waited_ms = hl_lease_span_ms(core->notices.looked_us - hold->since_us)};
    hl_message_of_settling(hold, event.waited_ms, &detail);
    lock->refs++;
    hl_ending_settle(hold);
    if (!is_off)
        hl_callback_event(core, lock, lock->terms->on_event, &event);
    hl_lock_unref(lock);
}

static void report_hold(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_hold *hold = (struct hl_hold *)(void *)notice;
    unsigned bit = hl_notice_take(core, &hold->notice);
    if (bit == REPORT_LOST)
        report_lost(core, hold);
    else if (bit == REPORT_RELEASED)
        report_released(core, hold);
    else if (bit == REPORT_SETTLED)
        report_settled(core, hold);
    else
        report_renewals(core, hold, bit);
}

/* All holds are freed after the notices. */
static void forget_hold(struct hl_core *core, struct hl_notice *notice) { (void)core, (void)notice; }

const struct hl_notice_ops hl_report_acquire = {report_acquire, forget_acquire},
    hl_report_hold = {report_hold, forget_hold};
