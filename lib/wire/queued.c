/* SPDX-License-Identifier: BSD-3-Clause */
/* queued - see queued.h; the scripts' heads have their arguments and answers. */
#include "wire/queued.h"

#include <stdio.h>

#include "base/plant.h"
#include "wire/holder.h"
#include "wire/keys.h"
#include "wire/scripts.h"

/* ---- what is said ---- */

static void begin(struct hl_command *command, const struct hl_script *script, unsigned keys,
                  const struct hl_target *target)
{
    static const char *const others[] = {hl_key_queue, hl_key_token};
    hl_command_evalsha(command, script, keys);
    hl_command_add(command, target->name, target->name_length);
    for (size_t i = 0; i + 1 < keys; i++) {
        char *key = hl_command_room(command, target->name_length + HL_KEY_PREFIX_MAX);
        hl_command_add(command, key, hl_key_write(key, others[i], target->name, target->name_length));
    }
}

/* Several terms go into one argument, the last: each argument costs the server as much as half a command. */
static void begin_terms(struct hl_command *command) { hl_command_add(command, hl_command_room(command, 0), 0); }

static void add_bytes(struct hl_command *command, const char *bytes, size_t length)
{
    memcpy(hl_command_room(command, length), bytes, length);
    command->lengths[command->argc - 1] += length;
}

static void add_text(struct hl_command *command, const char *text) { add_bytes(command, text, strlen(text)); }

static void add_number(struct hl_command *command, const char *before, uint64_t number)
{
    char digits[HL_DECIMAL_MAX];
    add_text(command, before);
    add_bytes(command, digits, hl_command_decimal(digits, number));
}

static void add_ticket(struct hl_command *command, uint64_t ticket)
{
    if (ticket == HL_TICKET_UNKNOWN)
        add_text(command, " ?");
    else
        add_number(command, " ", ticket);
}

/* All of a place but its holder in front and the time behind. */
static void add_place(struct hl_command *command, const struct hl_params *params)
{
    add_text(command, " ");
    add_text(command, *params->channel ? params->channel : "-");
    add_number(command, " ", params->lease_ms < HL_FAIR_WINDOW_MS ? params->lease_ms : HL_FAIR_WINDOW_MS);
    add_number(command, " ", params->reserved);
    add_number(command, " ", params->number);
}

/* The server compares sixteen digits of not_after, which last until the year 2286. */
enum hl_form hl_queued_acquire(struct hl_command *command, const struct hl_target *target,
                               const struct hl_params *params)
{
    static const uint64_t never_us = 9999999999999999;
    int is_limited = params->not_after_ms && params->not_after_ms < never_us / 1000;
    uint64_t not_after_us = is_limited ? params->not_after_ms * 1000 : never_us;
    char digits[HL_DECIMAL_MAX];
    begin(command, &hl_script_mutex_acquire, 3, target);
    hl_holder_add(command, target->uuid, target->id, target->label);
    hl_command_add_number(command, params->lease_ms);
    begin_terms(command);
    add_number(command, &"0000000000000000"[hl_command_decimal(digits, not_after_us)], not_after_us);
    if (!params->channel)
        add_text(command, " *");
    else if (!params->is_try) {
        add_ticket(command, params->ticket);
        add_place(command, params);
    }
    hl_command_add_number(command, params->token_ttl_ms * 1000 + params->reserved);
    return HL_FORM_SCRIPT;
}

enum hl_form hl_queued_renew(struct hl_command *command, const struct hl_target *target, const struct hl_params *params)
{
    begin(command, &hl_script_renew, 1, target);
    hl_command_add_number(command, params->lease_ms);
    hl_holder_add(command, target->uuid, target->id, target->label);
    hl_command_add_number(command, params->token);
    return HL_FORM_SCRIPT;
}

/* The channel of releases, and how to publish there. */
static void add_channel(struct hl_command *command, const struct hl_target *target, const struct hl_params *params)
{
    char *channel = hl_command_room(command, target->name_length + HL_KEY_PREFIX_MAX);
    hl_command_add(command, channel, hl_key_write(channel, hl_key_channel, target->name, target->name_length));
    hl_command_add_word(command, params->is_sharded ? "SPUBLISH" : "PUBLISH");
}

static enum hl_form force(struct hl_command *command, const struct hl_target *target, const struct hl_params *params)
{
    begin(command, HL_PLANTED(FORCE_UNCHECKED) ? &hl_script_free : &hl_script_mutex_force,
          params->is_second || HL_PLANTED(FORCE_UNCHECKED) ? 1 : 2, target);
    hl_command_add(command, params->holder, params->holder_length);
    add_channel(command, target, params);
    return HL_FORM_FORCED;
}

/* While a hash slot moves, the server refuses a script whose keys are not all on one side, and keys of the queue may be
 * on neither. The second form names one key: it frees the name, and the first waiter's heartbeat finds it free. */
enum hl_form hl_queued_release(struct hl_command *command, const struct hl_target *target,
                               const struct hl_params *params)
{
    char next[HL_HOLDER_MAX];
    if (params->holder)
        return force(command, target, params);
    begin(command, params->is_second ? &hl_script_free : &hl_script_mutex_release, params->is_second ? 1 : 3, target);
    hl_holder_add(command, target->uuid, target->id, target->label);
    if (params->is_second) {
        add_channel(command, target, params);
        return HL_FORM_NARROW;
    }
    begin_terms(command);
    add_number(command, params->is_sharded ? "S" : "", params->own);
    add_ticket(command, params->ticket);
    add_number(command, " ", params->token_ttl_ms);
    if (!params->next_id)
        return HL_FORM_SCRIPT;
    add_number(command, " ", params->lease_ms);
    begin_terms(command);
    add_bytes(command, next, hl_holder_write(next, target->uuid, params->next_id, target->label));
    add_place(command, params);
    return HL_FORM_NEXT;
}

enum hl_form hl_queued_peek(struct hl_command *command, const struct hl_target *target, const struct hl_params *params)
{
    begin(command, &hl_script_mutex_peek, 2, target);
    hl_command_add_number(command, params->ticket);
    return HL_FORM_SCRIPT;
}

/* ---- what is heard ---- */

/* {-1 - PTTL, holder, hands_over, place, ticket, length[, heir]}. 1: no holder; left to others for hands_over ms. */
static struct hl_response waits(const struct hl_reply *reply)
{
    const struct hl_reply *holder = hl_reply_item(reply, 1, HL_REPLY_STRING);
    const struct hl_reply *heir = hl_reply_item(reply, 6, HL_REPLY_STRING);
    int64_t code, hands_over, place, ticket, length;
    if (!holder || !hl_response_number(reply, 0, -HL_NUMBER_MAX, &code) ||
        !hl_response_number(reply, 2, 0, &hands_over) || !hl_response_number(reply, 3, 0, &place) ||
        !hl_response_number(reply, 4, 0, &ticket) || !hl_response_number(reply, 5, 0, &length) || code > 1 ||
        place > UINT32_MAX || length > UINT32_MAX)
        return hl_response_fault(reply);
    return (struct hl_response){.result = HL_NO,
                            .left_ms = code > 0 ? (uint64_t)hands_over : code < 0 ? (uint64_t)(-1 - code) : 0,
                            .has_no_ttl = code == 0, .holder = holder->bytes, .holder_length = holder->length,
                            .ticket = (uint64_t)ticket, .position = (uint32_t)place, .waiters = (uint32_t)length,
                            .hands_over = code > 0 || hands_over != 0,
                            .heir = heir && heir->length <= HL_HEIR_MAX ? heir->bytes : NULL,
                            .heir_length = heir ? heir->length : 0};
}

/* Reads a token, "LATE seconds microseconds", or the holder. */
struct hl_response hl_queued_acquired(const struct hl_reply *reply, enum hl_form form)
{
    static const char head[] = "LATE ";
    size_t used = sizeof head - 1;
    uint64_t seconds, microseconds;
    (void)form;
    if (reply->type == HL_REPLY_INTEGER && reply->integer > 0 && reply->integer <= HL_NUMBER_MAX)
        return (struct hl_response){.result = HL_YES, .token = (uint64_t)reply->integer};
    if (reply->type != HL_REPLY_ERROR || !hl_reply_starts(reply, head))
        return waits(reply);
    used += hl_reply_decimal(reply->bytes + used, reply->length - used, &seconds);
    if (used == sizeof head - 1 || used == reply->length || reply->bytes[used++] != ' ' ||
        !hl_reply_decimal(reply->bytes + used, reply->length - used, &microseconds))
        return hl_response_fault(reply);
    return (struct hl_response){.result = HL_LATE, .server_us = seconds * 1000000 + microseconds};
}

int hl_queued_next(const struct hl_reply *reply, struct hl_reply *ret_next)
{
    if (reply->type != HL_REPLY_ARRAY || reply->count < 2)
        return 0;
    *ret_next = reply->items[1];
    if (reply->count > 2)
        *ret_next = (struct hl_reply){.type = HL_REPLY_ARRAY, .items = reply->items + 1, .count = reply->count - 1};
    return 1;
}

/* Below -1 the name was handed over: no message was published. The key of another type may be one of the queue's; the
 * second form, which names the lock's key alone, decides. */
struct hl_response hl_queued_released(const struct hl_reply *reply, enum hl_form form)
{
    struct hl_reply next;
    if (form == HL_FORM_NEXT && hl_queued_next(reply, &next))
        reply = &reply->items[0];
    if (reply->type == HL_REPLY_INTEGER && reply->integer >= -HL_NUMBER_MAX && reply->integer <= HL_NUMBER_MAX)
        return (struct hl_response){.result = reply->integer ? HL_YES : HL_NO, .was_unheard = reply->integer == -1};
    if (form != HL_FORM_NARROW && reply->type == HL_REPLY_ERROR &&
        (hl_reply_starts(reply, "TRYAGAIN") || (form != HL_FORM_FORCED && hl_reply_has_code(reply, "WRONGTYPE"))))
        return (struct hl_response){.result = HL_AGAIN, .is_for_now = hl_reply_starts(reply, "TRYAGAIN")};
    return hl_response_of_hold(reply, form);
}

void hl_queued_channel(char to[HL_FAIR_CHANNEL_MAX], const char *uuid, const char *tag, int is_sharded)
{
    snprintf(to, HL_FAIR_CHANNEL_MAX, *tag ? "%shilock:grant:%.36s:{%.16s}" : "%shilock:grant:%.36s%s",
             is_sharded ? "!" : "", uuid, tag);
}

/* ---- pushes: "G <member> <token> <seconds> <microseconds> <name>", "F <holder> <ms>"
 * member: "<holder> <channel> <window_ms> <reserved> <number> <asked_us>", as the heartbeat left it ---- */

struct text { const char *at; size_t length; };

/* Up to the next space, which is skipped. 0: there is none, or nothing in front of it. */
static int take_word(struct text *text, struct text *ret_word)
{
    const char *end = memchr(text->at, ' ', text->length);
    *ret_word = (struct text){text->at, end ? (size_t)(end - text->at) : 0};
    if (!ret_word->length)
        return 0;
    text->at += ret_word->length + 1;
    text->length -= ret_word->length + 1;
    return 1;
}

/* All of it is one. */
static int is_number(struct text text, uint64_t *ret_number)
{
    *ret_number = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (i == 17 || text.at[i] < '0' || text.at[i] > '9')
            return 0;
        *ret_number = *ret_number * 10 + (uint64_t)(text.at[i] - '0');
    }
    return text.length && *ret_number <= HL_NUMBER_MAX;
}

/* With or without a label. */
static int is_holder(struct text text, const char *uuid, uint64_t *ret_id)
{
    const char *id = text.at + HL_UUID_LENGTH + 1, *end = text.at + text.length, *colon;
    if (text.length <= HL_UUID_LENGTH || memcmp(text.at, uuid, HL_UUID_LENGTH) != 0 || id[-1] != ':')
        return 0;
    colon = memchr(id, ':', (size_t)(end - id));
    return (!colon || colon + 1 < end) &&
           is_number((struct text){id, (size_t)((colon ? colon : end) - id)}, ret_id);
}

enum { WINDOW, RESERVED, NUMBER, ASKED, TOKEN, SECONDS, MICROSECONDS, NUMBERS };

struct hl_push hl_queued_heard(const struct hl_reply *message, const char *uuid)
{
    const struct hl_push nonsense = {.what = HL_PUSH_NONSENSE};
    struct text text = {message->bytes, message->length}, word;
    uint64_t id, pause_ms, granted_us, numbers[NUMBERS];
    int is_grant = text.length && *text.at == 'G', is_good;
    if (!take_word(&text, &word) || word.length != 1 || (!is_grant && *word.at != 'F') || !take_word(&text, &word) ||
        !is_holder(word, uuid, &id))
        return nonsense;
    if (!is_grant)
        return is_number(text, &pause_ms) && pause_ms <= HL_FAIR_YIELD_MAX_MS
                   ? (struct hl_push){.what = HL_PUSH_YIELD, .id = id, .pause_us = pause_ms * 1000} : nonsense;
    is_good = take_word(&text, &word); /* the channel */
    for (int i = 0; is_good && i < NUMBERS; i++)
        is_good = take_word(&text, &word) && is_number(word, &numbers[i]);
    if (!is_good || !text.length || text.length > HILOCK_NAME_MAX || !numbers[TOKEN] ||
        numbers[WINDOW] > HL_FAIR_WINDOW_MS || numbers[SECONDS] > HL_NUMBER_MAX / 1000000 ||
        numbers[MICROSECONDS] > 999999)
        return nonsense;
    granted_us = numbers[SECONDS] * 1000000 + numbers[MICROSECONDS];
    return (struct hl_push){.what = HL_PUSH_GRANT, .id = id, .number = numbers[NUMBER],
                            .since_us = granted_us >= numbers[ASKED] ? granted_us - numbers[ASKED] : UINT64_MAX,
                            .lease_us = numbers[WINDOW] * 1000, .token = numbers[TOKEN],
                            .name = text.at, .name_length = text.length};
}

#define WORDS \
    .wrong_kind = "is not a lock hash: another program's key, or another kind of lock (SIMPLE, or Redisson's for " \
                  "readers and writers)", \
    .acquire = hl_queued_acquire, .renew = hl_queued_renew, .release = hl_queued_release, \
    .acquired = hl_queued_acquired, .renewed = hl_response_renewed, .released = hl_queued_released, \
    .peek = hl_queued_peek

const struct hl_kind hl_queued_mutex = {.kind = HILOCK_MUTEX, .has_queue = 1, .hands_on = 1, WORDS};
const struct hl_kind hl_queued_fair = {.kind = HILOCK_FAIR, .has_queue = 1, .place_each = 1, WORDS};
