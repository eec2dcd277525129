/* SPDX-License-Identifier: BSD-3-Clause */
/* acquire - see acquire.h. It stays in line until the answer is handed over, so that going back to waiting (a grant
 * found too old at the last moment) needs no memory. */
#include "lock/acquire.h"

#include "base/contract.h"
#include "base/plant.h"
#include "lock/attempt.h"
#include "lock/ballot.h"
#include "lock/channel.h"
#include "lock/notice.h"
#include "lock/ending.h"
#include "lock/fair.h"
#include "lock/gate.h"
#include "lock/handoff.h"
#include "lock/hold.h"
#include "lock/known.h"
#include "lock/last_words.h"
#include "lock/lease.h"
#include "lock/multi.h"
#include "lock/replicas.h"
#include "lock/wait.h"
#include "lock/watchdog.h"

enum { DEAF_US = 50000 };

static struct hl_core *core_of(const struct hl_acquire *acquire) { return acquire->lock->terms->cell->core; }

/* ---- its end ---- */

void hl_acquire_free(struct hl_core *core, struct hl_acquire *acquire)
{
    hl_notice_cancel(core, &acquire->notice);
    hl_wait_stop(acquire);
    if (hl_fair_of(acquire))
        hl_fair_forget(core, hl_fair_of(acquire));
    if (acquire->state == ACQUIRE_DECIDED) {
        hl_memory_free(&core->host.memory, acquire->words.holder);
        hl_memory_free(&core->host.memory, acquire->words.detail);
    }
    hl_memory_free(&core->host.memory, acquire);
}

/* Granted, and nobody was told: the next in line has a use for it. Else the hold goes its own way, and whoever is next in line waits for the
 * first answer to what it may have left at the store. */
static void let_hold_go(struct hl_core *core, struct hl_acquire *acquire, struct hl_hold *hold)
{
    struct hl_acquire *next = hl_handoff_next(core, hold);
    if (acquire->state == ACQUIRE_GRANTED && !next)
        hl_trace(&core->host, HL_HOLD_UNDONE, &(struct hl_fact){.name = acquire->lock->name->bytes, .token = hl_hold_token(hold)});
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
    if (hl_fair_of(acquire))
        hl_fair_forget(core, hl_fair_of(acquire));
    if (acquire->hold)
        let_hold_go(core, acquire, acquire->hold);
    acquire->state = ACQUIRE_DECIDED;
    hl_wait_stop(acquire);
    if (acquire->stands)
        hl_gate_leave(acquire);
    acquire->words.holder = acquire->words.detail = NULL;
}

void hl_acquire_decide(struct hl_acquire *acquire, hilock_status status)
{
    struct hl_core *core = core_of(acquire);
    struct hl_last_words words = hl_last_words_of(core, acquire, status); /* while it stands in line the gate knows */
    let_go(acquire);
    acquire->words.holder = words.holder;
    acquire->words.detail = words.detail;
    acquire->verdict.status = status;
    acquire->verdict.holder_remaining_ms = words.holder_remaining_ms;
    hl_notice_post(core, &acquire->notice, REPORT_RESULT);
}

void hl_acquire_overrule(struct hl_acquire *acquire, hilock_status status)
{
    hl_memory_free(&core_of(acquire)->host.memory, acquire->words.detail);
    acquire->words.detail = NULL;
    acquire->verdict.status = status;
}

void hl_acquire_drop(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    struct hilock_lock *lock = acquire->lock;
    if (acquire->state != ACQUIRE_DECIDED)
        let_go(acquire);
    hl_trace(&core->host, HL_ACQUIRE_ENDED, &(struct hl_fact){.name = lock->name->bytes, .status = HILOCK_CANCELLED,
                                                              .waited_us = hl_now_us(&core->host) - acquire->begun_us, .count = acquire->attempts});
    hl_acquire_free(core, acquire);
    lock->acquire = NULL;
    core->waiting--;
}

struct hl_hold *hl_acquire_hand_over(struct hl_acquire *acquire)
{
    struct hl_hold *hold = acquire->hold;
    HL_REQUIRE(acquire->state == ACQUIRE_GRANTED); /* report.c: what is not DECIDED and has a result is */
    acquire->hold = NULL;
    hl_gate_leave(acquire);
    return hold;
}

/* Not from here: whoever calls may be walking the line. */
static void move_soon(struct hl_acquire *acquire)
{
    acquire->state = ACQUIRE_SLEEPING;
    acquire->is_moving = 1;
    hl_wait_resume_at(acquire, hl_now_us(&core_of(acquire)->host));
}

/* Too few can be asked: until one of them is back, or in a moment. */
static void await_masters(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    hl_known_learn(core, acquire, &(struct hl_asked){.answer = ASKED_UNANSWERED, .is_verdict = 1});
    acquire->state = ACQUIRE_SLEEPING;
    hl_wait_resume_at(acquire, hl_now_us(&core->host) + hl_known_sleep_us(core, acquire));
}

void hl_acquire_ask(struct hl_acquire *acquire)
{
    if (hl_multi_barred_at(acquire) >= 0) {
        move_soon(acquire);
        return;
    }
    if (hl_hold_is_quorum(acquire->hold) && !hl_ballot_can_begin(acquire->hold)) {
        await_masters(acquire);
        return;
    }
    if (hl_fair_of(acquire) && !acquire->hold->id)
        hl_fair_begin(core_of(acquire), hl_fair_of(acquire));
    acquire->state = ACQUIRE_ASKING;
    acquire->has_moved = 0;
    hl_wait_resume_at(acquire, hl_hold_is_quorum(acquire->hold) ? hl_ballot_ends_us(acquire) : UINT64_MAX);
    hl_attempt_begin(acquire->hold);
}

static int is_too_late(const struct hl_acquire *acquire)
{
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(acquire->hold), hl_now_us(&core_of(acquire)->host));
    return left_us < hl_wait_least_us(acquire);
}

static uint64_t next_report_us(const struct hl_acquire *acquire)
{
    uint32_t report_ms = acquire->lock->terms->wait_report_ms;
    return report_ms && !acquire->is_untold ? hl_now_us(&core_of(acquire)->host) + (uint64_t)report_ms * 1000 : UINT64_MAX;
}

/* What this attempt got, or may have got, goes back. An attempt of several parts leaves it to a hold that ends alone, so that one silent
 * part does not keep the next attempt waiting; for lack of memory, and with one part, the attempt waits until all has been returned. */
static void begin_anew(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    int is_alone = acquire->hold->parts_count > 1 && core->unheld < core->limits.waiters_max;
    struct hl_hold *hold = acquire->hold, *fresh = is_alone ? hl_hold_new(core, acquire->lock) : NULL;
    if (!fresh) {
        hl_ending_return(hold);
        return;
    }
    fresh->owner.acquire = acquire;
    acquire->hold = fresh;
    hl_wait_resume_at(acquire, UINT64_MAX); /* its end and its report are the new one's to tell of */
    hold->is_attempt = hl_hold_is_quorum(hold) != 0;
    hl_ending_give_up(hold);
}

static void give_back(struct hl_acquire *acquire)
{
    hl_trace(&core_of(acquire)->host, HL_HOLD_UNDONE,
             &(struct hl_fact){.name = acquire->lock->name->bytes, .token = hl_hold_token(acquire->hold)});
    acquire->state = ACQUIRE_IN_LINE;
    hl_multi_late(acquire);
    hl_wait_resume_at(acquire, UINT64_MAX); /* before it may begin anew at once, which may set another time */
    begin_anew(acquire);
}

static void on_granted(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    struct hl_fair *fair = hl_fair_of(acquire);
    if (is_too_late(acquire) || hl_multi_is_adrift(acquire)) {
        if (!fair || !hl_fair_confirms(fair))
            give_back(acquire);
        return;
    }
    acquire->state = ACQUIRE_GRANTED;
    hl_watchdog_keep(acquire->hold);
    for (unsigned i = 0; i < acquire->hold->parts_count; i++)
        hl_gate_deny_tries(acquire->hold->parts[i].name);
    hl_notice_post(core, &acquire->notice, REPORT_RESULT);
}

void hl_acquire_regain(struct hl_acquire *acquire)
{
    struct hl_fair *fair = hl_fair_of(acquire);
    hl_notice_withdraw(core_of(acquire), &acquire->notice, REPORT_RESULT);
    if (!fair || !hl_fair_confirms(fair))
        give_back(acquire);
}

/* A kind with a queue asks by itself, of the others the first in line. */
static void try_again(struct hl_acquire *acquire)
{
    if (hl_fair_of(acquire))
        hl_acquire_ask(acquire);
    else
        hl_gate_wake_for(acquire);
}

void hl_acquire_returned(struct hl_acquire *acquire)
{
    if (acquire->state == ACQUIRE_SLEEPING) /* refused, and for lack of memory it could not listen meanwhile */
        hl_wait_resume_at(acquire, hl_now_us(&core_of(acquire)->host) + DEAF_US);
    else
        try_again(acquire);
}

void hl_acquire_tell_waiting(struct hl_core *core, struct hl_acquire *acquire)
{
    const struct hl_terms *terms = acquire->lock->terms;
    acquire->is_untold = 0;
    hl_trace(&core->host, HL_ACQUIRE_WAITS, &(struct hl_fact){.name = hl_wait_name(acquire)->bytes});
    acquire->report_us = next_report_us(acquire);
    if (terms->on_event)
        hl_notice_post(core, &acquire->notice, REPORT_WAITING);
    if (terms->wait_report_ms)
        hl_wait_sleep_on(acquire);
}

/* R7: what the store said is older than news that came after the question left; then the question is put again before sleeping. */
static void sleep_or_ask(struct hl_acquire *acquire, const struct hl_asked *asked)
{
    struct hl_core *core = core_of(acquire);
    if (asked->answer == ASKED_HELD && !hl_channel_may_sleep(acquire, asked->asked_us)) {
        acquire->state = ACQUIRE_IN_LINE;
        hl_wait_resume_at(acquire, UINT64_MAX);
        hl_gate_wake(hl_wait_name(acquire));
        return;
    }
    if (asked->is_split) { /* nobody has it who could tell that it is free again */
        acquire->state = ACQUIRE_SLEEPING;
        hl_wait_resume_at(acquire, hl_gate_yields_until_us(hl_wait_name(acquire)));
        return;
    }
    if (asked->is_early) { /* the next time all are asked, unless a message comes first */
        acquire->state = ACQUIRE_SLEEPING;
        acquire->halvings = 0;
        hl_wait_resume_at(acquire, hl_now_us(&core->host) + hl_gate_pause_us(core, acquire));
        return;
    }
    acquire->state = hl_gate_is_head(acquire) ? ACQUIRE_SLEEPING : ACQUIRE_IN_LINE;
    hl_wait_resume_at(acquire, acquire->state == ACQUIRE_SLEEPING ? hl_now_us(&core->host) + hl_known_sleep_us(core, acquire) : UINT64_MAX);
}

/* Nothing is kept while something is waited for, but by a multi that lost often. What several parts got for a moment others may have asked
 * for in vain, and the other way round: a random pause lets one of them win. */
static void return_all(struct hl_acquire *acquire, int is_split)
{
    int had_some = acquire->hold->parts_count > 1 && hl_hold_count(acquire->hold, PART_OURS);
    if (acquire->lock->terms->multi && (had_some || hl_hold_asking(acquire->hold)))
        hl_multi_refused(acquire);
    if (hl_multi_keeps(acquire))
        return;
    if (is_split)
        acquire->halvings = 1;
    if (is_split || had_some)
        hl_gate_yield(core_of(acquire), acquire);
    if (acquire->hold->parts_count > 1 && !hl_hold_is_blank(acquire->hold))
        begin_anew(acquire);
}

/* It stands in a queue at the store, whatever becomes of those beside it here. */
static void stay_in_queue(struct hl_acquire *acquire, struct hl_fair *fair, const struct hl_asked *asked)
{
    struct hl_core *core = core_of(acquire);
    int is_placed = asked->answer == ASKED_HELD;
    if (is_placed && acquire->is_untold)
        hl_acquire_tell_waiting(core, acquire);
    if (is_placed && !hl_fair_may_sleep(fair)) {
        hl_acquire_ask(acquire);
        return;
    }
    acquire->state = ACQUIRE_SLEEPING;
    hl_wait_resume_at(acquire, hl_now_us(&core->host) + (is_placed ? hl_fair_sleep_us(core, fair, asked) : hl_known_sleep_us(core, acquire)));
}

/* Too few replicas have it. In a moment it is asked for under a new id; those behind it in line, who may ask for less, come first. */
static void give_back_unconfirmed(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    acquire->state = ACQUIRE_SLEEPING;
    acquire->is_unconfirmed = 1;
    hl_gate_step_back(acquire);
    if (acquire->hold->parts_count > 1)
        hl_gate_yield(core, acquire);
    if (!HL_PLANTED(REPLICAS_KEPT))
        begin_anew(acquire);
    hl_wait_resume_at(acquire, acquire->hold->state == HOLD_RETURNING ? UINT64_MAX : hl_now_us(&core->host) + hl_known_sleep_us(core, acquire));
}

static void on_refused(struct hl_acquire *acquire, const struct hl_asked *asked)
{
    struct hl_core *core = core_of(acquire);
    struct hl_fair *fair = hl_fair_of(acquire);
    int has_moved = hl_gate_move(core, acquire, asked->at);
    if (has_moved)
        hl_known_learn(core, acquire, asked);
    if (fair && asked->answer == ASKED_HELD)
        hl_fair_placed(fair, asked);
    if (asked->answer == ASKED_FAULT && (acquire->is_try || asked->fault.kind != HL_FAULT_PASSING)) {
        hl_acquire_decide(acquire, asked->fault.status);
        return;
    }
    if (acquire->is_try && asked->answer == ASKED_HELD) {
        hl_acquire_decide(acquire, HILOCK_TIMED_OUT);
        return;
    }
    if (asked->is_granted) {
        give_back_unconfirmed(acquire);
        return;
    }
    if (fair) {
        stay_in_queue(acquire, fair, asked);
        return;
    }
    return_all(acquire, asked->is_split);
    if (asked->answer == ASKED_HELD && has_moved)
        hl_gate_tell_waiting(core, hl_wait_name(acquire));
    sleep_or_ask(acquire, asked);
}

void hl_acquire_answered(struct hl_acquire *acquire, const struct hl_asked *asked)
{
    switch (asked->answer) {
    case ASKED_GRANTED: on_granted(acquire); break;
    case ASKED_UNANSWERED:
        if (asked->is_verdict) {
            on_refused(acquire, asked);
            break;
        }
        hl_known_learn(core_of(acquire), acquire, asked);
        hl_attempt_begin(acquire->hold); /* same id: what may have been granted is adopted (R3) */
        break;
    case ASKED_HELD:
    case ASKED_FAULT: on_refused(acquire, asked); break;
    }
}

/* To the line of a name that it may not ask for, if that is still so. */
static void move(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    int at = hl_multi_barred_at(acquire);
    acquire->is_moving = 0;
    if (at < 0)
        hl_gate_wake(hl_wait_name(acquire));
    else if (!hl_gate_move(core, acquire, (unsigned)at))
        hl_wait_resume_at(acquire, hl_now_us(&core->host) + hl_known_sleep_us(core, acquire));
    else if (acquire->is_try && hl_known_is_held(hl_wait_name(acquire)))
        hl_acquire_decide(acquire, HILOCK_TIMED_OUT);
    else {
        acquire->state = ACQUIRE_IN_LINE;
        acquire->has_moved = 1;
        if (hl_known_is_held(hl_wait_name(acquire)))
            hl_gate_tell_waiting(core, hl_wait_name(acquire));
    }
}

/* It stepped back: its turn comes with its place in line. */
static int is_behind(const struct hl_acquire *acquire)
{
    return acquire->stands == STANDS_IN_LINE && !hl_gate_is_head(acquire) && !HL_PLANTED(REPLICAS_STEPS_BACK_ASLEEP);
}

/* It has waited for the next name for as long as it may with what it has. */
static void give_back_kept(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    begin_anew(acquire);
    if (acquire->hold->state != HOLD_RETURNING && acquire->state == ACQUIRE_SLEEPING)
        hl_wait_resume_at(acquire, hl_now_us(&core->host) + hl_known_sleep_us(core, acquire));
}

static void close_ballot(struct hl_acquire *acquire)
{
    struct hl_asked verdict = hl_ballot_close(acquire->hold);
    hl_acquire_answered(acquire, &verdict);
}

static void resume(struct hl_acquire *acquire)
{
    acquire->hold->resume_us = UINT64_MAX;
    if (acquire->hold->state == HOLD_RETURNING)
        hl_ending_retry(acquire->hold);
    else if (acquire->is_moving)
        move(acquire);
    else if (acquire->state != ACQUIRE_ASKING && hl_wait_keeps_until_us(acquire) <= hl_now_us(&core_of(acquire)->host))
        give_back_kept(acquire);
    else if (acquire->state == ACQUIRE_ASKING && hl_hold_is_quorum(acquire->hold))
        close_ballot(acquire);
    else {
        if (acquire->state == ACQUIRE_SLEEPING && (acquire->is_try || is_behind(acquire)))
            acquire->state = ACQUIRE_IN_LINE;
        try_again(acquire);
    }
}

/* One alarm for all it waits for: what is not due yet stays. */
void hl_acquire_tick(struct hl_acquire *acquire)
{
    struct hl_core *core = core_of(acquire);
    uint64_t now_us = hl_now_us(&core->host);
    if (acquire->ends_us <= now_us && !HL_PLANTED(WAIT_NOT_ENDED)) {
        hl_acquire_decide(acquire, acquire->is_starved ? HILOCK_NO_MEMORY : hl_replicas_are_asked(acquire->hold) ? HILOCK_NOT_REPLICATED : hl_known_of(core, acquire).status);
        return;
    }
    if (acquire->report_us <= now_us)
        hl_acquire_tell_waiting(core, acquire);
    if (acquire->hold && acquire->hold->resume_us <= now_us)
        resume(acquire);
    if (acquire->state != ACQUIRE_DECIDED && acquire->state != ACQUIRE_GRANTED)
        hl_wait_sleep_on(acquire);
}
