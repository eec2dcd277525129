/* SPDX-License-Identifier: BSD-3-Clause */
/* natives - which native compare-and-set and compare-and-delete commands a server has; each connection asks once. They
 * cost the server a third of a script. A server without a good answer has none; scripts do the same everywhere. DELIFEQ
 * comes with Valkey 9.0, DELEX with Redis 8.4 and later Valkeys; a server that has one of them has SET .. IFEQ. (Valkey
 * 8.1 has only that, which asking for a command does not show: it is served by scripts.) */
#ifndef HL_WIRE_NATIVES_H
#define HL_WIRE_NATIVES_H

#include "base/command.h"
#include "base/reply.h"

enum { HL_NATIVE_DELIFEQ = 1, HL_NATIVE_DELEX = 2 };

void hl_natives_ask(struct hl_command *command);
unsigned hl_natives_told(const struct hl_reply *reply); /* bits; 0: any other answer */

#endif
