/* SPDX-License-Identifier: BSD-3-Clause */
/* keys - the names of a lock's keys and channels, and which lock names are good.
 * All keys of a lock share one hash slot: tag(p, N) is "p:{N}", or "p:N" where N has a tag of its own (Redisson's prefixName). Hence the
 * rule on braces: none at all, or the first '{' opens a non-empty {...}; with "x}y" or "a{}b{c}" the two would fall into different slots. */
#ifndef HL_WIRE_KEYS_H
#define HL_WIRE_KEYS_H

#include "base/command.h"

enum { HL_KEY_PREFIX_MAX = 32, HL_UUID_LENGTH = 36, HL_HOLDER_MAX = HL_UUID_LENGTH + 1 + 20 + 5 };

extern const char hl_key_token[], hl_key_queue[], hl_key_waiters[], hl_key_channel[]; /* prefixes for hl_key_tagged */

int hl_key_has_good_braces(const char *name, size_t length);
size_t hl_key_tagged(char *to, const char *prefix, const char *name, size_t length); /* needs length + HL_KEY_PREFIX_MAX bytes; no terminator */
void hl_key_add(struct hl_command *command, const char *prefix, const char *name, size_t length); /* the same, as an argument */

/* "<client uuid>:<n>", n never used twice by a client (R2). Returns its length; no terminator. A FAIR holder has a suffix: it is known by it
 * that its release hands over. */
size_t hl_holder_write(char to[HL_HOLDER_MAX], const char *uuid, uint64_t n);
size_t hl_holder_write_fair(char to[HL_HOLDER_MAX], const char *uuid, uint64_t n);
int hl_holder_is_fair(const char *holder, size_t length);
void hl_holder_add(struct hl_command *command, const char *uuid, uint64_t n); /* the same, as an argument */
void hl_holder_add_fair(struct hl_command *command, const char *uuid, uint64_t n);

#endif
