/* SPDX-License-Identifier: BSD-3-Clause */
/* requests - the requests of holds; passes each answer and each alarm to its machine: asking, renewal, ending. */
#ifndef HL_HOLD_REQUESTS_H
#define HL_HOLD_REQUESTS_H

#include "hold/hold.h"

int hl_requests_init(struct hl_core *core); /* before the first hold. 0, or -1: no memory */

#endif
