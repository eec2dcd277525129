/* SPDX-License-Identifier: BSD-3-Clause */
/* plain - see plain.h. */
#include "plain.h"

#include <stdio.h>
#include <string.h>

size_t plain_character(const unsigned char *text)
{
    size_t length = *text < 0x80                    ? 1
                    : *text >= 0xc2 && *text < 0xe0 ? 2
                    : (*text & 0xf0) == 0xe0        ? 3
                    : *text >= 0xf0 && *text < 0xf5 ? 4
                                                    : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] >= 0xa0) ||
        (*text == 0xf0 && text[1] < 0x90) || (*text == 0xf4 && text[1] >= 0x90))
        return 0;
    return length;
}

/* The C1 control characters, U+0080..U+009F, have two bytes; U+009B begins a terminal command, as ESC [ does. */
static int is_control(const unsigned char *at) { return *at < 0x20 || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0); }

struct plain plain_of(const char *text)
{
    struct plain plain;
    size_t used = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at && used + 5 < sizeof plain.bytes;) {
        size_t length = plain_character(at);
        if (length && !is_control(at)) {
            memcpy(plain.bytes + used, at, length);
            used += length;
            at += length;
        } else {
            used += (size_t)snprintf(plain.bytes + used, sizeof plain.bytes - used, "\\x%02x", *at++);
        }
    }
    plain.bytes[used] = '\0';
    return plain;
}
