/* SPDX-License-Identifier: BSD-3-Clause */
/* simple - the commands of kind SIMPLE, `SET name holder NX PX lease`: the convention of redsync, redis-py,
 * node-redlock and many more, so that their programs and ours exclude each other. Pure: no state, no I/O; reached by
 * hl_simple_kind (kind.h).
 *
 * The acquire is a native command, the cheapest for a free name. Its nil does not name the holder, so a script asks
 * again, which also finds our own replay. Renewal and release compare the value first, by the server's native commands
 * where it has them, else by a script. A release sends no message: waiters poll. There is no fencing token, and no time
 * after which an acquire is refused: one that ran too late stays until its id is released a second time, or its lease
 * ends. */
#ifndef HL_WIRE_SIMPLE_H
#define HL_WIRE_SIMPLE_H

#include "wire/kind.h"

/* Native compare-and-set and compare-and-delete commands of a server; each connection asks once. They cost the server a
 * third of a script. A server without a good answer has none; scripts do the same everywhere. DELIFEQ comes with Valkey
 * 9.0, DELEX with Redis 8.4 and later Valkeys; a server that has one of them has SET .. IFEQ. (Valkey 8.1 has only
 * that, which asking for a command does not show: it is served by scripts.) */
enum { HL_NATIVE_DELIFEQ = 1, HL_NATIVE_DELEX = 2 };
void hl_simple_ask_natives(struct hl_command *command);
unsigned hl_simple_natives(const struct hl_reply *reply); /* bits; 0: any other answer */

hl_encode_fn hl_simple_acquire, hl_simple_renew, hl_simple_release;
hl_parse_fn hl_simple_acquired, hl_simple_renewed, hl_simple_released;

#endif
