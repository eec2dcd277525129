/* SPDX-License-Identifier: BSD-3-Clause */
/* kind - what the kinds have in common. */
#include "wire/kind.h"

struct hl_said hl_said_fault(const struct hl_reply *reply)
{
    if (reply->type == HL_REPLY_ERROR)
        return (struct hl_said){.verdict = HL_FAULT, .fault = hl_fault_of(reply), .quote = reply->bytes, .quote_length = reply->length};
    return (struct hl_said){.verdict = HL_FAULT, .fault = {HL_FAULT_LASTING, HILOCK_PROTOCOL, 0}, .quote = ""};
}
