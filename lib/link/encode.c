/* SPDX-License-Identifier: BSD-3-Clause */
/* encode - see encode.h. */
#include "link/encode.h"

#include <hiredis/hiredis.h>
#include <string.h>

#include "base/command.h"
#include "base/memory.h"

enum { FRAME_MAX = 1 + HL_DECIMAL_MAX + 2 + 2 + 1 }; /* of an argument: $, its length, two line ends, and the
                                                        terminator behind the last */

static char *add_count(char *to, char mark, size_t count)
{
    *to++ = mark;
    to += hl_command_decimal(to, count);
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

size_t hl_encode_into(char *to, size_t size, int argc, const char *const *argv, const size_t *lengths)
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
    *at = '\0';
    return (size_t)(at - to);
}

int hl_encode(struct hl_encoded *encoded, int argc, const char *const *argv, const size_t *lengths)
{
    char *bytes = NULL;
    long long length; /* an int before hiredis 1.0 */
    encoded->bytes = encoded->room;
    encoded->length = hl_encode_into(encoded->room, sizeof encoded->room, argc, argv, lengths);
    if (encoded->length)
        return 0;
    length = redisFormatCommandArgv(&bytes, argc, (const char **)argv, lengths);
    if (length < 0)
        return -1;
    encoded->bytes = bytes;
    encoded->length = (size_t)length;
    return 0;
}

void hl_encode_wipe(struct hl_encoded *encoded)
{
    hl_memory_wipe(encoded->bytes, encoded->length);
    if (encoded->bytes != encoded->room)
        redisFreeCommand(encoded->bytes);
}
