/* SPDX-License-Identifier: BSD-3-Clause */
/* report - what the user of a handle is called back with: the answers to acquire and release, a loss, and how renewals go. What else can be
 * asked of a handle (extend, re-entry, hand-off, inquiry) reports for itself. */
#ifndef HL_LOCK_REPORT_H
#define HL_LOCK_REPORT_H

#include "lock/core.h"

void hl_report_init(struct hl_core *core);

#endif
