/* SPDX-License-Identifier: BSD-3-Clause */
/* mutex - see mutex.h; the scripts' heads tell their arguments and answers. */
#include "wire/mutex.h"

#include "wire/keys.h"
#include "wire/scripts.h"

static const uint64_t token_max = (uint64_t)1 << 53; /* Lua's numbers are exact up to here */

void hl_mutex_acquire(struct hl_command *command, const struct hl_words *words, const struct hl_mutex_terms *terms)
{
    hl_command_evalsha(command, &hl_script_mutex_acquire, 2);
    hl_command_add(command, words->name, words->name_length);
    hl_key_add(command, hl_key_token, words->name, words->name_length);
    hl_command_add_number(command, terms->lease_ms);
    hl_holder_add(command, words->uuid, words->id);
    hl_command_add_number(command, terms->reserved);
    hl_command_add_number(command, terms->not_after_ms);
    hl_command_add_number(command, terms->token_ttl_ms);
}

void hl_mutex_renew(struct hl_command *command, const struct hl_words *words, uint64_t lease_ms, uint64_t token)
{
    hl_command_evalsha(command, &hl_script_renew, 1);
    hl_command_add(command, words->name, words->name_length);
    hl_command_add_number(command, lease_ms);
    hl_holder_add(command, words->uuid, words->id);
    hl_command_add_number(command, token);
}

void hl_mutex_release(struct hl_command *command, const struct hl_words *words)
{
    hl_command_evalsha(command, &hl_script_mutex_release, 1);
    hl_command_add(command, words->name, words->name_length);
    hl_holder_add(command, words->uuid, words->id);
    hl_key_add(command, hl_key_channel, words->name, words->name_length);
    hl_command_add_word(command, "PUBLISH");
}

static struct hl_said fault(const struct hl_reply *reply)
{
    if (reply->type == HL_REPLY_ERROR)
        return (struct hl_said){.verdict = HL_FAULT, .fault = hl_fault_of(reply), .quote = reply->bytes, .quote_length = reply->length};
    return (struct hl_said){.verdict = HL_FAULT, .fault = {HL_FAULT_LASTING, HILOCK_PROTOCOL, 0}, .quote = ""};
}

static struct hl_said late(const struct hl_reply *reply)
{
    static const size_t head = sizeof "LATE " - 1;
    uint64_t seconds, microseconds;
    size_t used = hl_reply_decimal(reply->bytes + head, reply->length - head, &seconds);
    const char *rest = reply->bytes + head + used;
    size_t left = reply->length - head - used;
    if (!used || !left || *rest != ' ' || !hl_reply_decimal(rest + 1, left - 1, &microseconds))
        return fault(reply);
    return (struct hl_said){.verdict = HL_LATE, .server_us = seconds * 1000000 + microseconds};
}

struct hl_said hl_mutex_acquire_said(const struct hl_reply *reply)
{
    const struct hl_reply *code = hl_reply_item(reply, 0, HL_REPLY_INTEGER), *holder = hl_reply_item(reply, 1, HL_REPLY_STRING);
    if (reply->type == HL_REPLY_INTEGER && reply->integer > 0 && (uint64_t)reply->integer <= token_max)
        return (struct hl_said){.verdict = HL_YES, .token = (uint64_t)reply->integer};
    if (code && holder && code->integer <= 0 && code->integer >= -(int64_t)token_max)
        return (struct hl_said){.verdict = HL_NO, .left_ms = code->integer < 0 ? (uint64_t)(-1 - code->integer) : 0,
                                .has_no_ttl = code->integer == 0, .holder = holder->bytes, .holder_length = holder->length};
    if (reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "LATE "))
        return late(reply);
    return fault(reply);
}

struct hl_said hl_mutex_renew_said(const struct hl_reply *reply)
{
    if (reply->type != HL_REPLY_INTEGER || reply->integer < 0 || (uint64_t)reply->integer > token_max)
        return fault(reply);
    return (struct hl_said){.verdict = reply->integer ? HL_YES : HL_NO, .left_ms = reply->integer ? (uint64_t)reply->integer - 1 : 0};
}

struct hl_said hl_mutex_release_said(const struct hl_reply *reply)
{
    if (reply->type != HL_REPLY_INTEGER || reply->integer < -1 || (reply->integer > 0 && (uint64_t)reply->integer > token_max))
        return fault(reply);
    return (struct hl_said){.verdict = reply->integer ? HL_YES : HL_NO, .was_unheard = reply->integer < 0,
                            .listeners = reply->integer > 0 ? (uint64_t)reply->integer - 1 : 0};
}
