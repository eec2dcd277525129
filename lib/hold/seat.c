/* SPDX-License-Identifier: BSD-3-Clause */
/* seat - see seat.h. */
#include "hold/seat.h"

#include "base/container.h"
#include "core/words.h"

static void report(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_seat *seat = HL_CONTAINER(notice, struct hl_seat, receipt.notice);
    struct hl_quoted name = hl_name_quoted(seat->receipt.lock->name);
    int is_loss = seat->answer == SEAT_ANSWERS_LOST;
    struct hl_text detail;
    if (is_loss)
        hl_words_release_lost(&detail, name.bytes);
    else
        hl_words_share_left(&detail, name.bytes);
    hl_call_answer(core, &seat->receipt,
                       (struct hilock_result){.status = is_loss ? HILOCK_LOST : HILOCK_OK,
                                              .operation = HILOCK_OP_RELEASE, .detail = detail.bytes});
}

static void forget(struct hl_core *core, struct hl_notice *notice)
{
    hl_call_free(core, HL_CONTAINER(notice, struct hl_call, notice));
}

/* Returns 0 if the handle has a seat now. untold: what a new seat was not told yet. */
static int make(struct hl_core *core, struct hilock_lock *lock, uint64_t since_us, unsigned untold)
{
    static const struct hl_notice_ops ops = {report, forget};
    struct hl_extras *extras = hl_lock_extras(lock);
    struct hl_seat *seat = extras ? extras->seat : NULL;
    if (seat || !extras)
        return seat ? 0 : -1;
    seat = extras->seat = hl_call_new(core, sizeof *seat, &ops, NULL, lock, NULL, NULL);
    if (!seat)
        return -1;
    seat->since_us = since_us;
    seat->untold = (uint8_t)untold;
    return 0;
}

int hl_seat_take(struct hl_hold *hold, struct hilock_lock *lock)
{
    struct hl_core *core = hl_hold_core(hold);
    if (make(core, hl_hold_handle(hold), hold->since_us, hold->notice.pending) != 0 ||
        make(core, lock, hl_now_us(&core->host), 0) != 0)
        return -1;
    hl_hold_join(hold, lock);
    return 0;
}

void hl_seat_free(struct hl_core *core, struct hilock_lock *lock)
{
    struct hl_seat *seat = hl_seat_of(lock);
    lock->extras->seat = NULL;
    hl_call_free(core, &seat->receipt);
}

enum hl_seat_answer hl_seat_answer(struct hl_hold *hold, struct hilock_lock *lock, hilock_result_fn *on_result,
                                   void *user)
{
    struct hl_core *core = hl_hold_core(hold);
    struct hl_seat *seat = hl_seat_of(lock);
    int is_held = hl_hold_is_held(hold);
    if (!hl_hold_has_others(hold, lock) && !(is_held && hl_seat_is_lost(lock)))
        return SEAT_ANSWERS_NOT;
    enum hl_seat_answer answer = is_held && !hl_seat_is_lost(lock) ? SEAT_ANSWERS_OK : SEAT_ANSWERS_LOST;
    if (answer == SEAT_ANSWERS_LOST)
        hl_terms_trace(hold->terms, HL_RELEASE_ANSWERED,
                       &(struct hl_fact){.name = hold->name->bytes, .status = HILOCK_LOST});
    if (!on_result)
        return answer;
    lock->extras->seat = NULL;
    seat->answer = (uint8_t)answer;
    seat->receipt.on_result = on_result;
    seat->receipt.user = user;
    seat->receipt.begun_us = hl_now_us(&core->host);
    seat->receipt.notice.epoch = lock->epoch;
    hl_notice_post(core, &seat->receipt.notice, 1);
    return answer;
}

/* ---- reports ---- */

void hl_seats_post(struct hl_hold *hold, unsigned bit)
{
    const struct hilock_lock *lock;
    TAILQ_FOREACH(lock, &hold->handles, by_hold)
        if (lock->hold == hold && hl_seat_of(lock))
            hl_seat_of(lock)->untold |= (uint8_t)bit;
    hl_notice_post(hl_hold_core(hold), &hold->notice, bit);
}

/* Returns the first one from this handle on; NULL: there is none. */
static struct hilock_lock *untold_from(struct hilock_lock *lock, unsigned bit)
{
    while (lock && hl_seat_of(lock) && !(hl_seat_of(lock)->untold & bit))
        lock = TAILQ_NEXT(lock, by_hold);
    return lock;
}

struct hilock_lock *hl_seats_next_untold(struct hl_hold *hold, unsigned bit)
{
    struct hilock_lock *lock = untold_from(hl_hold_handle(hold), bit);
    struct hilock_lock *next = lock ? untold_from(TAILQ_NEXT(lock, by_hold), bit) : NULL;
    if (lock && hl_seat_of(lock))
        hl_seat_of(lock)->untold &= (uint8_t)~bit;
    if (next)
        hl_notice_post(hl_hold_core(hold), &hold->notice, bit);
    return lock;
}

/* ---- the end of a tenure among others ---- */

int hl_seats_are_over(const struct hl_hold *hold, uint64_t now_us)
{
    return hl_hold_ends_at_us(hold, TAILQ_LAST(&hold->handles, hl_hold_handles)) <= now_us;
}

static void trace_loss(const struct hl_hold *hold, const struct hilock_lock *lock)
{
    struct hl_core *core = hl_hold_core(hold);
    struct hl_text detail;
    hl_hold_loss_words(core, hold, &detail);
    hl_terms_trace(hold->terms, HL_HOLD_LOST,
                   &(struct hl_fact){.lock = lock, .name = hold->name->bytes,
                                     .reason = (hilock_lost_reason)hold->reason, .detail = detail.bytes,
                                     .token = hl_hold_token(hold),
                                     .waited_us = hl_now_us(&core->host) - hl_seat_since_us(hold, lock)});
}

void hl_seats_trace_loss(const struct hl_hold *hold)
{
    const struct hilock_lock *lock;
    TAILQ_FOREACH(lock, &hold->handles, by_hold)
        if (!hl_seat_is_lost(lock))
            trace_loss(hold, lock);
}

/* A handle whose grant was not reported in all that time tries again. */
void hl_seats_lose_some(struct hl_hold *hold, uint64_t now_us)
{
    const struct hilock_lock *lock;
    int is_unreported = 0;
    hold->reason = HILOCK_REASON_HOLD_MAX;
    TAILQ_FOREACH(lock, &hold->handles, by_hold) {
        if (hl_seat_is_lost(lock) || hl_hold_ends_at_us(hold, lock) > now_us)
            continue;
        is_unreported |= lock->hold != hold;
        if (lock->hold != hold)
            continue;
        hl_seat_of(lock)->untold |= TENURE_LOST;
        trace_loss(hold, lock);
    }
    hl_notice_post_loss(hl_hold_core(hold), &hold->notice, TENURE_LOST);
    if (is_unreported)
        hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_UNREPORTED});
}
