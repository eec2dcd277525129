/* SPDX-License-Identifier: BSD-3-Clause */
/* keys - see keys.h. */
#include "wire/keys.h"

#include <string.h>

#include "base/platform.h"
#include "wire/protocol.h"

const char hl_key_token[] = "hilock:token";
const char hl_key_queue[] = "hilock:queue";
const char hl_key_place[] = HL_KEY_PLACE;
const char hl_key_share[] = HL_KEY_SHARE;
const char hl_key_channel[] = HL_KEY_CHANNEL;

_Static_assert(sizeof hl_key_queue - 1 == HL_KEY_QUEUE_LENGTH, "scripts find the name behind it");
_Static_assert(sizeof hl_key_channel - 1 == HL_KEY_CHANNEL_LENGTH, "mutex_force finds the name behind it");

int hl_key_has_good_braces(const char *name, size_t length)
{
    const char *open = memchr(name, '{', length), *close;
    if (!open)
        return memchr(name, '}', length) == NULL;
    close = memchr(open, '}', (size_t)(name + length - open));
    return close != NULL && close > open + 1;
}

static int begins(const char *name, size_t length, const char *word)
{
    return length >= strlen(word) && memcmp(name, word, strlen(word)) == 0;
}

int hl_key_is_reserved(const char *name, size_t length)
{
    return begins(name, length, "hilock:") || begins(name, length, "redisson_lock");
}

size_t hl_key_write(char *to, const char *word, const char *name, size_t length)
{
    int has_tag = memchr(name, '{', length) != NULL;
    const char *between = !has_tag ? ":{" : word == hl_key_channel ? ":" : "=";
    char *end = mempcpy(stpcpy(stpcpy(to, word), between), name, length);
    if (!has_tag)
        *end++ = '}';
    return (size_t)(end - to);
}

size_t hl_key_java_waiter_write(char *to, const char *name, size_t length, const char *java_waiter,
                                size_t java_waiter_length)
{
    char *end = to + hl_key_write(to, hl_key_channel, name, length);
    *end++ = ':';
    return (size_t)((char *)mempcpy(end, java_waiter, java_waiter_length) - to);
}
