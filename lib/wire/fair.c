/* SPDX-License-Identifier: BSD-3-Clause */
/* fair - see fair.h; the scripts' heads tell their arguments and answers. */
#include "wire/fair.h"

#include <stdio.h>
#include <string.h>

#include "wire/keys.h"
#include "wire/mutex.h"
#include "wire/scripts.h"

static const uint64_t number_max = (uint64_t)1 << 53; /* Lua's numbers are exact up to here */
static const uint64_t pause_max_ms = 1000;

/* ---- what is said ---- */

static void begin(struct hl_command *command, const struct hl_script *script, const struct hl_words *words)
{
    static const char *const prefixes[] = {hl_key_queue, hl_key_waiters, hl_key_token};
    hl_command_evalsha(command, script, 4);
    hl_command_add(command, words->name, words->name_length);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        hl_key_add(command, prefixes[i], words->name, words->name_length);
}

enum hl_form hl_fair_acquire(struct hl_command *command, const struct hl_words *words, const struct hl_wants *wants)
{
    begin(command, &hl_script_fair_acquire, words);
    hl_holder_add_fair(command, words->uuid, words->id);
    hl_command_add_number(command, wants->lease_ms);
    hl_command_add_number(command, HL_FAIR_WINDOW_MS);
    hl_command_add_number(command, HL_FAIR_ALIVE_MS);
    hl_command_add_number(command, wants->number);
    hl_command_add_number(command, wants->ticket);
    hl_command_add_word(command, wants->channel);
    hl_command_add_word(command, wants->is_try ? "0" : "1");
    hl_command_add_number(command, wants->not_after_ms);
    hl_command_add_number(command, 2 * wants->token_ttl_ms);
    return HL_FORM_SCRIPT;
}

enum hl_form hl_fair_renew(struct hl_command *command, const struct hl_words *words, const struct hl_wants *wants)
{
    hl_command_evalsha(command, &hl_script_renew, 1);
    hl_command_add(command, words->name, words->name_length);
    hl_command_add_number(command, wants->lease_ms);
    hl_holder_add_fair(command, words->uuid, words->id);
    hl_command_add_number(command, wants->token);
    return HL_FORM_SCRIPT;
}

static void end_release(struct hl_command *command, const struct hl_words *words, const struct hl_wants *wants)
{
    hl_command_add_number(command, HL_FAIR_WINDOW_MS);
    hl_channel_add(command, words->name, words->name_length);
    hl_command_add_word(command, wants->is_sharded ? "SPUBLISH" : "PUBLISH");
    hl_command_add_number(command, wants->yields ? HL_FAIR_YIELD_MS : 0);
    hl_command_add_word(command, wants->is_sharded ? "SHARDNUMSUB" : wants->hears_in_part ? "" : "NUMSUB");
    hl_command_add_number(command, 2 * wants->token_ttl_ms);
}

/* While a hash slot moves, a script whose keys are not all on one side is refused, and those of the queue may be on neither. The second way of
 * saying it names one key: it frees, and the first waiter finds that by its heartbeat. */
enum hl_form hl_fair_release(struct hl_command *command, const struct hl_words *words, const struct hl_wants *wants)
{
    char *holder;
    size_t length;
    if (!wants->is_second) {
        begin(command, &hl_script_fair_release, words);
        hl_holder_add_fair(command, words->uuid, words->id);
        end_release(command, words, wants);
        return HL_FORM_SCRIPT;
    }
    hl_command_evalsha(command, &hl_script_mutex_release, 1);
    hl_command_add(command, words->name, words->name_length);
    holder = hl_command_room(command, HL_HOLDER_MAX);
    length = hl_holder_write_fair(holder, words->uuid, words->id);
    hl_command_add(command, holder, length);
    hl_channel_add(command, words->name, words->name_length);
    hl_command_add_word(command, wants->is_sharded ? "SPUBLISH" : "PUBLISH");
    return HL_FORM_NARROW;
}

void hl_fair_force(struct hl_command *command, const struct hl_words *words, const struct hl_wants *wants, const char *holder, size_t holder_length)
{
    if (wants->is_second) {
        hl_mutex_force(command, words, wants, holder, holder_length);
        return;
    }
    begin(command, &hl_script_fair_force, words);
    hl_command_add(command, holder, holder_length);
    end_release(command, words, wants);
}

/* ---- what is heard ---- */

static int number_at(const struct hl_reply *reply, size_t i, int64_t least, int64_t *ret_number)
{
    const struct hl_reply *item = hl_reply_item(reply, i, HL_REPLY_INTEGER);
    if (!item || item->integer < least || item->integer > (int64_t)number_max)
        return 0;
    *ret_number = item->integer;
    return 1;
}

/* {0, PTTL, place, ticket, hands_over, holder, length} */
static struct hl_said waits(const struct hl_reply *reply)
{
    const struct hl_reply *holder = hl_reply_item(reply, 5, HL_REPLY_STRING);
    int64_t left_ms, place, ticket, hands_over, length;
    if (!holder || !number_at(reply, 1, -1, &left_ms) || !number_at(reply, 2, 0, &place) || !number_at(reply, 3, 0, &ticket) ||
        !number_at(reply, 4, 0, &hands_over) || !number_at(reply, 6, 0, &length) || place > UINT32_MAX || length > UINT32_MAX)
        return hl_said_fault(reply);
    return (struct hl_said){.verdict = HL_NO, .left_ms = left_ms < 0 ? 0 : (uint64_t)left_ms, .has_no_ttl = left_ms < 0, .holder = holder->bytes,
                            .holder_length = holder->length, .ticket = (uint64_t)ticket, .position = (uint32_t)place, .waiters = (uint32_t)length,
                            .hands_over = hands_over != 0};
}

struct hl_said hl_fair_acquired(const struct hl_reply *reply, enum hl_form form)
{
    int64_t is_ours, token;
    (void)form;
    if (reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "LATE "))
        return hl_said_late(reply);
    if (!number_at(reply, 0, 0, &is_ours) || is_ours > 1)
        return hl_said_fault(reply);
    if (!is_ours)
        return waits(reply);
    return number_at(reply, 1, 1, &token) ? (struct hl_said){.verdict = HL_YES, .token = (uint64_t)token} : hl_said_fault(reply);
}

/* 2 is handed over. The second way of saying it is answered as a MUTEX's release, which counts listeners: they are no matter here. */
struct hl_said hl_fair_forced(const struct hl_reply *reply, enum hl_form form)
{
    struct hl_said said;
    if (reply->type == HL_REPLY_ERROR)
        return hl_reply_starts(reply, "TRYAGAIN") ? (struct hl_said){.verdict = HL_AGAIN} : hl_said_fault(reply);
    said = hl_mutex_released(reply, form);
    said.listeners = 0;
    return said;
}

/* A key of another type may be one of the queue's: the second way of saying it, which names the lock's alone, tells. */
struct hl_said hl_fair_released(const struct hl_reply *reply, enum hl_form form)
{
    if (reply->type != HL_REPLY_ERROR)
        return hl_fair_forced(reply, form);
    if (form == HL_FORM_SCRIPT && (hl_reply_starts(reply, "TRYAGAIN") || hl_reply_has_code(reply, "WRONGTYPE")))
        return (struct hl_said){.verdict = HL_AGAIN};
    return hl_said_of_hold(reply);
}

void hl_fair_channel(char to[HL_FAIR_CHANNEL_MAX], const char *uuid, const char *tag, int is_sharded)
{
    snprintf(to, HL_FAIR_CHANNEL_MAX, *tag ? "%shilock:grant:%.36s:{%.16s}" : "%shilock:grant:%.36s%s", is_sharded ? "!" : "", uuid, tag);
}

/* ---- pushes: "G <holder> <number> <ms since that heartbeat> <lease ms> <token> <name>", "F <holder> <ms>" ---- */

struct text { const char *at; size_t left; };

static int skip(struct text *text, const char *word, size_t length)
{
    if (text->left < length || memcmp(text->at, word, length) != 0)
        return 0;
    text->at += length;
    text->left -= length;
    return 1;
}

#define SKIP(text, word) skip((text), (word), sizeof(word) - 1)

static int read_number(struct text *text, uint64_t *ret_number)
{
    uint64_t number = 0;
    size_t digits = 0;
    for (; digits < text->left && digits < 17 && text->at[digits] >= '0' && text->at[digits] <= '9'; digits++)
        number = number * 10 + (uint64_t)(text->at[digits] - '0');
    text->at += digits;
    text->left -= digits;
    *ret_number = number;
    return digits > 0 && number <= number_max;
}

static int read_holder(struct text *text, const char *uuid, uint64_t *ret_id)
{
    return skip(text, uuid, HL_UUID_LENGTH) && SKIP(text, ":") && read_number(text, ret_id) && SKIP(text, ":fair ");
}

/* Below 0 the server's clock was set back meanwhile, or the grant's time was rounded down and the heartbeat's up. It took no less than no time. */
static int read_since(struct text *text, uint64_t *ret_ms)
{
    int is_below = SKIP(text, "-"), is_number = read_number(text, ret_ms);
    if (is_below)
        *ret_ms = 0;
    return is_number;
}

static int read_grant(struct text text, const char *uuid, struct hl_push *push)
{
    uint64_t since_ms, lease_ms;
    if (!SKIP(&text, "G ") || !read_holder(&text, uuid, &push->id) || !read_number(&text, &push->number) || !SKIP(&text, " ") ||
        !read_since(&text, &since_ms) || !SKIP(&text, " ") || !read_number(&text, &lease_ms) || !SKIP(&text, " ") ||
        !read_number(&text, &push->token) || !SKIP(&text, " "))
        return 0;
    push->what = HL_PUSH_GRANT;
    push->since_us = since_ms * 1000;
    push->lease_us = lease_ms * 1000;
    push->name = text.at;
    push->name_length = text.left;
    return push->token && lease_ms <= HL_FAIR_WINDOW_MS && since_ms <= (uint64_t)4 * HL_FAIR_ALIVE_MS && text.left && text.left <= HILOCK_NAME_MAX;
}

static int read_yield(struct text text, const char *uuid, struct hl_push *push)
{
    uint64_t pause_ms;
    if (!SKIP(&text, "F ") || !read_holder(&text, uuid, &push->id) || !read_number(&text, &pause_ms) || text.left || pause_ms > pause_max_ms)
        return 0;
    push->what = HL_PUSH_YIELD;
    push->pause_us = pause_ms * 1000;
    return 1;
}

struct hl_push hl_fair_heard(const struct hl_reply *message, const char *uuid)
{
    struct hl_push grant = {.what = HL_PUSH_NONSENSE}, yield = {.what = HL_PUSH_NONSENSE};
    const struct text text = {message->bytes, message->length};
    if (read_grant(text, uuid, &grant))
        return grant;
    return read_yield(text, uuid, &yield) ? yield : (struct hl_push){.what = HL_PUSH_NONSENSE};
}

const struct hl_kind hl_kind_fair = {
    .kind = HILOCK_FAIR,
    .has_queue = 1,
    .wrong_kind = "is not a lock hash: another program's key, or another kind of lock (SIMPLE, or Redisson's for readers "
                  "and writers)",
    .acquire = hl_fair_acquire,
    .renew = hl_fair_renew,
    .release = hl_fair_release,
    .acquired = hl_fair_acquired,
    .renewed = hl_mutex_renewed,
    .released = hl_fair_released,
    .peek = &hl_script_fair_peek,
    .force = hl_fair_force,
    .forced = hl_fair_forced,
};
