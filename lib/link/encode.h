/* SPDX-License-Identifier: BSD-3-Clause */
/* encode - a command's argv as the bytes that a server reads, wiped after use: they may have been a password. hiredis'
 * formatter took two fifths of a request's cost for the client, and leaves a copy in the heap. */
#ifndef HL_LINK_ENCODE_H
#define HL_LINK_ENCODE_H

#include <stddef.h>

enum { HL_ENCODED_MAX = 2048 };

struct hl_encoded {
    char *bytes; /* in room; of a script's text, which is rarely sent, in the heap */
    size_t length;
    char room[HL_ENCODED_MAX];
};

/* 0, or -1: no memory */
int hl_encode(struct hl_encoded *encoded, int argc, const char *const *argv, const size_t *lengths);
void hl_encode_wipe(struct hl_encoded *encoded);
/* Returns the length, or 0 if `size` bytes are too few. A NUL follows, not counted: hiredis reads up to it when it
 * searches what it sends for SUBSCRIBE. */
size_t hl_encode_into(char *to, size_t size, int argc, const char *const *argv, const size_t *lengths);

#endif
