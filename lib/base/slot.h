/* SPDX-License-Identifier: BSD-3-Clause */
/* slot - the hash slot of a key in a cluster: the CRC16 of the key, or of the text in its first pair of braces if that
 * is not empty. Pure. */
#ifndef HL_BASE_SLOT_H
#define HL_BASE_SLOT_H

#include <stddef.h>

enum { HL_SLOTS = 16384, HL_SLOT_TAG = 4 };

unsigned hl_slot_of(const char *key, size_t length); /* returns a number below HL_SLOTS */
/* Writes the hash tag for a key that belongs to no lock name: letters that hash to the slot, always the same ones. */
void hl_slot_tag(unsigned slot, char to[HL_SLOT_TAG + 1]);

#endif
