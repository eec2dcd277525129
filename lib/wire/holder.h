/* SPDX-License-Identifier: BSD-3-Clause */
/* holder - what the store keeps as the owner of a name: "<client uuid>:<n>", n never used twice by a client (R2). */
#ifndef HL_WIRE_HOLDER_H
#define HL_WIRE_HOLDER_H

#include "base/command.h"

enum { HL_UUID_LENGTH = 36, HL_HOLDER_MAX = HL_UUID_LENGTH + 1 + 20 };

size_t hl_holder_write(char to[HL_HOLDER_MAX], const char *uuid, uint64_t n); /* returns its length; no terminator */
void hl_holder_add(struct hl_command *command, const char *uuid, uint64_t n); /* the same, as an argument */

#endif
