/* SPDX-License-Identifier: BSD-3-Clause */
/* holder - see holder.h. */
#include "wire/holder.h"

#include <string.h>

size_t hl_holder_write(char to[HL_HOLDER_MAX], const char *uuid, uint64_t n)
{
    memcpy(to, uuid, HL_UUID_LENGTH);
    to[HL_UUID_LENGTH] = ':';
    return HL_UUID_LENGTH + 1 + hl_command_decimal(to + HL_UUID_LENGTH + 1, n);
}

void hl_holder_add(struct hl_command *command, const char *uuid, uint64_t n)
{
    char *holder = hl_command_room(command, HL_HOLDER_MAX);
    hl_command_add(command, holder, hl_holder_write(holder, uuid, n));
}
