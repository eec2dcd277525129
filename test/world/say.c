/* SPDX-License-Identifier: BSD-3-Clause */
/* say - see say.h. */
#include "world/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "memory/reply.h"

static struct hl_reply *make(enum hl_reply_type type)
{
    struct hl_reply *reply = calloc(1, sizeof *reply);
    if (!reply)
        abort();
    reply->type = type;
    reply->bytes = "";
    return reply;
}

static char *copy(const char *bytes, size_t length)
{
    char *to = malloc(length + !length);
    if (!to)
        abort();
    if (length)
        memcpy(to, bytes, length);
    return to;
}

static struct hl_reply *make_bytes(enum hl_reply_type type, const char *bytes, size_t length)
{
    struct hl_reply *reply = make(type);
    reply->bytes = copy(bytes, length);
    reply->length = length;
    return reply;
}

static int has_bytes(const struct hl_reply *reply)
{
    return reply->type == HL_REPLY_STRING || reply->type == HL_REPLY_STATUS || reply->type == HL_REPLY_ERROR;
}

struct hl_reply *say_nil(void) { return make(HL_REPLY_NIL); }

struct hl_reply *say_integer(int64_t integer)
{
    struct hl_reply *reply = make(HL_REPLY_INTEGER);
    reply->integer = integer;
    return reply;
}

struct hl_reply *say_bytes(const char *bytes, size_t length) { return make_bytes(HL_REPLY_STRING, bytes, length); }
struct hl_reply *say_string(const char *text) { return say_bytes(text, strlen(text)); }
struct hl_reply *say_status(const char *text) { return make_bytes(HL_REPLY_STATUS, text, strlen(text)); }

struct hl_reply *say_error(const char *format, ...)
{
    char text[512];
    struct hl_reply *reply;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    reply = make_bytes(HL_REPLY_ERROR, text, strlen(text));
    explicit_bzero(text, sizeof text); /* it may say a password, which would lie in a later frame of the library's */
    return reply;
}

struct hl_reply *say_longer(struct hl_reply *array, struct hl_reply *item)
{
    struct hl_reply *items = realloc((void *)(uintptr_t)array->items, (array->count + 1) * sizeof *items);
    if (!items)
        abort();
    items[array->count++] = *item;
    array->items = items;
    free(item);
    return array;
}

struct hl_reply *say_array(size_t count, ...)
{
    struct hl_reply *reply = make(HL_REPLY_ARRAY);
    va_list list;
    va_start(list, count);
    for (size_t i = 0; i < count; i++)
        say_longer(reply, va_arg(list, struct hl_reply *));
    va_end(list);
    return reply;
}

struct hl_reply *say_again(const struct hl_reply *reply)
{
    struct hl_reply *again = has_bytes(reply) ? make_bytes(reply->type, reply->bytes, reply->length) : make(reply->type);
    again->integer = reply->integer;
    for (size_t i = 0; reply->type == HL_REPLY_ARRAY && i < reply->count; i++)
        say_longer(again, say_again(&reply->items[i]));
    return again;
}

struct hl_reply *say_stored(const struct sim_reply *reply)
{
    static const enum hl_reply_type types[] = {[SIM_REPLY_NIL] = HL_REPLY_NIL,       [SIM_REPLY_INTEGER] = HL_REPLY_INTEGER,
                                               [SIM_REPLY_STRING] = HL_REPLY_STRING, [SIM_REPLY_STATUS] = HL_REPLY_STATUS,
                                               [SIM_REPLY_ERROR] = HL_REPLY_ERROR,   [SIM_REPLY_ARRAY] = HL_REPLY_ARRAY};
    const struct hl_reply flat = {.type = types[reply->type], .integer = reply->integer, .bytes = reply->bytes, .length = reply->length};
    struct hl_reply *again = say_again(&flat);
    for (size_t i = 0; reply->type == SIM_REPLY_ARRAY && i < reply->count; i++)
        say_longer(again, say_stored(&reply->items[i]));
    return again;
}

static void clear(struct hl_reply *reply)
{
    if (has_bytes(reply))
        free((void *)(uintptr_t)reply->bytes);
    if (reply->type != HL_REPLY_ARRAY)
        return;
    for (size_t i = 0; i < reply->count; i++)
        clear((struct hl_reply *)(uintptr_t)&reply->items[i]);
    free((void *)(uintptr_t)reply->items);
}

void say_free(struct hl_reply *reply)
{
    if (!reply)
        return;
    clear(reply);
    free(reply);
}

const char *say_request(const struct hl_command *command)
{
    static char text[8192];
    size_t used = 0;
    for (int i = 0; i < command->argc; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s", i ? "|" : "", (int)command->lengths[i], command->argv[i]);
    return text;
}
