/* SPDX-License-Identifier: BSD-3-Clause */
/* mutex - see mutex.h; the scripts' heads tell their arguments and answers. */
#include "wire/mutex.h"

#include "base/plant.h"
#include "wire/fair.h"
#include "wire/keys.h"
#include "wire/scripts.h"

static const uint64_t token_max = (uint64_t)1 << 53; /* Lua's numbers are exact up to here */

enum hl_form hl_mutex_acquire(struct hl_command *command, const struct hl_words *words, const struct hl_wants *wants)
{
    hl_command_evalsha(command, &hl_script_mutex_acquire, 2);
    hl_command_add(command, words->name, words->name_length);
    hl_key_add(command, hl_key_token, words->name, words->name_length);
    hl_command_add_number(command, wants->lease_ms);
    hl_holder_add(command, words->uuid, words->id);
    hl_command_add_number(command, wants->reserved);
    hl_command_add_number(command, wants->not_after_ms);
    hl_command_add_number(command, wants->token_ttl_ms);
    return HL_FORM_SCRIPT;
}

enum hl_form hl_mutex_renew(struct hl_command *command, const struct hl_words *words, const struct hl_wants *wants)
{
    hl_command_evalsha(command, &hl_script_renew, 1);
    hl_command_add(command, words->name, words->name_length);
    hl_command_add_number(command, wants->lease_ms);
    hl_holder_add(command, words->uuid, words->id);
    hl_command_add_number(command, wants->token);
    return HL_FORM_SCRIPT;
}

enum hl_form hl_mutex_release(struct hl_command *command, const struct hl_words *words, const struct hl_wants *wants)
{
    (void)wants;
    hl_command_evalsha(command, &hl_script_mutex_release, 1);
    hl_command_add(command, words->name, words->name_length);
    hl_holder_add(command, words->uuid, words->id);
    hl_channel_add(command, words->name, words->name_length);
    hl_command_add_word(command, wants->is_sharded ? "SPUBLISH" : "PUBLISH");
    return HL_FORM_SCRIPT;
}

struct hl_said hl_mutex_acquired(const struct hl_reply *reply, enum hl_form form)
{
    const struct hl_reply *code = hl_reply_item(reply, 0, HL_REPLY_INTEGER), *holder = hl_reply_item(reply, 1, HL_REPLY_STRING);
    (void)form;
    if (reply->type == HL_REPLY_INTEGER && reply->integer > 0 && (uint64_t)reply->integer <= token_max)
        return (struct hl_said){.verdict = HL_YES, .token = (uint64_t)reply->integer};
    if (code && holder && code->integer <= 0 && code->integer >= -(int64_t)token_max)
        return (struct hl_said){.verdict = HL_NO, .left_ms = code->integer < 0 ? (uint64_t)(-1 - code->integer) : 0,
                                .has_no_ttl = code->integer == 0, .holder = holder->bytes, .holder_length = holder->length};
    if (reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "LATE "))
        return hl_said_late(reply);
    return hl_said_fault(reply);
}

struct hl_said hl_mutex_renewed(const struct hl_reply *reply, enum hl_form form)
{
    (void)form;
    if (reply->type != HL_REPLY_INTEGER || reply->integer < 0 || (uint64_t)reply->integer > token_max)
        return hl_said_of_hold(reply);
    return (struct hl_said){.verdict = reply->integer ? HL_YES : HL_NO, .left_ms = reply->integer ? (uint64_t)reply->integer - 1 : 0};
}

struct hl_said hl_mutex_released(const struct hl_reply *reply, enum hl_form form)
{
    (void)form;
    if (reply->type != HL_REPLY_INTEGER || reply->integer < -1 || (reply->integer > 0 && (uint64_t)reply->integer > token_max))
        return hl_said_of_hold(reply);
    return (struct hl_said){.verdict = reply->integer ? HL_YES : HL_NO, .was_unheard = reply->integer < 0,
                            .listeners = reply->integer > 0 ? (uint64_t)reply->integer - 1 : 0};
}

/* A holder of kind FAIR is followed by the first of its queue, if that can be said. */
void hl_mutex_force(struct hl_command *command, const struct hl_words *words, const struct hl_wants *wants, const char *holder, size_t holder_length)
{
    if (hl_holder_is_fair(holder, holder_length) && !wants->is_second) {
        hl_fair_force(command, words, wants, holder, holder_length);
        return;
    }
    hl_command_evalsha(command, HL_PLANTED(FORCE_UNCHECKED) ? &hl_script_mutex_release : &hl_script_mutex_force, 1);
    hl_command_add(command, words->name, words->name_length);
    hl_command_add(command, holder, holder_length);
    hl_channel_add(command, words->name, words->name_length);
    hl_command_add_word(command, wants->is_sharded ? "SPUBLISH" : "PUBLISH");
}

const struct hl_kind hl_kind_mutex = {
    .kind = HILOCK_MUTEX,
    .hands_on = 1,
    .wrong_kind = "is not a lock hash: another program's key, or another kind of lock (SIMPLE, or Redisson's for readers "
                  "and writers)",
    .acquire = hl_mutex_acquire,
    .renew = hl_mutex_renew,
    .release = hl_mutex_release,
    .acquired = hl_mutex_acquired,
    .renewed = hl_mutex_renewed,
    .released = hl_mutex_released,
    .peek = &hl_script_mutex_peek,
    .force = hl_mutex_force,
    .forced = hl_fair_forced,
};
