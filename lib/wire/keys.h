/* SPDX-License-Identifier: BSD-3-Clause */
/* keys - the names of a lock's keys and channels, and which lock names are good.
 * All keys of a lock are in one hash slot. The unlock channel is Redisson's: "p:{N}", or "p:N" if N has a tag of its
 * own. So "a" and "{a}" share a channel, which costs a needless wake-up. A key of ours is "p:{N}" or "p=N", so that no
 * two names share a key. Hence the rule on braces: a name has none at all, or its first '{' opens a non-empty {...};
 * otherwise the slots would differ. */
#ifndef HL_WIRE_KEYS_H
#define HL_WIRE_KEYS_H

#include <stddef.h>

enum { HL_KEY_PREFIX_MAX = 32, HL_JAVA_WAITER_MAX = 128 };

extern const char hl_key_token[], hl_key_queue[], hl_key_place[], hl_key_share[]; /* the prefixes of our own keys */
extern const char hl_key_channel[]; /* the prefix of the unlock channel, which is Redisson's */

int hl_key_has_good_braces(const char *name, size_t length);
/* 1: the name begins like a key of ours or of Redisson, so it may be a key of another lock */
int hl_key_is_reserved(const char *name, size_t length);
/* Writes the key with that prefix. to needs length + HL_KEY_PREFIX_MAX bytes; there is no terminator. */
size_t hl_key_write(char *to, const char *word, const char *name, size_t length);
/* Writes the channel on which Redisson's fair lock wakes the first waiter of its queue. to needs HL_JAVA_WAITER_MAX
 * bytes more. */
size_t hl_key_java_waiter_write(char *to, const char *name, size_t length, const char *java_waiter,
                                size_t java_waiter_length);

#endif
