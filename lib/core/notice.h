/* SPDX-License-Identifier: BSD-3-Clause */
/* notice - how the user of a lock is told: a report is queued until control goes back to the loop, and is made by a
 * callback then. No other file calls one.
 *
 * An object that reports to the user embeds a notice, whose table has the function that makes its reports. There are
 * two lists, losses and news, which are delivered at the end of every call from the loop. Invariants:
 *  - Losses are reported before anything else (R6), and before each report the holds are checked for expiry.
 *  - News is reported in the order of the events.
 *  - News that a callback causes is reported in a later turn of the loop, so that no callback can keep the loop from
 *    turning. A loss that a callback causes is still reported in this turn.
 *  - A turn makes a bounded number of reports, and spends a bounded time on them.
 *  - A notice leaves its list, and the changes that it stands for are made, before its callback runs. (A list of
 *    holders is one notice and several reports, each with a callback, and leaves with the last one.) So inside a
 *    callback any call on any object is legal, and after the callback only the core is touched. A callback may free the
 *    handle: the handle then stays until the callback has returned. */
#ifndef HL_CORE_NOTICE_H
#define HL_CORE_NOTICE_H

#include <hilock/hilock.h>
#include <stdint.h>

#include "base/list.h"

struct hilock_lock;
struct hl_core;
struct hl_notice;

/* ---- notices ---- */

struct hl_notice_ops {
    /* takes the lowest pending bit and calls the user; this call may free the notice */
    void (*report)(struct hl_core *core, struct hl_notice *notice);
    /* the client is abandoned: frees the object of this notice, without a callback */
    void (*forget)(struct hl_core *core, struct hl_notice *notice);
};

enum hl_notice_list_index { NOTICE_NOWHERE, NOTICE_LOSSES, NOTICE_NEWS, NOTICE_LISTS };

struct hl_notice {
    TAILQ_ENTRY(hl_notice) entry;
    const struct hl_notice_ops *ops;
    uint32_t epoch;         /* the epoch of the handle when its call was accepted; if the handle has another epoch
                               now, no callback runs */
    uint8_t list, pending;  /* list: enum hl_notice_list_index; pending: one bit for each report, reported from the
                               lowest on */
};
TAILQ_HEAD(hl_notice_list, hl_notice);

enum hl_delivery { /* how far a client is with its notices; a delivery ends as DONE or as BEHIND */
    DELIVERY_DONE,
    DELIVERY_RUNNING,
    DELIVERY_BEHIND /* some notices were left for the next turn of the loop */
};
struct hl_notices {
    struct hl_notice_list lists[NOTICE_LISTS]; /* indexed by enum hl_notice_list_index */
    struct hl_notice marker;            /* while delivering: the end of the news that this delivery reports */
    void (*end_expired)(struct hl_core *core, uint64_t now_us); /* ends what has expired, and reports those losses */
    uint64_t expires_at_us;             /* nothing expires before this time */
    uint64_t checked_at_us;             /* when the latest check was made, right before the present report */
    enum hl_delivery delivery;
};

void hl_notices_init(struct hl_notices *notices, void (*end_expired)(struct hl_core *core, uint64_t now_us));
/* Runs before every report: checks whether something has expired, and ends that. Returns the time. */
uint64_t hl_notices_check(struct hl_core *core);
/* Something expires at this time: the checks before it cost nothing. */
static inline void hl_notices_expire_at(struct hl_notices *notices, uint64_t at_us)
{
    if (at_us < notices->expires_at_us)
        notices->expires_at_us = at_us;
}
void hl_notices_deliver(struct hl_core *core); /* the client may be GONE after this call */
static inline int hl_notices_are_due(const struct hl_notices *notices)
{
    return !TAILQ_EMPTY(&notices->lists[NOTICE_NEWS]) || !TAILQ_EMPTY(&notices->lists[NOTICE_LOSSES]);
}
void hl_notices_forget(struct hl_core *core); /* the client is abandoned: calls each forget */

/* Queues the report of this bit as news. A bit that is posted twice before its report is reported once. */
void hl_notice_post(struct hl_core *core, struct hl_notice *notice, unsigned bit);
/* The same for a loss, which is reported before all news. */
void hl_notice_post_loss(struct hl_core *core, struct hl_notice *notice, unsigned bit);
/* Takes back these bits: their reports will not be made. Without a pending bit the notice is in no list. */
void hl_notice_withdraw(struct hl_core *core, struct hl_notice *notice, unsigned bits);
/* the same for all bits */
static inline void hl_notice_cancel(struct hl_core *core, struct hl_notice *notice)
{
    if (notice->pending)
        hl_notice_withdraw(core, notice, notice->pending);
}
/* Clears the lowest pending bit and returns it. */
static inline unsigned hl_notice_take(struct hl_core *core, struct hl_notice *notice)
{
    unsigned bit = notice->pending & (unsigned)-notice->pending;
    hl_notice_withdraw(core, notice, bit);
    return bit;
}

/* ---- callbacks ---- */

/* Completes this result with the present state of the handle, and calls on_result with it. If its hold_count is 0, the
 * count of the handle is used. */
void hl_notice_give_result(struct hilock_lock *lock, hilock_result_fn *on_result, struct hilock_result result,
                           void *user);
void hl_notice_give_event(struct hl_core *core, struct hilock_lock *lock, hilock_event_fn *on_event,
                          struct hilock_event *event);
/* Tells a user who lists holders of one. */
void hl_notice_give_holder(struct hilock_lock *lock, hilock_holder_fn *on_holder,
                           const struct hilock_holder_info *info, void *user);
/* Returns 1 if the handle was dropped or freed after the call that this notice answers: then no callback may run. */
int hl_notice_is_silenced(const struct hilock_lock *lock, const struct hl_notice *notice);

#endif
