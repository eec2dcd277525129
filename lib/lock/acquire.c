/* SPDX-License-Identifier: BSD-3-Clause */
/* acquire - see acquire.h. A granted acquire stays in line until its answer is delivered. So it needs no memory to wait
 * again if its grant proves too old at the last moment. */
#include "lock/acquire.h"

#include "base/container.h"
#include "base/contract.h"
#include "base/plant.h"
#include "core/lease.h"
#include "core/notice.h"
#include "core/words.h"
#include "hold/asking.h"
#include "hold/ending.h"
#include "hold/watchdog.h"
#include "lock/grant_channel.h"
#include "lock/joining.h"
#include "lock/line.h"
#include "lock/place.h"
#include "lock/tenure.h"
#include "lock/view.h"

enum { PAUSE_US = 50000 };                 /* how long an acquire pauses when too few replicas had its grant */

/* Sets the alarm to the next WAITING event or to the end of the wait, whichever comes first. */
static void set_alarm(struct hl_acquire *acquire)
{
    struct hl_alarms *alarms = &hl_lock_core(acquire->lock)->locks->alarms;
    int has_report = acquire->reporting == REPORTS_LATER;
    uint64_t report_us = has_report ? acquire->begun_us + (uint64_t)acquire->report_ms * 1000 : UINT64_MAX;
    uint64_t due_us = report_us < acquire->ends_at_us ? report_us : acquire->ends_at_us;
    if (due_us == UINT64_MAX)
        hl_alarm_stop(alarms, &acquire->alarm);
    else if (hl_alarm_has_begun(&acquire->alarm))
        hl_alarm_set(alarms, &acquire->alarm, due_us);
}

/* ---- the drawing of acquire.h: for each state, those that may follow ---- */

static const uint8_t arrows[] = {
    [ACQUIRE_IN_LINE]  = 1u << ACQUIRE_STARVED | 1u << ACQUIRE_ASKING | 1u << ACQUIRE_SLEEPING | 1u << ACQUIRE_GRANTED,
    [ACQUIRE_STARVED]  = 1u << ACQUIRE_ASKING | 1u << ACQUIRE_SLEEPING | 1u << ACQUIRE_GRANTED,
    [ACQUIRE_ASKING]   = 1u << ACQUIRE_IN_LINE | 1u << ACQUIRE_STARVED | 1u << ACQUIRE_SLEEPING |
                         1u << ACQUIRE_PAUSED | 1u << ACQUIRE_GRANTED,
    [ACQUIRE_SLEEPING] = 1u << ACQUIRE_IN_LINE | 1u << ACQUIRE_STARVED | 1u << ACQUIRE_ASKING | 1u << ACQUIRE_GRANTED,
    [ACQUIRE_PAUSED]   = 1u << ACQUIRE_IN_LINE,
    [ACQUIRE_GRANTED]  = 1u << ACQUIRE_IN_LINE,
    [ACQUIRE_DECIDED]  = 0
};

void hl_acquire_enter(struct hl_acquire *acquire, enum hl_acquire_state state)
{
    int may_follow = state == ACQUIRE_DECIDED || (arrows[acquire->state] & 1u << state);
    HL_REQUIRE(acquire->state == state || may_follow);
    acquire->state = state & 7u;
}

/* ---- the end of an acquire ---- */

static void trace_undone(const struct hl_acquire *acquire)
{
    hl_terms_trace(acquire->lock->terms, HL_HOLD_UNDONE,
                   &(struct hl_fact){.name = acquire->lock->name->bytes, .token = hl_hold_token(acquire->hold)});
}

void hl_acquire_free(struct hl_core *core, struct hl_acquire *acquire)
{
    hl_notice_cancel(core, &acquire->notice);
    hl_alarm_end(&core->locks->alarms, &acquire->alarm);
    hl_place_free(core, acquire);
    hl_memory_free(&core->host.memory, acquire->words);
    acquire->lock->acquire = NULL;
    hl_memory_free(&core->host.memory, acquire);
}

/* The acquire ends. If it is GRANTED and not yet reported, the next acquire in line can use the hold, and if others
 * count on the hold, it goes on for them. Otherwise the hold goes on alone as an ending, and the next acquire in line
 * waits for the first answer to the release of that hold. */
static void let_go(struct hl_acquire *acquire)
{
    struct hl_core *core = hl_lock_core(acquire->lock);
    struct hl_acquire *next;
    struct hl_hold *hold;
    int is_last;
    if (!hl_waiter_sends_by_itself(acquire))
        hl_place_leave_to_next(acquire, TAILQ_NEXT(acquire, entry));
    hl_place_hide(acquire->place);
    hold = acquire->hold;
    next = hold ? hl_tenure_next(core, hold) : NULL;
    is_last = hold && hl_hold_leave(hold, acquire->lock);
    if (acquire->state == ACQUIRE_GRANTED && is_last && !next)
        trace_undone(acquire);
    hl_acquire_enter(acquire, ACQUIRE_DECIDED);
    acquire->hold = NULL;
    if (next)
        hl_tenure_hand_on(core, hold, next);
    else if (is_last)
        hl_ending_begin(hold, &(struct hl_withdrawal){.end = END_ABANDONED});
    hl_alarm_end(&core->locks->alarms, &acquire->alarm);
    hl_line_leave(acquire);
}

void hl_acquire_decide(struct hl_acquire *acquire, hilock_status status)
{
    struct hl_core *core = hl_lock_core(acquire->lock);
    hl_memory_free(&core->host.memory, acquire->words);
    /* the words come from the line, so they are made before the acquire leaves its line */
    acquire->words = hl_view_result_words(core, acquire, status);
    if (acquire->state != ACQUIRE_DECIDED)
        let_go(acquire);
    acquire->status = (int8_t)status;
    hl_notice_post(core, &acquire->notice, REPORT_RESULT);
}

/* ---- its requests ---- */

void hl_acquire_send(struct hl_acquire *acquire)
{
    if (!hl_acquire_prepare(acquire))
        return;
    if (acquire->place && !acquire->hold->id)
        hl_place_begin(hl_lock_core(acquire->lock), acquire->place);
    hl_acquire_enter(acquire, ACQUIRE_ASKING);
    hl_hold_wake_at(acquire->hold, UINT64_MAX);
    hl_asking_send(acquire->hold, STAGE_FIRST);
}

/* The hold goes on alone as an ending, unless others count on it. The acquire sends its request again with another
 * hold, after the first answer to the release (R4). */
static void give_hold_back(struct hl_acquire *acquire)
{
    struct hl_hold *hold = acquire->hold;
    hl_place_hide(acquire->place);
    acquire->hold = NULL;
    if (hl_hold_leave(hold, acquire->lock))
        hl_ending_begin(hold, &(struct hl_withdrawal){.end = END_BY_CLIENT});
}

/* The grant has too little validity left (R8). The alarm did nothing while the acquire was GRANTED, so it is set
 * again. */
static void retry(struct hl_acquire *acquire)
{
    hl_notice_withdraw(hl_lock_core(acquire->lock), &acquire->notice, REPORT_RESULT);
    set_alarm(acquire);
    if (!hl_hold_has_others(acquire->hold, acquire->lock))
        trace_undone(acquire);
    hl_acquire_enter(acquire, ACQUIRE_IN_LINE);
    give_hold_back(acquire);
    hl_line_try_again(acquire);
}

static void granted(struct hl_acquire *acquire)
{
    const struct hl_queue_place *place = acquire->place;
    if (!hl_hold_lasts_for(acquire->hold, acquire->lock->terms, hl_hold_now_us(acquire->hold))) {
        retry(acquire);
        return;
    }
    hl_acquire_enter(acquire, ACQUIRE_GRANTED);
    if (place && place->ticket && !place->holder_grants_next)
        hl_line_note_other_program(acquire->lock->name); /* another program held the name until now */
    hl_watchdog_start(acquire->hold);
    if (acquire->lock->terms->share_local_ms)
        hl_joining_open(acquire);
    hl_line_deny_tries(acquire->lock->name);
    hl_notice_post(hl_lock_core(acquire->lock), &acquire->notice, REPORT_RESULT);
}

void hl_acquire_report_waiting(struct hl_core *core, struct hl_acquire *acquire)
{
    const struct hl_terms *terms = acquire->lock->terms;
    uint64_t next_ms = (hl_now_us(&core->host) - acquire->begun_us) / 1000 + terms->wait_report_ms;
    hl_terms_trace(terms, HL_ACQUIRE_WAITS,
                   &(struct hl_fact){.lock = acquire->lock, .name = acquire->lock->name->bytes});
    acquire->reporting = terms->wait_report_ms && next_ms < UINT32_MAX ? REPORTS_LATER : REPORTS_NOTHING;
    acquire->report_ms = (uint32_t)next_ms;
    if (terms->on_event)
        hl_notice_post(core, &acquire->notice, REPORT_WAITING);
    set_alarm(acquire);
}

/* The name is held, or there is a passing fault. News that came after the request was sent may be newer than the
 * answer, so the acquire sends the request again before it sleeps (R7). */
static void sleep_or_send_again(struct hl_acquire *acquire, const struct hl_response *said)
{
    struct hl_core *core = hl_lock_core(acquire->lock);
    int is_held = said->result == HL_NO;
    struct hl_queue_place *place = is_held ? acquire->place : NULL;
    if (is_held && !hl_has_own_place(acquire->lock->terms))
        hl_line_report_waiting(core, acquire->lock->name);
    else if (is_held && acquire->reporting == REPORTS_WHEN_HELD)
        hl_acquire_report_waiting(core, acquire);
    if (is_held)
        hl_line_listen(acquire, said);
    hl_acquire_enter(acquire, ACQUIRE_SLEEPING);
    if (is_held && hl_line_is_outdated(acquire)) {
        hl_line_try_again(acquire);
        return;
    }
    hl_hold_wake_at(acquire->hold, hl_now_us(&core->host) + (place ? hl_place_plan_sleep_us(core, place, said)
                                                             : hl_view_sleep_us(core, acquire)));
}

/* Too few replicas have the grant. The acquire pauses with a new hold, whose alarm ends the pause, and then sends its
 * request under a new id. It moves to the end of its line, because the waiters behind it may need fewer replicas. */
static void give_back_unconfirmed(struct hl_acquire *acquire)
{
    hl_line_move(acquire, 0);
    give_hold_back(acquire);
    if (!hl_acquire_prepare(acquire))
        return;
    hl_acquire_enter(acquire, ACQUIRE_PAUSED);
    hl_hold_wake_at(acquire->hold, hl_now_us(&hl_lock_core(acquire->lock)->host) + PAUSE_US);
}

static void answered(struct hl_acquire *acquire, const struct hl_response *said)
{
    int is_held = said && said->result == HL_NO, has_more = is_held && said->has_more;
    enum hl_place_fate fate = PLACE_AS_BEFORE;
    hl_line_learn(acquire, said);
    if (said)
        fate = hl_place_on_answer(acquire, said);
    /* the same id finds a grant whose answer was lost (R3), or goes on through the queue */
    if (!said || has_more)
        hl_asking_send(acquire->hold, STAGE_FIRST);
    else if (fate == PLACE_QUEUE_IS_FULL)
        hl_acquire_decide(acquire, HILOCK_QUEUE_FULL);
    else if (fate == PLACE_GIVEN_UP)
        hl_acquire_send(acquire);
    else if (hl_acquire_is_try(acquire) || (!is_held && said->fault.kind != HL_FAULT_PASSING))
        hl_acquire_decide(acquire, is_held ? HILOCK_TIMED_OUT : said->fault.status);
    else
        sleep_or_send_again(acquire, said);
}

static void unconfirmed(struct hl_acquire *acquire, const struct hl_response *said)
{
    hl_line_learn(acquire, said);
    if (hl_acquire_is_try(acquire) || said->fault.kind != HL_FAULT_PASSING)
        hl_acquire_decide(acquire, said->fault.status);
    else
        give_back_unconfirmed(acquire);
}

static void resume(struct hl_acquire *acquire)
{
    if (acquire->state == ACQUIRE_PAUSED)
        hl_acquire_enter(acquire, ACQUIRE_IN_LINE);
    hl_line_try_again(acquire);
}

/* The hold may be freed when the last one has left it. */
static void retry_unreported(struct hl_hold *hold)
{
    struct hilock_lock *lock, *next;
    for (lock = hl_hold_handle(hold); lock; lock = next) {
        next = TAILQ_NEXT(lock, by_hold);
        if (lock->acquire && lock->acquire->hold == hold)
            retry(lock->acquire);
    }
}

/* What holds tell: the acquire of the hold acts, or the line of its name. */
void hl_acquire_on_hold_event(struct hl_hold *hold, const struct hl_hold_event *event)
{
    switch (event->what) {
    case EVENT_ASKS: hl_place_add_params(hold, event->params); break;
    case EVENT_GRANTED: granted(hl_hold_handle(hold)->acquire); break;
    case EVENT_ANSWERED: answered(hl_hold_handle(hold)->acquire, event->said); break;
    case EVENT_UNCONFIRMED: unconfirmed(hl_hold_handle(hold)->acquire, event->said); break;
    case EVENT_SENT_BACK: /* the line goes on when the release is over */
        hl_acquire_enter(hl_hold_handle(hold)->acquire, ACQUIRE_IN_LINE);
        break;
    case EVENT_UNREPORTED: retry_unreported(hold); break;
    case EVENT_ALARM: resume(hl_hold_handle(hold)->acquire); break;
    case EVENT_SHARES:
    case EVENT_RELEASED: hl_line_released(hold->name); break;
    }
}

void hl_acquire_on_alarm(struct hl_alarm *alarm)
{
    struct hl_acquire *acquire = HL_CONTAINER(alarm, struct hl_acquire, alarm);
    struct hl_core *core = hl_lock_core(acquire->lock);
    if (acquire->state == ACQUIRE_GRANTED)
        return;
    if (acquire->ends_at_us > hl_now_us(&core->host))
        hl_acquire_report_waiting(core, acquire); /* this also sets the alarm again */
    else if (acquire->state == ACQUIRE_STARVED)
        hl_acquire_decide(acquire, HILOCK_NO_MEMORY);
    else if (acquire->hold && acquire->hold->state == HOLD_CONFIRMING)
        hl_acquire_decide(acquire, HILOCK_NOT_REPLICATED);
    else
        hl_acquire_decide(acquire, hl_view_status(core, acquire));
}

/* Returns the sleeping acquire whose latest answer showed the holder: this acquire, or the head of the line in which it
 * stands. NULL: a request is under way, or a handle of this client holds the name. */
static struct hl_acquire *sleeper_of(struct hl_acquire *acquire)
{
    const struct hl_name *name = acquire->lock->name;
    int is_behind_head = acquire->state == ACQUIRE_IN_LINE && acquire->standing == STANDS_IN_LINE;
    struct hl_acquire *sender = is_behind_head ? hl_line_head(name->line) : acquire;
    return sender->state == ACQUIRE_SLEEPING && !hl_hold_of(name) ? sender : NULL;
}

int hl_acquire_is_behind_other_program(struct hl_acquire *acquire)
{
    const struct hl_acquire *sender = sleeper_of(acquire);
    return sender && (!sender->place || (sender->place->ticket && !sender->place->holder_grants_next));
}

void hl_acquire_refresh_holder(struct hl_acquire *acquire)
{
    struct hl_acquire *sender = sleeper_of(acquire);
    if (sender)
        hl_acquire_send(sender);
}

/* ---- its reports ---- */

static void report_event(struct hl_core *core, struct hl_acquire *acquire, unsigned bit)
{
    struct hilock_lock *lock = acquire->lock;
    const struct hl_view view = hl_view_of(core, acquire, HILOCK_TIMED_OUT);
    struct hilock_event event =
        {.kind = bit == REPORT_WAITING ? HILOCK_EVENT_WAITING : HILOCK_EVENT_PASSED_OVER,
         .waited_ms = hl_lease_span_ms(core->notices.checked_at_us - acquire->begun_us),
         .detail = bit == REPORT_WAITING ? hl_words_waiting : hl_words_passed_over,
         .holder = view.words,
         .holders = view.holders,
         .holder_age_ms = view.age_ms};
    if (hl_has_own_place(lock->terms)) {
        event.position = acquire->place->position;
        event.waiters = acquire->place->waiters;
    }
    hl_notice_give_event(core, lock, lock->terms->on_event, &event);
}

static void report_result(struct hl_core *core, struct hl_acquire *acquire, uint64_t now_us)
{
    const struct hl_acquire own = *acquire;
    struct hilock_lock *lock = own.lock;
    uint64_t waited_us = now_us - own.begun_us;
    struct hilock_result result =
        {.status = (hilock_status)own.status, .operation = HILOCK_OP_ACQUIRE, .detail = hl_words_granted,
         .attempts = own.attempts, .waited_ms = hl_lease_span_ms(waited_us)};
    lock->acquire = NULL;
    core->waiting -= hl_terms_count(lock->terms);
    acquire->words = NULL;
    if (own.state == ACQUIRE_DECIDED) {
        hl_view_set_words(own.words, &result);
        if (hl_has_own_place(lock->terms)) {
            result.position = own.place->position;
            result.waiters = own.place->waiters;
        }
    } else {
        HL_REQUIRE(own.state == ACQUIRE_GRANTED); /* an acquire that has a result and is not DECIDED is GRANTED */
        lock->hold = own.hold;
        core->held += hl_terms_count(lock->terms);
        acquire->hold = NULL;
        hl_line_leave(acquire);
        result.fencing_token = hl_hold_token(lock->hold);
    }
    hl_terms_trace(lock->terms, HL_ACQUIRE_ENDED,
                   &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .status = result.status,
                                     .waited_us = waited_us, .token = result.fencing_token, .detail = result.detail,
                                     .count = result.attempts,
                                     .is_local = lock->hold && (lock->hold->served || !result.attempts)});
    hl_acquire_free(core, acquire);
    if (own.on_result)
        hl_notice_give_result(lock, own.on_result, result, own.user);
    hl_memory_free(&core->host.memory, own.words);
}

void hl_acquire_drop(struct hl_acquire *acquire)
{
    if (acquire->state != ACQUIRE_DECIDED)
        let_go(acquire);
    acquire->status = HILOCK_CANCELLED;
    acquire->on_result = NULL;
    report_result(hl_lock_core(acquire->lock), acquire, hl_now_us(&hl_lock_core(acquire->lock)->host));
}

/* A grant may age in our own lists (R8). If it has too little validity left, it is given back, and the acquire sends
 * its request again. */
static void report(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_acquire *acquire = HL_CONTAINER(notice, struct hl_acquire, notice);
    unsigned bit = hl_notice_take(core, &acquire->notice);
    int is_checked = acquire->state == ACQUIRE_GRANTED && !HL_PLANTED(R8_NO_CHECK_AFTER_QUEUE);
    int is_late = is_checked && !hl_hold_lasts_for(acquire->hold, acquire->lock->terms, core->notices.checked_at_us);
    if (bit == REPORT_WAITING || bit == REPORT_PASSED_OVER)
        report_event(core, acquire, bit);
    else if (is_late && !HL_PLANTED(HANDOFF_BLIND))
        retry(acquire);
    else
        report_result(core, acquire, core->notices.checked_at_us);
}

static void forget(struct hl_core *core, struct hl_notice *notice)
{
    hl_acquire_free(core, HL_CONTAINER(notice, struct hl_acquire, notice));
}

/* ---- the begin of an acquire ---- */

int hl_acquire_prepare(struct hl_acquire *acquire)
{
    struct hilock_lock *lock = acquire->lock;
    struct hl_core *core = hl_lock_core(lock);
    int has_place = hl_place_prepare(acquire) == 0;
    if (has_place && !acquire->hold && (acquire->hold = hl_hold_new(core, lock->name, lock->terms)) != NULL)
        hl_hold_join(acquire->hold, lock);
    if (has_place && acquire->hold)
        return 1;
    hl_lines_retry_soon(core);
    hl_acquire_enter(acquire, ACQUIRE_STARVED);
    return 0;
}

hilock_status hl_acquire_begin(struct hl_core *core, struct hilock_lock *lock, int is_try, uint64_t limit_us,
                               hilock_result_fn *on_result, void *user)
{
    static const struct hl_notice_ops reports = {report, forget};
    int needs_alarm = limit_us != UINT64_MAX || lock->terms->wait_report_ms, has_alarm;
    int has_place = hl_has_own_place(lock->terms);
    size_t place_size = has_place ? sizeof(struct hl_queue_place) : 0;
    enum hl_standing standing = is_try ? (has_place ? STANDS_AS_SENT_TRY : STANDS_AS_TRY)
                                : has_place ? STANDS_IN_QUEUE : STANDS_IN_LINE;
    struct hl_acquire *acquire = hl_memory_new(&core->host.memory, sizeof *acquire + place_size);
    struct hl_line *line;
    if (!acquire)
        return HILOCK_NO_MEMORY;
    *acquire = (struct hl_acquire){.notice = {.ops = &reports, .epoch = lock->epoch}, .lock = lock,
                                   .standing = standing & 7u,
                                   .reporting = is_try ? REPORTS_NOTHING : REPORTS_WHEN_HELD,
                                   .begun_us = hl_now_us(&core->host), .on_result = on_result, .user = user};
    acquire->ends_at_us = limit_us == UINT64_MAX ? UINT64_MAX : acquire->begun_us + limit_us;
    if (place_size) {
        acquire->place = (struct hl_queue_place *)(void *)(acquire + 1);
        acquire->place->acquire = acquire;
    }
    has_alarm = !needs_alarm || hl_alarm_begin(&core->locks->alarms, &acquire->alarm) == 0;
    set_alarm(acquire); /* this has no effect if there is no alarm */
    line = has_alarm ? hl_line_get_or_new(core, lock->name) : NULL;
    if (!line) {
        hl_acquire_free(core, acquire);
        return HILOCK_NO_MEMORY;
    }
    lock->acquire = acquire;
    core->waiting += hl_terms_count(lock->terms);
    hl_terms_trace(lock->terms, HL_ACQUIRE_BEGUN, &(struct hl_fact){.lock = lock, .name = lock->name->bytes});
    hl_line_join(line, acquire);
    return HILOCK_OK;
}
