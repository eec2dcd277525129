/* SPDX-License-Identifier: BSD-3-Clause */
/* holder - see holder.h. */
#include "wire/holder.h"

#include <stdlib.h>
#include <string.h>

#include "base/platform.h"

/* The characters of a label. Spaces separate the words of a place at the store, and colons the parts of a holder, so a
 * label has neither. */
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+@/=,";

size_t hl_holder_write(char to[HL_HOLDER_MAX], const char *uuid, uint64_t n, const char *label)
{
    size_t length = label ? strnlen(label, HL_LABEL_MAX) : 0;
    char *at = mempcpy(to, uuid, HL_UUID_LENGTH);
    *at++ = ':';
    at += hl_command_decimal(at, n);
    if (length) {
        *at++ = ':';
        at = mempcpy(at, label, length);
    }
    return (size_t)(at - to);
}

void hl_holder_add(struct hl_command *command, const char *uuid, uint64_t n, const char *label)
{
    char *holder = hl_command_room(command, HL_HOLDER_MAX);
    hl_command_add(command, holder, hl_holder_write(holder, uuid, n, label));
}

/* Returns where the number of a holder begins; NULL: it is a holder of another program. */
static const char *number_in(const char *holder)
{
    const char *colon = strnlen(holder, HL_UUID_LENGTH) == HL_UUID_LENGTH ? holder + HL_UUID_LENGTH : "";
    return *colon == ':' && colon[1] >= '0' && colon[1] <= '9' ? colon + 1 : NULL;
}

uint64_t hl_holder_number(const char *holder)
{
    const char *number = number_in(holder);
    return number ? strtoull(number, NULL, 10) : 0;
}

const char *hl_holder_label(const char *holder)
{
    const char *number = number_in(holder);
    const char *end = number ? number + strspn(number, "0123456789") : "";
    const char *label = *end == ':' ? end + 1 : "";
    return hl_holder_is_label(label) ? label : "";
}

int hl_holder_is_label(const char *label)
{
    size_t length = strspn(label, letters);
    return label[length] == '\0' && length > 0 && length <= HL_LABEL_MAX;
}

void hl_holder_mend_label(char *label)
{
    for (; *label; label++)
        if (!strchr(letters, *label))
            *label = '-';
}
