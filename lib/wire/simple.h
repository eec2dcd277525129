/* SPDX-License-Identifier: BSD-3-Clause */
/* simple - the words of kind SIMPLE, `SET name holder NX PX lease`: the convention of redsync, redis-py, node-redlock and many more, so that
 * their programs and ours exclude each other. Pure: no state, no I/O; reached by hl_simple_kind (kind.h).
 *
 * The acquire is native, for that is cheapest where it is wanted most, at a free name. It cannot tell who has the name: a nil is asked again
 * by a script, which also finds our own replay. Renewal and release compare the value first, by the server's own commands where it has
 * them, else by a script. Nobody is told of a release: who waits polls. There is no fencing token, and no time after which an acquire is
 * refused: one that ran too late stands until its id is released for the second time, or its lease is over. */
#ifndef HL_WIRE_SIMPLE_H
#define HL_WIRE_SIMPLE_H

#include "wire/kind.h"

hl_say_fn hl_simple_acquire, hl_simple_renew, hl_simple_release;
hl_hear_fn hl_simple_acquired, hl_simple_renewed, hl_simple_released;

#endif
