/* SPDX-License-Identifier: BSD-3-Clause */
/* keys - the names of a lock's keys and channels, and which lock names are good.
 * All keys of a lock share one hash slot: the channel is Redisson's, "p:{N}", or "p:N" where N has a tag of its own. So
 * "a" and "{a}" share a channel, which costs a needless wake-up. A key of ours is "p:{N}" or "p=N": no two names share
 * one. Hence the rule on braces: none at all, or the first '{' opens a non-empty {...}; else the slots differ. */
#ifndef HL_WIRE_KEYS_H
#define HL_WIRE_KEYS_H

#include <stddef.h>

enum { HL_KEY_PREFIX_MAX = 32, HL_JAVA_WAITER_MAX = 128 };

extern const char hl_key_token[], hl_key_queue[], hl_key_place[]; /* words of our own keys */
extern const char hl_key_channel[]; /* the word of the channel of releases, which is Redisson's */

int hl_key_has_good_braces(const char *name, size_t length);
int hl_key_is_reserved(const char *name, size_t length); /* begins like our keys or Redisson's: may be another lock's */
/* needs length + HL_KEY_PREFIX_MAX bytes; no terminator */
size_t hl_key_write(char *to, const char *word, const char *name, size_t length);
/* needs HL_JAVA_WAITER_MAX bytes more: the channel on which Redisson's fair lock wakes the first of its queue */
size_t hl_key_java_waiter_write(char *to, const char *name, size_t length, const char *java_waiter,
                                size_t java_waiter_length);

#endif
