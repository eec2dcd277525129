/* SPDX-License-Identifier: BSD-3-Clause */
/* turn - see turn.h. The handle's state changes only by its user's calls and as its callbacks start. */
#include "lock/turn.h"

#include "base/plant.h"
#include "core/lease.h"
#include "core/notice.h"
#include "hold/ending.h"
#include "hold/extend.h"
#include "hold/hold.h"
#include "hold/validity.h"
#include "hold/watchdog.h"
#include "lock/acquire.h"
#include "lock/handoff.h"
#include "lock/reentry.h"
#include "wait/gate.h"
#include "wait/next.h"

void hl_turn_begin(struct hl_core *core, struct hilock_lock *lock, struct hl_hold *hold)
{
    lock->hold = hold;
    core->held += hl_terms_count(lock->terms);
}

/* From here on only we and the store know the hold; the handle may acquire again at once. Pending calls on the hold are
 * answered with its end. */
static void end(struct hl_core *core, struct hl_hold *hold, int is_loss)
{
    struct hilock_lock *lock = hold->lock;
    hl_extend_end(core, lock, is_loss);
    hl_reentry_end(core, lock);
    if (!HL_PLANTED(HANDOFF_OLD_ALIVE))
        hl_validity_end(lock);
    lock->hold = NULL;
    hold->lock = NULL;
    core->held -= hl_terms_count(lock->terms);
}

static void trace_released(const struct hilock_lock *lock, const struct hl_hold *hold, uint64_t now_us)
{
    hl_terms_trace(lock->terms, HL_HOLD_RELEASED,
                   &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .token = hl_hold_token(hold),
                                     .waited_us = now_us - hold->since_us});
}

static void ask_of(struct hl_hold *hold, struct hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    hold->notice.epoch = lock->epoch;
    hold->on_result = on_result;
    hold->user = user;
    if (!on_result)
        return;
    hold->lock = lock;
    lock->refs++;
}

static void hand_on(struct hl_core *core, struct hl_hold *hold, struct hl_acquire *next, struct hl_call *receipt)
{
    if (HL_PLANTED(HANDOFF_AFTER_RELEASE))
        hl_ending_of(core, next->lock, hold->id, END_QUIET);
    if (receipt)
        hl_notice_post(core, &receipt->notice, 1);
    hl_handoff(core, hold, next);
}

static void give_back(struct hl_core *core, struct hilock_lock *lock, struct hl_hold *hold, uint64_t now_us,
                      hilock_result_fn *on_result, void *user)
{
    int was_lost = hold->state == HOLD_ENDING;
    hold->end = END_RELEASED;
    ask_of(hold, lock, on_result, user);
    hl_notice_cancel(core, &hold->notice);
    if (was_lost) { /* in the turn in which its loss was due: the release reports the loss, once */
        hl_ending_answer(hold, HILOCK_LOST);
        hl_ending_go_on(hold);
        return;
    }
    hl_next_take(core, hold);
    hl_ending_begin(hold, now_us);
}

void hl_turn_release(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    struct hl_hold *hold = lock->hold;
    struct hl_acquire *next = hl_handoff_next(core, hold);
    struct hl_call *receipt = next && on_result ? hl_handoff_receipt(core, lock, on_result, user) : NULL;
    uint64_t now_us = hl_now_us(&core->host);
    end(core, hold, 0);
    if (hold->state == HOLD_HELD)
        trace_released(lock, hold, now_us);
    if (next && (receipt || !on_result))
        hand_on(core, hold, next, receipt);
    else
        give_back(core, lock, hold, now_us, on_result, user);
}

void hl_turn_lost(struct hl_core *core, struct hl_hold *hold) { end(core, hold, 1); }

void hl_turn_silence(struct hl_core *core, struct hilock_lock *lock)
{
    lock->epoch++;
    if (lock->acquire)
        hl_acquire_drop(lock->acquire);
    if (lock->hold)
        hl_turn_release(core, lock, NULL, NULL);
}

void hl_turn_retune(struct hl_hold *hold, struct hl_terms *terms, uint64_t since_us)
{
    struct hl_terms *from = hold->terms;
    terms->refs++;
    hold->terms = terms;
    hl_terms_unref(from);
    hold->since_us = since_us;
    hl_watchdog_go_on(hold);
}
