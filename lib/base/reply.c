/* SPDX-License-Identifier: BSD-3-Clause */
/* reply - see reply.h. */
#include "base/reply.h"

#include <string.h>

const struct hl_reply *hl_reply_item(const struct hl_reply *reply, size_t i, enum hl_reply_type type)
{
    if (reply->type != HL_REPLY_ARRAY || i >= reply->count || reply->items[i].type != type)
        return NULL;
    return &reply->items[i];
}

int hl_reply_is(const struct hl_reply *reply, const char *text)
{
    return reply->type != HL_REPLY_ERROR && hl_reply_starts(reply, text) && reply->length == strlen(text);
}

int hl_reply_starts(const struct hl_reply *reply, const char *prefix)
{
    size_t length = strlen(prefix);
    return (reply->type == HL_REPLY_STRING || reply->type == HL_REPLY_STATUS || reply->type == HL_REPLY_ERROR) &&
           reply->length >= length && memcmp(reply->bytes, prefix, length) == 0;
}

size_t hl_reply_decimal(const char *bytes, size_t length, uint64_t *ret_number)
{
    uint64_t number = 0;
    size_t i = 0;
    for (; i < length && i <= 12 && bytes[i] >= '0' && bytes[i] <= '9'; i++)
        number = number * 10 + (uint64_t)(bytes[i] - '0');
    if (i > 12)
        return 0;
    *ret_number = number;
    return i;
}

int hl_reply_has_code(const struct hl_reply *error, const char *code)
{
    char wrapped[32] = ": -";
    size_t length = strlen(code);
    if (hl_reply_starts(error, code) && (error->length == length || error->bytes[length] == ' '))
        return 1;
    strncat(wrapped, code, sizeof wrapped - 4);
    return hl_reply_starts(error, "ERR") && memmem(error->bytes, error->length, wrapped, strlen(wrapped)) != NULL;
}
