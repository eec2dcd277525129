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
    size_t length = strlen(text);
    return (reply->type == HL_REPLY_STRING || reply->type == HL_REPLY_STATUS) && reply->length == length &&
           memcmp(reply->bytes, text, length) == 0;
}

int hl_reply_starts(const struct hl_reply *reply, const char *prefix)
{
    size_t length = strlen(prefix);
    return (reply->type == HL_REPLY_STRING || reply->type == HL_REPLY_STATUS || reply->type == HL_REPLY_ERROR) &&
           reply->length >= length && memcmp(reply->bytes, prefix, length) == 0;
}
