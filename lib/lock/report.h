/* SPDX-License-Identifier: BSD-3-Clause */
/* report - the user's callbacks of a handle: answers to acquire and release, losses, renewals. Extends, re-entries,
 * hand-offs and inquiries report for themselves. */
#ifndef HL_LOCK_REPORT_H
#define HL_LOCK_REPORT_H

#include "wait/waiter.h"

extern const struct hl_notice_ops hl_report_acquire, hl_report_hold;

#endif
