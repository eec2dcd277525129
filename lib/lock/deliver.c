/* SPDX-License-Identifier: BSD-3-Clause */
/* deliver - see deliver.h. A hold with nothing to tell stands in core->holds, an acquire then stands in no list here. */
#include "lock/deliver.h"

#include "base/contract.h"
#include "base/plant.h"
#include "lock/acquire.h"
#include "lock/ending.h"
#include "lock/extend.h"
#include "lock/fair.h"
#include "lock/gate.h"
#include "lock/handoff.h"
#include "lock/hold.h"
#include "lock/inquiry.h"
#include "lock/lease.h"
#include "lock/reentry.h"
#include "lock/turn.h"
#include "lock/watchdog.h"
#include "lock/words.h"

enum { BATCH = 1000, BATCH_US = 2000 };

void hl_deliver_init(struct hl_core *core)
{
    TAILQ_INIT(&core->holds);
    TAILQ_INIT(&core->losses);
    TAILQ_INIT(&core->news);
    TAILQ_INIT(&core->inquiries);
    core->marker.kind = NOTICE_MARKER;
    core->earliest_us = UINT64_MAX;
}

static struct hl_notices *list_of(struct hl_core *core, enum hl_notice_place place)
{
    switch (place) {
    case PLACE_NONE: return NULL;
    case PLACE_HOLDS: return &core->holds;
    case PLACE_LOSSES: return &core->losses;
    case PLACE_NEWS: return &core->news;
    }
    return NULL;
}

void hl_notice_move(struct hl_core *core, struct hl_notice *notice, enum hl_notice_place place)
{
    struct hl_notices *from = list_of(core, (enum hl_notice_place)notice->place), *to = list_of(core, place);
    if (from)
        TAILQ_REMOVE(from, notice, entry);
    if (to)
        TAILQ_INSERT_TAIL(to, notice, entry);
    notice->place = (uint8_t)place;
}

static enum hl_notice_place resting_place(const struct hl_notice *notice) { return notice->kind == NOTICE_HOLD ? PLACE_HOLDS : PLACE_NONE; }

void hl_notice_tell(struct hl_core *core, struct hl_notice *notice, unsigned bit)
{
    int is_loss = notice->kind == NOTICE_HOLD && bit == TELL_LOST && !HL_PLANTED(R6_LOSS_IN_LINE);
    notice->tell |= (uint8_t)bit;
    if (is_loss)
        hl_notice_move(core, notice, PLACE_LOSSES);
    else if (notice->place != PLACE_NEWS && notice->place != PLACE_LOSSES)
        hl_notice_move(core, notice, PLACE_NEWS);
    hl_host_wake(&core->host);
}

void hl_notice_hush(struct hl_core *core, struct hl_notice *notice)
{
    notice->tell = 0;
    hl_notice_move(core, notice, resting_place(notice));
}

/* The lowest bit is told now; with more to tell it stays where it is. */
static unsigned take_bit(struct hl_core *core, struct hl_notice *notice)
{
    unsigned bit = notice->tell & (unsigned)-notice->tell;
    notice->tell &= (uint8_t)~bit;
    if (!notice->tell)
        hl_notice_move(core, notice, resting_place(notice));
    return bit;
}

/* ---- what is called ---- */

static void call_result(struct hilock_lock *lock, hilock_result_fn *on_result, const struct hilock_result *result, void *user)
{
    lock->refs++;
    on_result(result, user);
    hl_lock_unref(lock);
}

static void call_event(struct hl_core *core, struct hilock_lock *lock, hilock_event_fn *on_event, struct hilock_event *event)
{
    event->size = sizeof *event;
    event->client = (struct hilock_client *)(void *)core;
    event->lock = lock;
    event->holder = event->holder ? event->holder : "";
    event->node = event->node ? event->node : "";
    event->detail = event->detail ? event->detail : "";
    if (!on_event)
        return;
    lock->refs++;
    on_event(event, lock->user);
    hl_lock_unref(lock);
}

/* ---- acquires ---- */

static void write_own(char holder[HILOCK_NAME_MAX], const struct hl_core *core, const struct hl_hold *hold)
{
    int is_fair = hold->terms->kind->has_queue;
    holder[is_fair ? hl_holder_write_fair(holder, core->uuid, hold->id) : hl_holder_write(holder, core->uuid, hold->id)] = '\0';
}

static void tell_waiting(struct hl_core *core, struct hl_acquire *acquire)
{
    struct hilock_lock *lock = acquire->lock;
    const struct hl_name *name = hl_acquire_name(acquire);
    uint64_t now_us = hl_now_us(&core->host);
    const struct hl_known known = hl_gate_known(core, acquire);
    char holder[HILOCK_NAME_MAX];
    struct hilock_event event = {.kind = HILOCK_EVENT_WAITING, .waited_ms = hl_span_ms(now_us - acquire->begun_us), .detail = "found held by another"};
    if (name->hold)
        write_own(holder, core, name->hold);
    else
        memccpy(holder, known.holder, 0, sizeof holder);
    event.holder = holder;
    if (hl_fair_of(acquire)) {
        event.position = hl_fair_of(acquire)->position;
        event.waiters = hl_fair_of(acquire)->waiters;
    }
    call_event(core, lock, lock->terms->on_event, &event);
}

/* R8: what was granted may have aged in our own queues. With too little left it goes back and is asked for again. */
static int is_still_good(struct hl_core *core, const struct hl_acquire *acquire)
{
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(acquire->hold), hl_now_us(&core->host));
    return HL_PLANTED(R8_NO_CHECK_AFTER_QUEUE) || HL_PLANTED(HANDOFF_BLIND) || left_us >= hl_acquire_least_us(acquire);
}

static uint32_t votes_of(const struct hl_hold *hold) { return hl_hold_is_quorum(hold) ? hl_hold_count(hold, PART_OURS) : 0; }

static void fill_grant(struct hl_core *core, struct hl_acquire *acquire, struct hilock_result *result)
{
    struct hilock_lock *lock = acquire->lock;
    hl_turn_begin(core, lock, hl_acquire_hand_over(acquire));
    result->status = HILOCK_OK;
    result->state = HILOCK_HELD;
    result->remaining_ms = hl_span_ms(hl_lock_left_us(lock, hl_now_us(&core->host)));
    result->fencing_token = hl_hold_token(lock->hold);
    result->hold_count = 1;
    result->votes = votes_of(lock->hold);
}

static void tell_result(struct hl_core *core, struct hl_acquire *acquire)
{
    struct hilock_lock *lock = acquire->lock;
    hilock_result_fn *on_result = acquire->on_result;
    void *user = acquire->user;
    uint64_t waited_us = hl_now_us(&core->host) - acquire->begun_us;
    int is_decided = acquire->state == ACQUIRE_DECIDED;
    char *holder = is_decided ? acquire->words.holder : NULL, *detail = is_decided ? acquire->words.detail : NULL;
    struct hl_text votes;
    struct hilock_result result = {.size = sizeof result, .operation = HILOCK_ACQUIRE, .lock = lock};
    lock->acquire = NULL;
    core->waiting--;
    if (is_decided) {
        result.status = acquire->verdict.status;
        result.holder_remaining_ms = acquire->verdict.holder_remaining_ms;
        acquire->words.holder = acquire->words.detail = NULL;
    } else
        fill_grant(core, acquire, &result);
    if (is_decided && hl_fair_of(acquire)) {
        result.position = hl_fair_of(acquire)->position;
        result.waiters = hl_fair_of(acquire)->waiters;
    }
    result.waited_ms = hl_span_ms(waited_us);
    result.attempts = acquire->attempts;
    result.holder = holder ? holder : "";
    result.detail = detail ? detail : hilock_status_text(result.status);
    if (result.votes) {
        hl_words_of_votes(core, lock->hold, &votes);
        result.detail = votes.bytes;
    }
    hl_trace(&core->host, HL_ACQUIRE_ENDED, &(struct hl_fact){.name = lock->name->bytes, .status = result.status, .waited_us = waited_us,
                                                              .token = result.fencing_token, .detail = result.detail, .count = result.attempts,
                                                              .is_local = lock->hold && lock->hold->turn});
    hl_acquire_free(core, acquire);
    call_result(lock, on_result, &result, user);
    hl_memory_free(&core->host.memory, holder);
    if (!HL_PLANTED(MEMORY_KEPT))
        hl_memory_free(&core->host.memory, detail);
}

static void tell_acquire(struct hl_core *core, struct hl_acquire *acquire)
{
    unsigned bit = take_bit(core, &acquire->notice);
    if (bit == TELL_WAITING)
        tell_waiting(core, acquire);
    else if (acquire->state == ACQUIRE_GRANTED && !is_still_good(core, acquire))
        hl_acquire_regain(acquire);
    else
        tell_result(core, acquire);
}

/* ---- what is asked of a hold ---- */

static int is_off(const struct hilock_lock *lock, const struct hl_notice *notice) { return lock->epoch != notice->epoch && !HL_PLANTED(SILENCE_BROKEN); }

/* As the callback starts. */
static void fill_hold(struct hl_core *core, const struct hilock_lock *lock, struct hilock_result *result)
{
    result->size = sizeof *result;
    result->state = hl_lock_state(lock);
    if (result->state != HILOCK_HELD)
        return;
    result->remaining_ms = hl_span_ms(hl_lock_left_us(lock, hl_now_us(&core->host)));
    result->fencing_token = hl_hold_token(lock->hold);
    result->hold_count = hl_reentry_count(lock->hold);
    result->votes = votes_of(lock->hold);
}

static void tell_extend(struct hl_core *core, struct hl_extend *extend, const char *detail)
{
    struct hilock_lock *lock = extend->lock;
    hilock_result_fn *on_result = is_off(lock, &extend->notice) ? NULL : extend->on_result;
    void *user = extend->user;
    char *words = extend->detail;
    struct hilock_result result = {.status = extend->status, .operation = HILOCK_EXTEND, .lock = lock, .holder = "", .attempts = extend->attempts,
                                   .waited_ms = hl_span_ms(hl_now_us(&core->host) - extend->begun_us)};
    result.detail = detail ? detail : words ? words : hilock_status_text(result.status);
    extend->detail = NULL;
    lock->refs++;
    hl_extend_free(core, extend);
    if (on_result) {
        fill_hold(core, lock, &result);
        call_result(lock, on_result, &result, user);
    }
    hl_memory_free(&core->host.memory, words);
    hl_lock_unref(lock);
}

/* What nobody is told any more was given up: as a wait that is dropped. */
static void trace_entry(struct hl_core *core, const struct hl_entry *entry, hilock_status status)
{
    status = is_off(entry->lock, &entry->notice) ? HILOCK_CANCELLED : status;
    hl_trace(&core->host, status == HILOCK_OK ? HL_ACQUIRE_REENTERED : HL_ACQUIRE_ENDED,
             &(struct hl_fact){.name = entry->lock->name->bytes, .status = status, .waited_us = hl_now_us(&core->host) - entry->entered_us});
}

/* An entry's acquire, or the release that took its count. */
static void tell_entry(struct hl_core *core, struct hl_entry *entry)
{
    int has_entered = take_bit(core, &entry->notice) == TELL_ENTERED;
    struct hilock_lock *lock = entry->lock;
    hilock_result_fn *on_result = is_off(lock, &entry->notice) ? NULL : has_entered ? entry->on_entered : entry->on_left;
    void *user = has_entered ? entry->entered_user : entry->left_user;
    struct hilock_result result = {.status = has_entered ? hl_reentry_verdict(core, entry) : HILOCK_OK, .lock = lock, .holder = "",
                                   .operation = has_entered ? HILOCK_ACQUIRE : HILOCK_RELEASE,
                                   .waited_ms = hl_span_ms(hl_now_us(&core->host) - (has_entered ? entry->entered_us : entry->left_us))};
    uint32_t count = has_entered ? entry->entered_count : entry->left_count;
    int is_in = hl_reentry_is_in(entry);
    if (has_entered)
        trace_entry(core, entry, result.status);
    lock->refs++;
    hl_reentry_told(core, entry);
    if (on_result) {
        fill_hold(core, lock, &result);
        result.hold_count = is_in && result.status == HILOCK_OK ? count : result.hold_count;
        result.detail = result.status == HILOCK_LOST ? "the hold had ended before this re-entry was told" : hilock_status_text(result.status);
        call_result(lock, on_result, &result, user);
    }
    hl_lock_unref(lock);
}

/* ---- holds ---- */

static void tell_lost(struct hl_core *core, struct hl_hold *hold)
{
    struct hilock_lock *lock = hold->owner.lock;
    struct hl_text detail;
    struct hilock_event event = {.kind = HILOCK_EVENT_LOST, .reason = (hilock_lost_reason)hold->reason, .fencing_token = hl_hold_token(hold),
                                 .detail = detail.bytes};
    struct hl_extend *extend = hold->side ? TAILQ_FIRST(&hold->side->extends) : NULL; /* one wound is told once: by its answer */
    hl_words_of_loss(core, hold, &detail);
    hl_turn_lost(core, hold);
    hl_ending_retry(hold); /* leaves with the flush behind this drain */
    hl_ending_settle(hold);
    if (extend)
        tell_extend(core, extend, detail.bytes);
    else
        call_event(core, lock, lock->terms->on_lost, &event);
}

static void tell_renewals(struct hl_core *core, struct hl_hold *hold, unsigned bit)
{
    struct hilock_lock *lock = hold->owner.lock;
    struct hl_text detail;
    struct hilock_event event = {.kind = bit == TELL_RENEWED ? HILOCK_EVENT_RENEWED : HILOCK_EVENT_RENEWAL_FAILED, .detail = detail.bytes,
                                 .fencing_token = hl_hold_token(hold)};
    if (!hold->is_told || !lock)
        return;
    if (bit == TELL_RENEWED)
        hl_text_set(&detail, "\"%s\" is renewed again", hl_quote(lock->name->bytes, lock->name->length).bytes);
    else
        hl_words_of_renewals(core, hold, &detail);
    event.remaining_ms = hl_span_ms(hl_lock_left_us(lock, hl_now_us(&core->host)));
    call_event(core, lock, lock->terms->on_event, &event);
}

static int is_silenced(const struct hl_hold *hold)
{
    return !hold->owner.lock || (hold->owner.lock->epoch != hold->notice.epoch && !HL_PLANTED(SILENCE_BROKEN));
}

/* The hold may be over with this; the handle is referenced by it until then. */
static void tell_released(struct hl_core *core, struct hl_hold *hold)
{
    struct hilock_lock *lock = hold->owner.lock;
    hilock_status status = (hilock_status)-(int)hold->verdict;
    hilock_result_fn *on_result = is_silenced(hold) ? NULL : hold->on_result;
    void *user = hold->user;
    struct hl_text detail;
    struct hilock_result result = {.size = sizeof result, .status = status, .operation = HILOCK_RELEASE, .lock = lock, .holder = "",
                                   .detail = detail.bytes, .waited_ms = hl_span_ms(hl_now_us(&core->host) - hold->since_us), .attempts = 1};
    hl_words_of_release(hold, status, &detail);
    result.votes = hl_hold_is_quorum(hold) ? hl_hold_heard(hold, HEARD_YES) : 0;
    if (!on_result) {
        hl_ending_settle(hold);
        return;
    }
    lock->refs++;
    hl_ending_settle(hold);
    result.state = hl_lock_state(lock);
    result.remaining_ms = hl_span_ms(hl_lock_left_us(lock, hl_now_us(&core->host)));
    call_result(lock, on_result, &result, user);
    hl_lock_unref(lock);
}

static void tell_receipt(struct hl_core *core, struct hl_receipt *receipt)
{
    struct hilock_lock *lock = receipt->lock;
    hilock_result_fn *on_result = is_off(lock, &receipt->notice) ? NULL : receipt->on_result;
    void *user = receipt->user;
    struct hl_text detail;
    struct hilock_result result = {.size = sizeof result, .status = HILOCK_OK, .operation = HILOCK_RELEASE, .lock = lock, .holder = "",
                                   .detail = detail.bytes, .waited_ms = hl_span_ms(hl_now_us(&core->host) - receipt->begun_us)};
    lock->refs++;
    hl_receipt_free(core, receipt);
    if (on_result) {
        hl_words_of_handing_on(lock->name, &detail);
        result.state = hl_lock_state(lock);
        result.remaining_ms = hl_span_ms(hl_lock_left_us(lock, hl_now_us(&core->host)));
        call_result(lock, on_result, &result, user);
    }
    hl_lock_unref(lock);
}

static void tell_settled(struct hl_core *core, struct hl_hold *hold)
{
    struct hilock_lock *lock = hold->owner.lock;
    struct hl_text detail;
    struct hilock_event event = {.kind = HILOCK_EVENT_RELEASE_SETTLED, .fencing_token = hl_hold_token(hold), .detail = detail.bytes,
                                 .waited_ms = hl_span_ms(hl_now_us(&core->host) - hold->since_us)};
    int silenced = is_silenced(hold);
    if (silenced) {
        hl_ending_settle(hold);
        return;
    }
    hl_words_of_settling(hold, event.waited_ms, &detail);
    lock->refs++;
    hl_ending_settle(hold);
    call_event(core, lock, lock->terms->on_event, &event);
    hl_lock_unref(lock);
}

static void tell_hold(struct hl_core *core, struct hl_hold *hold)
{
    unsigned bit = take_bit(core, &hold->notice);
    if (bit == TELL_LOST)
        tell_lost(core, hold);
    else if (bit == TELL_RELEASED)
        tell_released(core, hold);
    else if (bit == TELL_SETTLED)
        tell_settled(core, hold);
    else
        tell_renewals(core, hold, bit);
}

/* ---- inquiries ---- */

/* The inquiry may be gone with its retirement, so its texts are copied. */
static void tell_inquiry(struct hl_core *core, struct hl_inquiry *inquiry)
{
    struct hilock_lock *lock = inquiry->lock;
    hilock_result_fn *on_result = hl_inquiry_is_silenced(inquiry) ? NULL : inquiry->on_result;
    void *user = inquiry->user;
    char holder[sizeof inquiry->holder];
    struct hl_text detail = inquiry->detail;
    struct hilock_result result = {.size = sizeof result, .status = inquiry->status, .lock = lock, .holder = holder, .detail = detail.bytes,
                                   .operation = inquiry->is_forcing ? HILOCK_FORCE_RELEASE : HILOCK_PEEK, .attempts = inquiry->attempts,
                                   .waited_ms = hl_span_ms(hl_now_us(&core->host) - inquiry->begun_us),
                                   .holder_remaining_ms = inquiry->holder_remaining_ms, .waiters = inquiry->waiters, .position = inquiry->position};
    memcpy(holder, inquiry->holder, sizeof holder);
    fill_hold(core, lock, &result);
    result.votes = inquiry->votes; /* not those of a hold of its own */
    take_bit(core, &inquiry->notice);
    lock->refs++;
    hl_inquiry_retire(core, inquiry);
    if (on_result)
        call_result(lock, on_result, &result, user);
    hl_lock_unref(lock);
}

/* ---- the drain ---- */

static void tell(struct hl_core *core, struct hl_notice *notice)
{
    switch ((enum hl_notice_kind)notice->kind) {
    case NOTICE_ACQUIRE: tell_acquire(core, (struct hl_acquire *)(void *)notice); break;
    case NOTICE_HOLD: tell_hold(core, (struct hl_hold *)(void *)notice); break;
    case NOTICE_INQUIRY: tell_inquiry(core, (struct hl_inquiry *)(void *)notice); break;
    case NOTICE_EXTEND: tell_extend(core, (struct hl_extend *)(void *)notice, NULL); break;
    case NOTICE_ENTRY: tell_entry(core, (struct hl_entry *)(void *)notice); break;
    case NOTICE_RECEIPT: tell_receipt(core, (struct hl_receipt *)(void *)notice); break;
    case NOTICE_CLIENT:
        hl_notice_move(core, notice, PLACE_NONE);
        core->on_client_notice(core, notice);
        break;
    case NOTICE_MARKER: break;
    }
}

/* Losses first, also those that a callback of this drain brought about; of the news only what stood before the marker. */
static struct hl_notice *next_notice(struct hl_core *core)
{
    struct hl_notice *notice = TAILQ_FIRST(&core->losses);
    if (notice)
        return notice;
    notice = TAILQ_FIRST(&core->news);
    return notice == &core->marker ? NULL : notice;
}

static void drain(struct hl_core *core)
{
    uint64_t ends_us = hl_now_us(&core->host) + BATCH_US;
    struct hl_notice *notice;
    hl_watchdog_sweep(core);
    if (!hl_deliver_is_due(core))
        return;
    hl_notice_move(core, &core->marker, PLACE_NEWS);
    for (int told = 0; !core->is_gone && told < BATCH && (notice = next_notice(core)) != NULL; told++) {
        tell(core, notice);
        if (!core->is_gone)
            hl_watchdog_sweep(core);
        if (hl_now_us(&core->host) > ends_us)
            break;
    }
    hl_notice_move(core, &core->marker, PLACE_NONE);
    core->is_behind = !core->is_gone && hl_deliver_is_due(core);
    if (core->is_behind)
        hl_host_wake_next_turn(&core->host);
}

/* A turn of the loop may bring several events of ours: after a whole batch the next one is for the next turn. */
void hl_deliver(struct hl_core *core)
{
    HL_REQUIRE(!core->is_delivering);
    if (core->is_behind && core->host.is_armed && !HL_PLANTED(BATCH_UNBOUNDED))
        return;
    core->is_delivering = 1;
    drain(core);
    core->is_delivering = 0;
}

int hl_deliver_is_due(const struct hl_core *core) { return !TAILQ_EMPTY(&core->news) || !TAILQ_EMPTY(&core->losses); }
