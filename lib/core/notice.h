/* SPDX-License-Identifier: BSD-3-Clause */
/* notice - a report to the user, queued until control goes back to the loop.
 *
 * An object with reports embeds a notice, whose table says how to make them. There are two lists, losses and news,
 * which are delivered at the end of every call from the loop. Invariants:
 *  - Losses come before anything else (R6), and before each report the client looks for holds that have expired.
 *  - News come in the order in which they happened.
 *  - News that a callback causes are reported in a later turn of the loop, but a loss is not, so that no callback can
 *    keep the loop from turning.
 *  - A turn reports at most a bounded batch.
 *  - A notice leaves its list, and the changes that it stands for are made, before its callback runs. So inside a
 *    callback any call on any object is legal, and after the callback only the core is touched. */
#ifndef HL_CORE_NOTICE_H
#define HL_CORE_NOTICE_H

#include <stdint.h>

#include "base/list.h"

struct hl_core;
struct hl_notice;

struct hl_notice_ops {
    /* takes a bit and calls the user; this may free the notice */
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

struct hl_notices {
    struct hl_notice_list lists[NOTICE_LISTS]; /* indexed by enum hl_notice_list_index */
    struct hl_notice marker;
    uint64_t (*find_expired)(struct hl_core *core); /* called before each report; returns the time */
    uint64_t checked_at_us;                /* the time that the latest such call returned, right before the present
                                           report */
    int is_delivering;
    int is_behind;                      /* a whole batch was reported, and the rest waits for the next turn of the
                                           loop */
};

void hl_notices_init(struct hl_notices *notices, uint64_t (*find_expired)(struct hl_core *core));
void hl_notices_deliver(struct hl_core *core); /* core->is_gone may be true after this call */
int hl_notices_are_due(const struct hl_core *core);
void hl_notices_forget(struct hl_core *core); /* call when the client is abandoned */

/* a bit that is posted twice is reported once */
void hl_notice_post(struct hl_core *core, struct hl_notice *notice, unsigned bit);
/* the same, reported before all news */
void hl_notice_post_loss(struct hl_core *core, struct hl_notice *notice, unsigned bit);
/* returns the lowest bit and clears it; the last bit takes the notice out of its list */
unsigned hl_notice_take(struct hl_core *core, struct hl_notice *notice);
/* the reports of these bits are not made */
void hl_notice_withdraw(struct hl_core *core, struct hl_notice *notice, unsigned bit);
void hl_notice_cancel(struct hl_core *core, struct hl_notice *notice); /* no report of this notice is made */

#endif
