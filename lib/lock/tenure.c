/* SPDX-License-Identifier: BSD-3-Clause */
/* tenure - see tenure.h. The state of a handle changes only in the calls of its user and when its callbacks start. */
#include "lock/tenure.h"

#include "base/container.h"
#include "base/plant.h"
#include "core/lease.h"
#include "core/words.h"
#include "hold/ending.h"
#include "hold/seat.h"
#include "hold/validity.h"
#include "hold/watchdog.h"
#include "lock/grant_channel.h"
#include "lock/line.h"
#include "lock/place.h"
#include "lock/reentry.h"

/* Returns 1 if the hold is certainly at the server that answers for the name now. A server that took over, or that may
 * take over while this one is away, may lack the hold and grant the name to another. The next renewal shows whether it
 * does; until then no new tenure begins. */
static int is_known_to_server(struct hl_core *core, const struct hl_hold *hold)
{
    const struct hl_node *node = hl_name_node(core, hold->name);
    return (node->is_up || !core->route->ops->can_forget) && node->moved_at_us < hold->held.granted_at_us;
}

/* Returns 1 if a handle with these terms can get the hold:
 *  - The handle has a watchdog: without one it would need a whole lease.
 *  - The handle needs no more replicas than confirmed the grant: renewals are not confirmed.
 *  - The handle has the lease that the hold has. If it wants a shorter one: handing on does not shorten a lease, so
 *    after a crash others would wait for longer than the user of this handle chose. If it wants a longer one: that
 *    would cost a command, and for one command the hold can as well be released, with the acquire of this handle in it.
 *  - Enough of the lease is left. */
static int fits(const struct hl_hold *hold, const struct hl_terms *to, uint64_t now_us)
{
    const struct hl_terms *terms = hold->terms;
    if (to->kind != terms->kind || to->lease_ms != terms->lease_ms || to->replicas > terms->replicas || !to->is_renewed)
        return 0;
    uint64_t own_us = now_us + hl_terms_lease_us(to) + hl_lease_drift_us(hl_terms_lease_us(to));
    int is_its_lease = hold->held.extended_until_us <= own_us;
    int is_enough = hl_hold_lasts_for(hold, to, now_us) || HL_PLANTED(HANDOFF_BLIND);
    return is_its_lease && is_enough;
}

/* Only the first handle in line can get the next tenure: a handle that does not fit is not skipped. If another program
 * used the name lately, there is no next tenure: such a program can get the name only when the hold is released. */
struct hl_acquire *hl_tenure_next(struct hl_core *core, const struct hl_hold *hold)
{
    struct hl_acquire *next = hl_hold_is_held(hold) ? hl_line_next(hold->name) : NULL;
    if (!next)
        return NULL;
    uint64_t now_us = hl_now_us(&core->host);
    unsigned turns_max = hl_line_had_other_program_lately(hold->name) ? 0 : hl_hold_reserved(hold);
    int is_within = hold->served < turns_max && now_us - hold->held.granted_at_us < hl_terms_lease_us(hold->terms) / 3;
    return is_within && fits(hold, next->lock->terms, now_us) && is_known_to_server(core, hold) ? next : NULL;
}

void hl_tenure_change_terms(struct hl_hold *hold, struct hl_terms *terms, uint64_t since_us)
{
    terms->refs++;
    hl_terms_unref(hold->terms);
    hold->terms = terms;
    hold->since_us = since_us;
    hl_watchdog_on_new_tenure(hold);
}

/* If the next acquire has an unused hold of its own, that hold is freed. Reports that are pending for the former handle
 * are not made. */
void hl_tenure_hand_on(struct hl_core *core, struct hl_hold *hold, struct hl_acquire *next)
{
    uint64_t now_us = hl_now_us(&core->host);
    hl_notice_cancel(core, &hold->notice);
    hl_place_hide(next->place);
    if (next->hold) {
        (void)hl_hold_leave(next->hold, next->lock);
        hl_hold_free(next->hold);
    }
    hl_hold_join(hold, next->lock);
    hold->served++;
    next->hold = hold;
    hl_acquire_enter(next, ACQUIRE_GRANTED);
    hl_trace(&core->host, HL_HOLD_HANDED_ON,
             &(struct hl_fact){.lock = next->lock, .name = hold->name->bytes, .count = hold->served,
                               .token = hl_hold_token(hold), .waited_us = now_us - hold->held.granted_at_us});
    hl_tenure_change_terms(hold, next->lock->terms, now_us);
    hl_notice_post(core, &next->notice, REPORT_RESULT);
}

/* The release of this hold can carry the acquire of the handle at the head of the line (hold/asking.h). Returns the
 * hold of that handle; NULL: the release carries nothing. A release does not carry an acquire if replicas have to
 * confirm the grant, because such requests use another link. It carries no acquire of a member of a quorum either,
 * because the group decides when each master gets its request; and none of a multi's member that has to bring the
 * ticket of the multi. */
static struct hl_hold *next_to_carry(struct hl_core *core, const struct hl_hold *hold)
{
    struct hl_acquire *acquire = hl_line_next(hold->name);
    const struct hilock_lock *lock = acquire ? acquire->lock : NULL;
    if (!lock || lock->terms->kind != hold->terms->kind || lock->terms->replicas || hl_lock_is_voted(lock) ||
        (lock->attempt && lock->attempt->ticket))
        return NULL;
    if (!hl_acquire_prepare(acquire) || !acquire->place)
        return NULL;
    hl_place_begin(core, acquire->place);
    hl_acquire_enter(acquire, ACQUIRE_ASKING);
    return acquire->hold;
}

static void report_receipt(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_call *receipt = HL_CONTAINER(notice, struct hl_call, notice);
    struct hl_text detail;
    hl_words_handed_on(&detail, hl_name_quoted(receipt->lock->name).bytes);
    hl_call_answer(core, receipt,
                       (struct hilock_result){.status = HILOCK_OK, .operation = HILOCK_OP_RELEASE,
                                              .detail = detail.bytes});
}

static void forget_receipt(struct hl_core *core, struct hl_notice *notice)
{
    hl_call_free(core, HL_CONTAINER(notice, struct hl_call, notice));
}

/* Ends the tenure: the hold no longer belongs to the handle, which may acquire again at once. Pending extends and
 * re-entries are answered, because the hold has ended for them. Returns 1 if the hold has no handle left. */
static int end(struct hl_core *core, struct hilock_lock *lock, int is_loss)
{
    struct hl_hold *hold = lock->hold;
    if (lock->extras) {
        hl_watchdog_end_extends(core, lock, is_loss);
        hl_reentry_end(core, lock);
        hl_validity_end(lock);
    }
    lock->hold = NULL;
    core->held -= hl_terms_count(lock->terms);
    return hl_hold_leave(hold, lock);
}

hilock_status hl_tenure_release(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    static const struct hl_notice_ops ops = {report_receipt, forget_receipt};
    struct hl_hold *hold = lock->hold;
    if (!hold)
        return HILOCK_NOT_HELD;
    struct hl_acquire *next = hl_tenure_next(core, hold);
    struct hl_call *receipt =
        next && on_result ? hl_call_new(core, sizeof *receipt, &ops, NULL, lock, on_result, user) : NULL;
    uint64_t held_us = hl_now_us(&core->host) - hl_seat_since_us(hold, lock);
    enum hl_seat_answer answer = hl_seat_of(lock) ? hl_seat_answer(hold, lock, on_result, user) : SEAT_ANSWERS_NOT;
    int is_last = end(core, lock, 0);
    if (hl_hold_is_held(hold) && answer != SEAT_ANSWERS_LOST)
        hl_terms_trace(lock->terms, HL_HOLD_RELEASED,
                       &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .token = hl_hold_token(hold),
                                         .waited_us = held_us});
    if (answer != SEAT_ANSWERS_NOT && is_last)
        hl_ending_begin(hold, &(struct hl_withdrawal){.end = END_BY_CLIENT});
    else if (answer == SEAT_ANSWERS_NOT && next && (receipt || !on_result)) {
        if (receipt)
            hl_notice_post(core, &receipt->notice, 1);
        hl_tenure_hand_on(core, hold, next);
    } else if (answer == SEAT_ANSWERS_NOT) {
        hold->notice.epoch = lock->epoch;
        lock->refs += on_result != NULL;
        hl_notice_cancel(core, &hold->notice);
        hl_ending_begin(hold, &(struct hl_withdrawal){
            .end = END_RELEASED, .caller = {on_result ? lock : NULL, on_result, user},
            .carried = hl_hold_is_held(hold) ? next_to_carry(core, hold) : NULL});
    }
    return HILOCK_OK;
}

static void report_lost(struct hl_core *core, struct hl_hold *hold)
{
    int is_held = hl_hold_is_held(hold); /* then the time of some of its handles is over, and others may go on */
    struct hilock_lock *lock = is_held ? hl_seats_next_untold(hold, TENURE_LOST) : hl_hold_handle(hold);
    struct hl_text detail;
    struct hilock_event event =
        {.kind = HILOCK_EVENT_LOST, .reason = (hilock_lost_reason)hold->reason, .fencing_token = hl_hold_token(hold),
         .detail = detail.bytes};
    if (!lock) { /* whoever was to be told has released the hold meanwhile */
        if (!is_held)
            hl_ending_go_on(hold); /* its release waited for this report */
        return;
    }
    /* A loss is reported once: if there is an extend, by the answer to that extend. A group must handle the loss of its
     * member before it answers its own extends. So the extends of a member are answered later, with the other news. */
    int is_member = hl_terms_are_internal(lock->terms);
    struct hl_extend *extend = lock->extras && !is_member ? TAILQ_FIRST(&lock->extras->extends) : NULL;
    hl_hold_loss_words(core, hold, &detail);
    int is_last = end(core, lock, !is_member);
    if (!is_last)
        hl_notice_post_loss(core, &hold->notice, TENURE_LOST);
    else if (is_held)
        hl_ending_begin(hold, &(struct hl_withdrawal){.end = END_BY_CLIENT});
    else
        hl_ending_go_on(hold); /* the release is sent with the flush after this delivery */
    if (extend)
        hl_watchdog_report_extend(core, extend, detail.bytes);
    else
        hl_notice_give_event(core, lock, lock->terms->on_lost, &event);
}

static void report_renewals(struct hl_core *core, struct hl_hold *hold, unsigned bit)
{
    struct hilock_lock *lock = hl_seats_next_untold(hold, bit);
    uint64_t now_us = hl_now_us(&core->host);
    if (!lock) /* it has released the hold meanwhile */
        return;
    struct hl_text detail;
    struct hilock_event event =
        {.kind = bit == TENURE_RENEWED ? HILOCK_EVENT_RENEWED : HILOCK_EVENT_RENEWAL_FAILED, .detail = detail.bytes,
         .fencing_token = hl_hold_token(hold),
         .remaining_ms = hl_lease_span_ms(hl_left_us(hl_hold_ends_at_us(hold, lock), now_us))};
    if (bit == TENURE_RENEWED)
        hl_words_renewed(&detail, hl_name_quoted(lock->name).bytes);
    else
        hl_words_renewals_failed(&detail, hl_name_quoted(lock->name).bytes, hold->failures,
                                 hl_lease_span_ms(hl_left_us(hl_hold_deadline_us(hold), now_us)),
                                 hl_lease_span_ms(hl_left_us(hold->due_at_us, now_us)));
    hl_notice_give_event(core, lock, lock->terms->on_event, &event);
}

/* Reports the answer to a release, or later what became of a release that was answered UNKNOWN. The release has a
 * callback, so the hold has a reference to its handle. hl_ending_free_if_done may free the hold. */
static void report_release(struct hl_core *core, struct hl_hold *hold, unsigned bit)
{
    const struct hl_caller caller = hold->ending.caller;
    struct hilock_lock *lock = caller.lock;
    int is_off = hl_notice_is_silenced(lock, &hold->notice);
    struct hl_text detail;
    struct hilock_event event =
        {.kind = HILOCK_EVENT_RELEASE_SETTLED, .fencing_token = hl_hold_token(hold), .detail = detail.bytes,
         .waited_ms = hl_lease_span_ms(core->notices.checked_at_us - hold->since_us)};
    struct hilock_result result =
        {.operation = HILOCK_OP_RELEASE, .attempts = 1, .detail = detail.bytes, .waited_ms = event.waited_ms,
         .status = hold->end == END_ANSWERED_OK ? HILOCK_OK
                   : hold->end == END_ANSWERED_LOST ? HILOCK_LOST : HILOCK_UNKNOWN};
    if (bit == TENURE_SETTLED)
        hl_hold_settling_words(hold, event.waited_ms, &detail);
    else if (result.status == HILOCK_OK)
        result.detail = hilock_status_text(HILOCK_OK);
    else if (result.status == HILOCK_LOST)
        hl_words_release_lost(&detail, hl_name_quoted(lock->name).bytes);
    else
        hl_words_release_unknown(&detail, hl_name_quoted(lock->name).bytes);
    lock->refs++;
    hl_ending_free_if_done(hold);
    if (bit == TENURE_SETTLED && !is_off)
        hl_notice_give_event(core, lock, lock->terms->on_event, &event);
    else if (!is_off)
        hl_notice_give_result(lock, caller.on_result, result, caller.user);
    hl_lock_unref(lock);
}

static void report(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_hold *hold = HL_CONTAINER(notice, struct hl_hold, notice);
    unsigned bit = hl_notice_take(core, &hold->notice);
    if (bit == TENURE_LOST)
        report_lost(core, hold);
    else if (bit == TENURE_RELEASED || bit == TENURE_SETTLED)
        report_release(core, hold, bit);
    else
        report_renewals(core, hold, bit);
}

/* Does nothing: all holds are freed after the notices. */
static void forget(struct hl_core *core, struct hl_notice *notice) { (void)core, (void)notice; }

const struct hl_notice_ops hl_tenure_reports = {report, forget};
