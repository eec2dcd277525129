/* SPDX-License-Identifier: BSD-3-Clause */
/* response - what the answers of all kinds have in common. See kind.h. */
#include "wire/kind.h"

struct hl_response hl_response_fault(const struct hl_reply *reply)
{
    if (reply->type == HL_REPLY_ERROR)
        return (struct hl_response){
            .result = HL_FAULT, .fault = hl_fault_of(reply), .quote = reply->bytes, .quote_length = reply->length};
    return (struct hl_response){.result = HL_FAULT, .fault = {HL_FAULT_LASTING, HILOCK_PROTOCOL, 0}, .quote = ""};
}

/* A key of another type is not this hold; neither is another holder's hash or string. */
struct hl_response hl_response_of_hold(const struct hl_reply *reply)
{
    if (reply->type == HL_REPLY_ERROR && hl_reply_has_code(reply, "WRONGTYPE"))
        return (struct hl_response){.result = HL_NO};
    return hl_response_fault(reply);
}

struct hl_response hl_response_late(const struct hl_reply *reply)
{
    static const size_t head = sizeof "LATE " - 1;
    uint64_t seconds, microseconds;
    size_t used = hl_reply_decimal(reply->bytes + head, reply->length - head, &seconds);
    const char *rest = reply->bytes + head + used;
    size_t left = reply->length - head - used;
    if (!used || !left || *rest != ' ' || !hl_reply_decimal(rest + 1, left - 1, &microseconds))
        return hl_response_fault(reply);
    return (struct hl_response){.result = HL_LATE, .server_us = seconds * 1000000 + microseconds};
}
