/* SPDX-License-Identifier: BSD-3-Clause */
/* requests - what holds say to nodes, and which of their machines each answer, and each alarm, is for: asking, renewal,
 * ending. */
#ifndef HL_LOCK_REQUESTS_H
#define HL_LOCK_REQUESTS_H

#include "lock/core.h"

int hl_requests_init(struct hl_core *core); /* before the first hold. 0, or -1: no memory */

#endif
