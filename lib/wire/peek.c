/* SPDX-License-Identifier: BSD-3-Clause */
/* peek - see peek.h; the heads of the scripts have their arguments and answers. */
#include "wire/peek.h"

#include <string.h>

#include "wire/keys.h"
#include "wire/scripts.h"

static const int64_t left_max = (int64_t)1 << 53; /* Lua's numbers are exact up to here */

void hl_peek(struct hl_command *command, const struct hl_kind *kind, const struct hl_target *target, uint64_t ticket)
{
    int has_queue = kind->peek == &hl_script_mutex_peek;
    hl_command_evalsha(command, kind->peek, has_queue ? 2 : 1);
    hl_command_add(command, target->name, target->name_length);
    if (!has_queue)
        return;
    hl_key_add(command, hl_key_queue, target->name, target->name_length);
    hl_command_add_number(command, ticket);
}

static struct hl_peeked fault(const struct hl_reply *reply)
{
    if (reply->type == HL_REPLY_ERROR)
        return (struct hl_peeked){
            .what = HL_PEEKED_FAULT, .fault = hl_fault_of(reply), .quote = reply->bytes, .quote_length = reply->length};
    return (struct hl_peeked){.what = HL_PEEKED_FAULT, .fault = {HL_FAULT_LASTING, HILOCK_PROTOCOL, 0}, .quote = ""};
}

static uint32_t count_of(const struct hl_reply *reply, size_t i)
{
    const struct hl_reply *count = hl_reply_item(reply, i, HL_REPLY_INTEGER);
    return count && count->integer >= 0 && count->integer <= UINT32_MAX ? (uint32_t)count->integer : 0;
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

struct hl_peeked hl_peek_said(const struct hl_reply *reply)
{
    uint32_t waiters = count_of(reply, 3), position = count_of(reply, 4);
    const struct hl_reply *left = hl_reply_item(reply, 0, HL_REPLY_INTEGER),
                          *holder = hl_reply_item(reply, 1, HL_REPLY_STRING);
    if (!left || !holder || left->integer < -2 || left->integer > left_max)
        return fault(reply);
    if (left->integer == -2)
        return (struct hl_peeked){.what = HL_PEEKED_FREE, .waiters = waiters, .position = position};
    return (struct hl_peeked){.what = HL_PEEKED_HELD,
                              .left_ms = left->integer < 0 ? 0 : (uint64_t)left->integer,
                              .has_no_ttl = left->integer < 0,
                              .holder = holder->bytes,
                              .holder_length = holder->length,
                              .found = find_of(hl_reply_item(reply, 2, HL_REPLY_STRING)),
                              .waiters = waiters,
                              .position = position};
}

int hl_peek_is_holder(const char *holder, size_t length)
{
    return length != sizeof "mode" - 1 || memcmp(holder, "mode", length) != 0;
}
