/* SPDX-License-Identifier: BSD-3-Clause */
/* notice - a report to the user, queued until control goes back to the loop.
 *
 * An object with reports embeds a notice, whose table says how to make them. Two lists, losses and news, are drained at
 * the end of every call from the loop. Invariants: losses come before anything else (R6), and before each report the
 * client looks for holds that have expired; news come in the order in which they happened; news caused by a callback
 * are reported in a later turn, except a loss, so that no callback can keep the loop from turning; a turn reports at
 * most a bounded batch.
 * A notice leaves its list, and its changes are made, before its callback runs: inside a callback any call on any
 * object is legal, and after it only the core is touched. */
#ifndef HL_CORE_NOTICE_H
#define HL_CORE_NOTICE_H

#include <stdint.h>

#include "base/list.h"

struct hl_core;
struct hl_notice;

struct hl_notice_ops {
    void (*report)(struct hl_core *core, struct hl_notice *notice); /* takes a bit, calls the user; may free it */
    void (*forget)(struct hl_core *core, struct hl_notice *notice); /* abandoned: frees it without a callback */
};

enum hl_notice_list_index { NOTICE_NOWHERE, NOTICE_LOSSES, NOTICE_NEWS, NOTICE_LISTS };

struct hl_notice {
    TAILQ_ENTRY(hl_notice) entry;
    const struct hl_notice_ops *ops;
    uint32_t epoch;         /* the handle's when the call was accepted; if it has another now, no callback runs */
    uint8_t list, pending;  /* enum above; bits of what to report, in the order of reporting */
};
TAILQ_HEAD(hl_notice_list, hl_notice);

struct hl_notices {
    struct hl_notice_list lists[NOTICE_LISTS]; /* by the index above */
    struct hl_notice marker;
    uint64_t (*find_expired)(struct hl_core *core); /* called before each report. Returns the time */
    uint64_t checked_us;                /* the time of the latest such call, right before the present report */
    int is_delivering;
    int is_behind;                      /* a batch was reported, and the rest waits for the next turn */
};

void hl_notices_init(struct hl_notices *notices, uint64_t (*find_expired)(struct hl_core *core));
void hl_notices_deliver(struct hl_core *core); /* core->is_gone may be true after it */
int hl_notices_are_due(const struct hl_core *core);
void hl_notices_forget(struct hl_core *core); /* the client is abandoned */

void hl_notice_post(struct hl_core *core, struct hl_notice *notice, unsigned bit); /* twice: reported once */
void hl_notice_post_loss(struct hl_core *core, struct hl_notice *notice, unsigned bit); /* before all news */
unsigned hl_notice_take(struct hl_core *core, struct hl_notice *notice); /* the lowest bit; the last one unlists it */
void hl_notice_withdraw(struct hl_core *core, struct hl_notice *notice, unsigned bit); /* these bits are not reported */
void hl_notice_cancel(struct hl_core *core, struct hl_notice *notice); /* nothing of it is reported */

#endif
