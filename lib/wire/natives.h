/* SPDX-License-Identifier: BSD-3-Clause */
/* natives - which compare-and-set and compare-and-delete commands a server has of its own: asked once on each connection. They cost it a
 * third of a script. A server that does not answer well has none, and scripts say the same everywhere.
 * DELIFEQ is Valkey's from 9.0, DELEX is Redis' from 8.4, and later Valkey's; whoever has one of them has SET .. IFEQ. (Valkey 8.1 has that
 * alone; it cannot be told by asking for a command, and is served by scripts.) */
#ifndef HL_WIRE_NATIVES_H
#define HL_WIRE_NATIVES_H

#include "base/command.h"
#include "base/reply.h"

enum { HL_NATIVE_DELIFEQ = 1, HL_NATIVE_DELEX = 2 };

void hl_natives_ask(struct hl_command *command);
unsigned hl_natives_told(const struct hl_reply *reply); /* bits; 0: any other answer */

#endif
