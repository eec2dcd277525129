/* SPDX-License-Identifier: BSD-3-Clause */
/* peek - see peek.h; the scripts' heads tell their arguments and answers. */
#include "wire/peek.h"

#include <string.h>

static const int64_t left_max = (int64_t)1 << 53; /* Lua's numbers are exact up to here */

void hl_peek(struct hl_command *command, const struct hl_kind *kind, const char *name, size_t name_length)
{
    hl_command_evalsha(command, kind->peek, 1);
    hl_command_add(command, name, name_length);
}

static struct hl_peeked fault(const struct hl_reply *reply)
{
    if (reply->type == HL_REPLY_ERROR)
        return (struct hl_peeked){.what = HL_PEEKED_FAULT, .fault = hl_fault_of(reply), .quote = reply->bytes, .quote_length = reply->length};
    return (struct hl_peeked){.what = HL_PEEKED_FAULT, .fault = {HL_FAULT_LASTING, HILOCK_PROTOCOL, 0}, .quote = ""};
}

struct hl_peeked hl_peek_said(const struct hl_reply *reply)
{
    const struct hl_reply *left = hl_reply_item(reply, 0, HL_REPLY_INTEGER), *holder = hl_reply_item(reply, 1, HL_REPLY_STRING);
    if (!left || !holder || left->integer < -2 || left->integer > left_max)
        return fault(reply);
    if (left->integer == -2)
        return (struct hl_peeked){.what = HL_PEEKED_FREE};
    return (struct hl_peeked){.what = HL_PEEKED_HELD, .left_ms = left->integer < 0 ? 0 : (uint64_t)left->integer, .has_no_ttl = left->integer < 0,
                              .holder = holder->bytes, .holder_length = holder->length};
}

int hl_peek_is_holder(const char *holder, size_t length) { return length != sizeof "mode" - 1 || memcmp(holder, "mode", length) != 0; }
