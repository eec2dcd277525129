/* SPDX-License-Identifier: BSD-3-Clause */
/* reply - see reply.h. */
#include "reply.h"

#include <string.h>

int sim_reply_starts(const struct sim_reply *reply, const char *prefix)
{
    size_t length = strlen(prefix);
    int has_bytes = reply->type == SIM_REPLY_STRING || reply->type == SIM_REPLY_STATUS ||
                    reply->type == SIM_REPLY_ERROR;
    return has_bytes && reply->length >= length && memcmp(reply->bytes, prefix, length) == 0;
}

int sim_reply_is(const struct sim_reply *reply, const char *text)
{
    return reply->type != SIM_REPLY_ERROR && sim_reply_starts(reply, text) && reply->length == strlen(text);
}
