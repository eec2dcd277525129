/* SPDX-License-Identifier: BSD-3-Clause */
/* slot - the hash slot of a key in a cluster: CRC16 of it, or of a text in its first braces that is not empty. Pure. */
#ifndef HL_BASE_SLOT_H
#define HL_BASE_SLOT_H

#include <stddef.h>

enum { HL_SLOTS = 16384, HL_SLOT_TAG = 4 };

unsigned hl_slot_of(const char *key, size_t length); /* below HL_SLOTS */
/* Letters that fall into that slot, for a key that belongs to no name; always the same. */
void hl_slot_tag(unsigned slot, char to[HL_SLOT_TAG + 1]);

#endif
