/* SPDX-License-Identifier: BSD-3-Clause */
/* report - what the user of a handle is called back with: the answers to acquire and release, a loss, and how renewals go. What else can be
 * asked of a handle (extend, re-entry, hand-off, inquiry) reports for itself. */
#ifndef HL_LOCK_REPORT_H
#define HL_LOCK_REPORT_H

#include "lock/core.h"

extern const struct hl_notice_ops hl_report_acquire, hl_report_hold;

#endif
