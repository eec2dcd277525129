/* SPDX-License-Identifier: BSD-3-Clause */
/* encode - see encode.h. */
#include "link/encode.h"

#include <string.h>

#include "base/command.h"

enum { FRAME_MAX = 1 + HL_DECIMAL_MAX + 2 + 2 }; /* of an argument: $, its length, two line ends */

static char *add_count(char *to, char mark, size_t count)
{
    *to++ = mark;
    to += hl_decimal(to, count);
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

size_t hl_encode(char *to, size_t size, int argc, const char *const *argv, const size_t *lengths)
{
    char *at = to;
    if (size < FRAME_MAX)
        return 0;
    at = add_count(at, '*', (size_t)argc);
    for (int i = 0; i < argc; i++) {
        size_t left = size - (size_t)(at - to);
        if (left < FRAME_MAX || left - FRAME_MAX < lengths[i])
            return 0;
        at = add_count(at, '$', lengths[i]);
        memcpy(at, argv[i], lengths[i]);
        at += lengths[i];
        *at++ = '\r';
        *at++ = '\n';
    }
    return (size_t)(at - to);
}
