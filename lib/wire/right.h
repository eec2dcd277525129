/* SPDX-License-Identifier: BSD-3-Clause */
/* right - which right a server says is missing, as ACL SETUSER spells it. Redis 7.0 does not name the command that a
 * script may not call, but its line; the right is read from that line. */
#ifndef HL_WIRE_RIGHT_H
#define HL_WIRE_RIGHT_H

#include "base/text.h"

struct hl_text hl_right_missing(const char *target, size_t length); /* "+hset", "~ of a key"; "": none is named */

#endif
