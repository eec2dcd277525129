/* SPDX-License-Identifier: BSD-3-Clause */
/* acquire - see acquire.h. It stays in line until the answer is delivered, so that it needs no memory to wait again (if
 * its grant proves too old at the last moment). */
#include "lock/acquire.h"

#include "base/plant.h"
#include "core/lease.h"
#include "core/notice.h"
#include "hold/asking.h"
#include "hold/ending.h"
#include "hold/hold.h"
#include "hold/watchdog.h"
#include "lock/handoff.h"
#include "wait/channel.h"
#include "wait/gate.h"
#include "wait/grants.h"
#include "wait/known.h"
#include "wait/last_words.h"
#include "wait/place.h"

enum { PAUSE_US = 50000 };

static struct hl_core *core_of(const struct hl_acquire *acquire) { return acquire->lock->terms->cell->core; }

/* ---- its time ---- */

static uint64_t report_us(const struct hl_acquire *acquire)
{
    int is_to_come = acquire->report_ms && acquire->report_ms != UINT32_MAX;
    return is_to_come ? acquire->begun_us + (uint64_t)acquire->report_ms * 1000 : UINT64_MAX;
}

static void sleep_on(struct hl_acquire *acquire)
{
    struct hl_alarms *alarms = &core_of(acquire)->wait_alarms;
    uint64_t due_us = report_us(acquire) < acquire->ends_us ? report_us(acquire) : acquire->ends_us;
    if (!hl_alarm_has_begun(&acquire->alarm))
        return;
    if (due_us == UINT64_MAX)
        hl_alarm_stop(alarms, &acquire->alarm);
    else
        hl_alarm_set(alarms, &acquire->alarm, due_us);
}

/* 0: no memory. */
static int take_alarm(struct hl_core *core, struct hl_acquire *acquire)
{
    if (acquire->ends_us == UINT64_MAX && !acquire->lock->terms->wait_report_ms)
        return 1;
    if (hl_alarm_begin(&core->wait_alarms, &acquire->alarm) != 0)
        return 0;
    sleep_on(acquire);
    return 1;
}

/* ---- its end ---- */

void hl_acquire_free(struct hl_core *core, struct hl_acquire *acquire)
{
    hl_notice_cancel(core, &acquire->notice);
    hl_alarm_end(&core->wait_alarms, &acquire->alarm);
    hl_place_free(core, acquire);
    hl_memory_free(&core->host.memory, acquire->words);
    hl_memory_free(&core->host.memory, acquire);
}

/* If it is granted and not yet reported, the next in line can use the hold. Else the hold ends by itself, and the next
 * in line waits for the first answer to its release. */
static void let_hold_go(struct hl_core *core, struct hl_acquire *acquire, struct hl_hold *hold)
{
    struct hl_acquire *next = hl_handoff_next(core, hold);
    if (acquire->state == ACQUIRE_GRANTED && !next)
        hl_terms_trace(acquire->lock->terms, HL_HOLD_UNDONE,
                       &(struct hl_fact){.name = acquire->lock->name->bytes, .token = hl_hold_token(hold)});
    acquire->state = ACQUIRE_DECIDED;
    acquire->hold = NULL;
    if (next)
        hl_handoff(core, hold, next);
    else
        hl_ending_give_up(hold);
}

static void let_go(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    if (!hl_waiter_is_alone(acquire))
        (void)hl_place_pass(acquire, TAILQ_NEXT(acquire, line));
    if (acquire->place)
        hl_grants_leave(acquire->place);
    if (acquire->hold)
        let_hold_go(core, acquire, acquire->hold);
    acquire->state = ACQUIRE_DECIDED;
    hl_alarm_end(&core->wait_alarms, &acquire->alarm);
    hl_gate_leave(acquire);
}

void hl_acquire_decide(struct hl_acquire *acquire, hilock_status status)
{
    struct hl_core *core = core_of(acquire);
    acquire->words = hl_last_words_of(core, acquire, status); /* while it is in line the gate has its hold */
    let_go(acquire);
    acquire->status = (int8_t)status;
    hl_notice_post(core, &acquire->notice, REPORT_RESULT);
}

void hl_acquire_overrule(struct hl_acquire *acquire, hilock_status status)
{
    hl_memory_free(&core_of(acquire)->host.memory, acquire->words);
    acquire->words = NULL;
    acquire->status = (int8_t)status;
}

void hl_acquire_drop(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    struct hilock_lock *lock = acquire->lock;
    if (acquire->state != ACQUIRE_DECIDED)
        let_go(acquire);
    hl_terms_trace(lock->terms, HL_ACQUIRE_ENDED,
                   &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .status = HILOCK_CANCELLED,
                                     .waited_us = hl_now_us(&core->host) - acquire->begun_us,
                                     .count = acquire->attempts});
    hl_acquire_free(core, acquire);
    lock->acquire = NULL;
    core->waiting -= hl_terms_count(lock->terms);
}

void hl_acquire_ask(struct hl_acquire *acquire)
{
    if (!hl_acquire_may_ask(acquire))
        return;
    if (acquire->place && !acquire->hold->id)
        hl_place_begin(core_of(acquire), acquire->place);
    acquire->state = ACQUIRE_ASKING;
    hl_hold_wake_at(acquire->hold, UINT64_MAX);
    hl_asking_begin(acquire->hold);
}

int hl_acquire_is_too_late(const struct hl_acquire *acquire)
{
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(acquire->hold), hl_now_us(&core_of(acquire)->host));
    return left_us < hl_hold_least_us(acquire->hold, acquire->lock->terms);
}

static uint32_t next_report_ms(const struct hl_acquire *acquire)
{
    uint64_t waited_us = hl_now_us(&core_of(acquire)->host) - acquire->begun_us;
    uint64_t at_ms = waited_us / 1000 + acquire->lock->terms->wait_report_ms;
    return acquire->lock->terms->wait_report_ms && at_ms < UINT32_MAX ? (uint32_t)at_ms : UINT32_MAX;
}

/* Its hold ends by itself; it asks again with another, after the first answer to the release (R4). */
static void part(struct hl_acquire *acquire)
{
    struct hl_hold *hold = acquire->hold;
    if (acquire->place)
        hl_grants_leave(acquire->place);
    acquire->hold = NULL;
    hold->lock = NULL;
    hl_ending_begin(hold, hl_now_us(&hl_hold_core(hold)->host));
}

/* Acquires outside of the line ask for themselves; of those in it, the first. */
static void try_again(struct hl_acquire *acquire)
{
    if (acquire->lock->terms->kind->place_each)
        hl_acquire_ask(acquire);
    else
        hl_gate_wake_for(acquire);
}

/* Too little of its grant is left (R8). */
static void give_back(struct hl_acquire *acquire)
{
    hl_terms_trace(acquire->lock->terms, HL_HOLD_UNDONE,
             &(struct hl_fact){.name = acquire->lock->name->bytes, .token = hl_hold_token(acquire->hold)});
    acquire->state = ACQUIRE_IN_LINE;
    part(acquire);
    try_again(acquire);
}

static void on_granted(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    struct hl_queue_place *place = acquire->place;
    if (hl_acquire_is_too_late(acquire)) {
        give_back(acquire);
        return;
    }
    acquire->state = ACQUIRE_GRANTED;
    if (place && place->ticket && !place->hands_over)
        hl_gate_saw_others(acquire->lock->name); /* until now */
    hl_watchdog_keep(acquire->hold);
    hl_gate_deny_tries(acquire->lock->name);
    hl_notice_post(core, &acquire->notice, REPORT_RESULT);
}

void hl_acquire_regain(struct hl_acquire *acquire)
{
    hl_notice_withdraw(core_of(acquire), &acquire->notice, REPORT_RESULT);
    sleep_on(acquire);
    give_back(acquire);
}

void hl_acquire_tell_waiting(struct hl_core *core, struct hl_acquire *acquire)
{
    const struct hl_terms *terms = acquire->lock->terms;
    hl_terms_trace(acquire->lock->terms, HL_ACQUIRE_WAITS,
                   &(struct hl_fact){.lock = acquire->lock, .name = acquire->lock->name->bytes});
    acquire->report_ms = next_report_ms(acquire);
    if (terms->on_event)
        hl_notice_post(core, &acquire->notice, REPORT_WAITING);
    sleep_on(acquire);
}

static void tell(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    if (!acquire->lock->terms->kind->place_each)
        hl_gate_tell_waiting(core, acquire->lock->name);
    else if (!acquire->report_ms)
        hl_acquire_tell_waiting(core, acquire);
}

/* Held, or a passing fault. R7: news that came after the question left is newer than the answer: ask again before
 * sleeping. */
static void sleep_or_ask(struct hl_acquire *acquire, const struct hl_response *said)
{
    struct hl_core *core = core_of(acquire);
    struct hl_queue_place *place = said->result == HL_NO ? acquire->place : NULL;
    int may_sleep = said->result != HL_NO || (place ? hl_place_may_sleep(place) : hl_channel_may_sleep(acquire));
    acquire->state = ACQUIRE_SLEEPING;
    if (!may_sleep) {
        hl_hold_wake_at(acquire->hold, UINT64_MAX);
        try_again(acquire);
        return;
    }
    hl_hold_wake_at(acquire->hold, hl_now_us(&core->host) + (place ? hl_place_sleep_us(core, place, said)
                                                             : hl_known_sleep_us(core, acquire)));
}

/* Too few replicas have it. It pauses with a hold that is IDLE, and then asks under a new id; those behind it in line
 * come first: they may need fewer. */
static void give_back_unconfirmed(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    hl_gate_step_back(acquire);
    if (!HL_PLANTED(REPLICAS_KEPT))
        part(acquire);
    if (!hl_acquire_may_ask(acquire))
        return;
    acquire->state = ACQUIRE_SLEEPING;
    hl_hold_wake_at(acquire->hold, hl_now_us(&core->host) + PAUSE_US);
}

static void on_refused(struct hl_acquire *acquire, const struct hl_response *said)
{
    struct hl_queue_place *place = acquire->place;
    hl_known_learn(acquire, said);
    if (place && said->result == HL_NO)
        hl_place_placed(place, said);
    if (hl_place_forgoes_queue(acquire, said)) {
        hl_acquire_ask(acquire);
        return;
    }
    if (said->result == HL_FAULT && (acquire->is_try || said->fault.kind != HL_FAULT_PASSING)) {
        hl_acquire_decide(acquire, said->fault.status);
        return;
    }
    if (acquire->is_try && said->result == HL_NO) {
        hl_acquire_decide(acquire, HILOCK_TIMED_OUT);
        return;
    }
    if (acquire->hold->ask == ASK_CONFIRM) {
        give_back_unconfirmed(acquire);
        return;
    }
    if (said->result == HL_NO)
        tell(acquire);
    sleep_or_ask(acquire, said);
}

void hl_acquire_answered(struct hl_acquire *acquire, const struct hl_response *said)
{
    if (!said) {
        hl_known_learn(acquire, said);
        hl_asking_begin(acquire->hold); /* same id: finds a grant whose answer was lost (R3) */
    } else if (said->result == HL_YES)
        on_granted(acquire);
    else
        on_refused(acquire, said);
}

/* After a pause it waits for its turn in line. */
void hl_acquire_resume(struct hl_acquire *acquire)
{
    if (acquire->hold->state == HOLD_IDLE && !HL_PLANTED(REPLICAS_STEPS_BACK_ASLEEP))
        acquire->state = ACQUIRE_IN_LINE;
    try_again(acquire);
}

static hilock_status status_at_end(struct hl_core *core, const struct hl_acquire *acquire)
{
    if (acquire->state == ACQUIRE_STARVED)
        return HILOCK_NO_MEMORY;
    if (acquire->hold && hl_hold_is_confirming(acquire->hold))
        return HILOCK_NOT_REPLICATED;
    return hl_known_status(core, acquire);
}

/* If it is GRANTED, and gives that back, the alarm is set again. */
void hl_acquire_on_alarm(struct hl_alarm *alarm)
{
    struct hl_acquire *acquire = (struct hl_acquire *)(void *)((char *)alarm - offsetof(struct hl_acquire, alarm));
    struct hl_core *core = core_of(acquire);
    uint64_t now_us = hl_now_us(&core->host);
    if (acquire->state == ACQUIRE_GRANTED)
        return;
    if (acquire->ends_us <= now_us && !HL_PLANTED(WAIT_NOT_ENDED)) {
        hl_acquire_decide(acquire, status_at_end(core, acquire));
        return;
    }
    if (report_us(acquire) <= now_us)
        hl_acquire_tell_waiting(core, acquire);
    sleep_on(acquire);
}

int hl_acquire_is_behind_others(const struct hl_acquire *acquire)
{
    const struct hl_queue_place *place = acquire->place;
    return acquire->state == ACQUIRE_SLEEPING && !acquire->lock->name->hold &&
           (!place || (place->ticket && !place->hands_over));
}

/* ---- its begin ---- */

/* 0: no memory. */
static int take_hold(struct hl_core *core, struct hl_acquire *acquire)
{
    acquire->hold = hl_hold_new(core, acquire->lock);
    if (!acquire->hold)
        return 0;
    acquire->hold->lock = acquire->lock;
    return 1;
}

/* With each attempt, even if it has a hold: an acquire that was handed a hold, and gave it back as too late, has no id
 * yet. */
static int take_place(struct hl_core *core, struct hl_acquire *acquire)
{
    int is_begun = acquire->hold && acquire->hold->id;
    return acquire->place || is_begun || !hl_place_is_wanted(acquire) || hl_place_take(core, acquire) == 0;
}

int hl_acquire_may_ask(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    if (take_place(core, acquire) && (acquire->hold || take_hold(core, acquire)))
        return 1;
    hl_gates_retry_soon(core);
    acquire->state = ACQUIRE_STARVED;
    return 0;
}

static struct hl_acquire *acquire_new(struct hl_core *core, struct hilock_lock *lock, int is_try, uint64_t limit_us)
{
    size_t size = sizeof(struct hl_acquire) + (lock->terms->kind->place_each ? sizeof(struct hl_queue_place) : 0);
    struct hl_acquire *acquire = hl_memory_new(&core->host.memory, size);
    if (!acquire)
        return NULL;
    acquire->notice.ops = core->acquire_notice;
    acquire->notice.epoch = lock->epoch;
    acquire->lock = lock;
    acquire->is_try = is_try != 0;
    acquire->begun_us = hl_now_us(&core->host);
    acquire->ends_us = limit_us == UINT64_MAX ? UINT64_MAX : acquire->begun_us + limit_us;
    acquire->report_ms = is_try ? UINT32_MAX : 0;
    if (lock->terms->kind->place_each) {
        acquire->place = (struct hl_queue_place *)(void *)(acquire + 1);
        acquire->place->acquire = acquire;
    }
    if (take_alarm(core, acquire))
        return acquire;
    hl_acquire_free(core, acquire);
    return NULL;
}

hilock_status hl_acquire_begin(struct hl_core *core, struct hilock_lock *lock, int is_try, uint64_t limit_us,
                               hilock_result_fn *on_result, void *user)
{
    struct hl_acquire *acquire = acquire_new(core, lock, is_try, limit_us);
    struct hl_gate *gate = acquire ? hl_gate_of(core, lock->name) : NULL;
    if (acquire && !gate)
        hl_acquire_free(core, acquire);
    if (!gate)
        return HILOCK_NO_MEMORY;
    acquire->on_result = on_result;
    acquire->user = user;
    lock->acquire = acquire;
    core->waiting += hl_terms_count(lock->terms);
    hl_terms_trace(lock->terms, HL_ACQUIRE_BEGUN, &(struct hl_fact){.lock = lock, .name = lock->name->bytes});
    hl_gate_join(gate, acquire);
    return HILOCK_OK;
}
