/* SPDX-License-Identifier: BSD-3-Clause */
/* notice - see notice.h. */
#include "core/notice.h"

#include "base/contract.h"
#include "base/plant.h"
#include "core/lease.h"
#include "core/lock.h"

/* ---- notices ---- */

enum { BATCH = 1000, BATCH_US = 2000 };

void hl_notices_init(struct hl_notices *notices, void (*end_expired)(struct hl_core *core, uint64_t now_us))
{
    TAILQ_INIT(&notices->lists[NOTICE_LOSSES]);
    TAILQ_INIT(&notices->lists[NOTICE_NEWS]);
    notices->end_expired = end_expired;
    notices->expires_at_us = UINT64_MAX;
}

static void move(struct hl_core *core, struct hl_notice *notice, enum hl_notice_list_index list)
{
    struct hl_notice_list *lists = core->notices.lists;
    if (notice->list != NOTICE_NOWHERE)
        TAILQ_REMOVE(&lists[notice->list], notice, entry);
    if (list != NOTICE_NOWHERE)
        TAILQ_INSERT_TAIL(&lists[list], notice, entry);
    notice->list = (uint8_t)list;
}

void hl_notice_post(struct hl_core *core, struct hl_notice *notice, unsigned bit)
{
    notice->pending |= (uint8_t)bit;
    if (notice->list == NOTICE_NOWHERE)
        move(core, notice, NOTICE_NEWS);
    hl_host_wake(&core->host);
}

void hl_notice_post_loss(struct hl_core *core, struct hl_notice *notice, unsigned bit)
{
    hl_notice_post(core, notice, bit);
    if (!HL_PLANTED(R6_LOSS_IN_LINE))
        move(core, notice, NOTICE_LOSSES);
}

void hl_notice_withdraw(struct hl_core *core, struct hl_notice *notice, unsigned bits)
{
    notice->pending &= (uint8_t)~bits;
    if (!notice->pending)
        move(core, notice, NOTICE_NOWHERE);
}

uint64_t hl_notices_check(struct hl_core *core)
{
    struct hl_notices *notices = &core->notices;
    notices->checked_at_us = hl_now_us(&core->host);
    if (notices->checked_at_us >= notices->expires_at_us && !HL_PLANTED(R6_NO_SWEEP)) {
        notices->expires_at_us = UINT64_MAX; /* what does not end now sets the next time */
        notices->end_expired(core, notices->checked_at_us);
    }
    return notices->checked_at_us;
}

/* Losses are reported first, even those that a callback of this delivery causes. Of the news, only what stands before
 * the marker is reported. There may be several deliveries in one turn of the loop: if one of them was cut off, the
 * others report only losses, and news waits for the next turn. */
void hl_notices_deliver(struct hl_core *core)
{
    struct hl_notices *notices = &core->notices;
    struct hl_notice_list *losses = &notices->lists[NOTICE_LOSSES], *news = &notices->lists[NOTICE_NEWS];
    int is_for_losses = notices->delivery == DELIVERY_BEHIND && core->host.is_armed;
    uint64_t ends_us = hl_notices_check(core) + BATCH_US;
    HL_REQUIRE(notices->delivery != DELIVERY_RUNNING); /* a delivery runs only in the outermost hl_host_leave */
    if (!hl_notices_are_due(notices))
        return;
    notices->delivery = DELIVERY_RUNNING;
    move(core, &notices->marker, NOTICE_NEWS);
    for (int reported = 0; core->phase != PHASE_GONE && reported < BATCH; reported++) {
        struct hl_notice *notice = TAILQ_EMPTY(losses) && !is_for_losses ? TAILQ_FIRST(news) : TAILQ_FIRST(losses);
        if (!notice || notice == &notices->marker)
            break;
        notice->ops->report(core, notice);
        /* This delivery takes too long, so it stops here, unless losses are pending. The loop may do other work before
         * the next turn. */
        if (core->phase != PHASE_GONE && hl_notices_check(core) > ends_us && TAILQ_EMPTY(losses))
            break;
    }
    move(core, &notices->marker, NOTICE_NOWHERE);
    notices->delivery = core->phase != PHASE_GONE && hl_notices_are_due(notices) ? DELIVERY_BEHIND : DELIVERY_DONE;
    if (notices->delivery == DELIVERY_BEHIND && !is_for_losses)
        hl_host_wake_next_turn(&core->host);
}

void hl_notices_forget(struct hl_core *core)
{
    struct hl_notice *notice;
    for (unsigned list = NOTICE_LOSSES; list <= NOTICE_NEWS; list++)
        while ((notice = TAILQ_FIRST(&core->notices.lists[list])) != NULL) {
            move(core, notice, NOTICE_NOWHERE);
            if (notice != &core->notices.marker)
                notice->ops->forget(core, notice);
        }
}

/* ---- callbacks ---- */

void hl_notice_give_result(struct hilock_lock *lock, hilock_result_fn *on_result, struct hilock_result result,
                           void *user)
{
    const struct hl_snapshot now = lock->ops->snapshot(lock);
    result.size = sizeof result;
    result.lock = lock;
    result.state = now.state;
    result.remaining_ms = hl_lease_span_ms(hl_left_us(now.ends_us, hl_now_us(&hl_lock_core(lock)->host)));
    result.fencing_token = now.token;
    result.hold_count = result.hold_count ? result.hold_count : now.count;
    result.holder = result.holder ? result.holder : "";
    result.holder_label = hl_holder_label(result.holder);
    lock->refs++;
    on_result(&result, user);
    hl_lock_unref(lock);
}

void hl_notice_give_event(struct hl_core *core, struct hilock_lock *lock, hilock_event_fn *on_event,
                          struct hilock_event *event)
{
    event->size = sizeof *event;
    event->client = core->client;
    event->lock = lock;
    event->holder = event->holder ? event->holder : "";
    event->node = event->node ? event->node : "";
    event->detail = event->detail ? event->detail : "";
    event->holder_label = hl_holder_label(event->holder);
    if (!on_event)
        return;
    lock->refs++;
    on_event(event, lock->user);
    hl_lock_unref(lock);
}

void hl_notice_give_holder(struct hilock_lock *lock, hilock_holder_fn *on_holder,
                           const struct hilock_holder_info *info, void *user)
{
    lock->refs++;
    on_holder(info, user);
    hl_lock_unref(lock);
}

int hl_notice_is_silenced(const struct hilock_lock *lock, const struct hl_notice *notice)
{
    return lock->epoch != notice->epoch;
}
