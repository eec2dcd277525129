/* SPDX-License-Identifier: BSD-3-Clause */
/* simple - the commands of the kind SIMPLE, `SET name holder NX PX lease`: the convention of redsync, redis-py,
 * node-redlock and many more, so that their programs and ours exclude each other. Pure: no state, no I/O. It is reached
 * by hl_simple_kind (kind.h).
 *
 * An acquire is a native command, the cheapest one for a free name. Its nil does not name the holder, so a script asks
 * again, and also finds an earlier grant to the same id. Renewal and release compare the value first, by scripts. A
 * release sends no message: waiters poll. There is no fencing token, and no time after which an acquire is refused: a
 * hold of an acquire that ran too late stays until its id is released a second time, or its lease ends. */
#ifndef HL_WIRE_SIMPLE_H
#define HL_WIRE_SIMPLE_H

#include "wire/kind.h"

hl_acquire_fn hl_simple_acquire;
hl_renew_fn hl_simple_renew;
hl_release_fn hl_simple_release;
hl_force_fn hl_simple_force;
hl_peek_fn hl_simple_peek;
hl_parse_fn hl_simple_acquired, hl_simple_renewed, hl_simple_released;

#endif
