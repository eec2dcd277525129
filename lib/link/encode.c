/* SPDX-License-Identifier: BSD-3-Clause */
/* encode - see encode.h. */
#include "link/encode.h"

#include <string.h>

#include "base/command.h"

enum { FRAME_MAX = 1 + HL_DECIMAL_MAX + 2 + 2 }; /* of an argument: $, its length, two line ends */

static char *add_count(char *to, char mark, size_t count)
{
    *to++ = mark;
    return mempcpy(to + hl_command_decimal(to, count), "\r\n", 2);
}

size_t hl_encode_room(int argc, const size_t *lengths)
{
    size_t room = FRAME_MAX;
    for (int i = 0; i < argc; i++)
        room += FRAME_MAX + lengths[i];
    return room;
}

size_t hl_encode(char *to, int argc, const char *const *argv, const size_t *lengths)
{
    char *at = add_count(to, '*', (size_t)argc);
    for (int i = 0; i < argc; i++) {
        at = mempcpy(add_count(at, '$', lengths[i]), argv[i], lengths[i]);
        at = mempcpy(at, "\r\n", 2);
    }
    return (size_t)(at - to);
}
