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

struct hl_response hl_response_renewed(const struct hl_reply *reply, enum hl_form form)
{
    (void)form;
    if (reply->type != HL_REPLY_INTEGER || reply->integer < 0 || reply->integer > HL_NUMBER_MAX)
        return hl_response_of_hold(reply);
    return (struct hl_response){.result = reply->integer ? HL_YES : HL_NO,
                                .left_ms = reply->integer ? (uint64_t)reply->integer - 1 : 0};
}

int hl_response_number(const struct hl_reply *reply, size_t i, int64_t least, int64_t *ret_number)
{
    const struct hl_reply *item = hl_reply_item(reply, i, HL_REPLY_INTEGER);
    if (!item || item->integer < least || item->integer > HL_NUMBER_MAX)
        return 0;
    *ret_number = item->integer;
    return 1;
}

/* A SIMPLE lock needs no remark: it should be a string. */
static enum hl_find find_of(const struct hl_reply *what)
{
    static const char *const words[] = {[HL_FIND_OURS] = "mutex", [HL_FIND_RLOCK] = "rlock", [HL_FIND_READ] = "read",
                                        [HL_FIND_WRITE] = "write"};
    for (unsigned find = 0; what && find < sizeof words / sizeof *words; find++)
        if (hl_reply_is(what, words[find]))
            return (enum hl_find)find;
    return what ? HL_FIND_OTHER : HL_FIND_OURS;
}

static uint32_t count_at(const struct hl_reply *reply, size_t i)
{
    int64_t count;
    return hl_response_number(reply, i, 0, &count) && count <= UINT32_MAX ? (uint32_t)count : 0;
}

struct hl_response hl_response_peeked(const struct hl_reply *reply, enum hl_form form)
{
    const struct hl_reply *holder = hl_reply_item(reply, 1, HL_REPLY_STRING);
    int64_t left;
    (void)form;
    if (!holder || !hl_response_number(reply, 0, -2, &left))
        return hl_response_fault(reply);
    if (left == -2)
        return (struct hl_response){.result = HL_YES, .waiters = count_at(reply, 3), .position = count_at(reply, 4)};
    return (struct hl_response){.result = HL_NO,
                                .found = find_of(hl_reply_item(reply, 2, HL_REPLY_STRING)),
                                .left_ms = left < 0 ? 0 : (uint64_t)left,
                                .has_no_ttl = left < 0,
                                .holder = holder->bytes,
                                .holder_length = holder->length,
                                .waiters = count_at(reply, 3),
                                .position = count_at(reply, 4)};
}
