/* SPDX-License-Identifier: BSD-3-Clause */
/* simple - the commands of kind SIMPLE, `SET name holder NX PX lease`: the convention of redsync, redis-py,
 * node-redlock and many more, so that their programs and ours exclude each other. Pure: no state, no I/O; reached by
 * hl_simple_kind (kind.h).
 *
 * The acquire is a native command, the cheapest for a free name. Its nil does not name the holder, so a script asks
 * again, which also finds our own replay. Renewal and release compare the value first, by scripts. A release sends no
 * message: waiters poll. There is no fencing token, and no time after which an acquire is refused: one that ran too
 * late stays until its id is released a second time, or its lease ends. */
#ifndef HL_WIRE_SIMPLE_H
#define HL_WIRE_SIMPLE_H

#include "wire/kind.h"

hl_encode_fn hl_simple_acquire, hl_simple_renew, hl_simple_release;
hl_parse_fn hl_simple_acquired, hl_simple_renewed, hl_simple_released;

#endif
