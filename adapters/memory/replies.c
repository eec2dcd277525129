/* SPDX-License-Identifier: BSD-3-Clause */
/* replies - see replies.h. */
#include "replies.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"

enum { BLOCK = 16 * 1024, ALIGN = 16 };

struct sim_block { struct sim_block *next; size_t room; _Alignas(ALIGN) char bytes[]; };

#define TEXT(kind, text) {.type = kind, .bytes = text, .length = sizeof(text) - 1}
const struct sim_reply sim_nil = {.type = SIM_REPLY_NIL}, sim_zero = {.type = SIM_REPLY_INTEGER, .integer = 0},
                       sim_one = {.type = SIM_REPLY_INTEGER, .integer = 1}, sim_ok = TEXT(SIM_REPLY_STATUS, "OK"),
                       sim_wrong_type = TEXT(SIM_REPLY_ERROR,
                                             "WRONGTYPE Operation against a key holding the wrong kind of value"),
                       sim_syntax_error = TEXT(SIM_REPLY_ERROR, "ERR syntax error"),
                       sim_not_an_integer = TEXT(SIM_REPLY_ERROR, "ERR value is not an integer or out of range");

static struct sim_block *new_block(size_t room)
{
    struct sim_block *block = malloc(sizeof *block + room);
    SIM_REQUIRE(block);
    block->next = NULL;
    block->room = room;
    return block;
}

void sim_replies_init(struct sim_replies *replies)
{
    replies->first = new_block(BLOCK);
    sim_replies_reset(replies);
}

void sim_replies_done(struct sim_replies *replies)
{
    for (struct sim_block *next, *block = replies->first; block; block = next) {
        next = block->next;
        free(block);
    }
}

struct sim_mark sim_replies_mark(const struct sim_replies *replies)
{
    return (struct sim_mark){replies->here, replies->used};
}

void sim_replies_rewind(struct sim_replies *replies, struct sim_mark mark)
{
    replies->here = mark.here;
    replies->used = mark.used;
}

void sim_replies_reset(struct sim_replies *replies)
{
    sim_replies_rewind(replies, (struct sim_mark){replies->first, 0});
}

void *sim_replies_take(struct sim_replies *replies, size_t bytes)
{
    size_t whole = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    while (replies->here->room - replies->used < whole) {
        if (!replies->here->next)
            replies->here->next = new_block(whole > BLOCK ? whole : BLOCK);
        replies->here = replies->here->next;
        replies->used = 0;
    }
    replies->used += whole;
    return replies->here->bytes + replies->used - whole;
}

static void fill(struct sim_replies *replies, struct sim_reply *reply, enum sim_reply_type type, const char *bytes,
                 size_t length)
{
    char *copy = sim_replies_take(replies, length + 1);
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    *reply = (struct sim_reply){.type = type, .bytes = copy, .length = length};
}

struct sim_reply *sim_reply(struct sim_replies *replies, enum sim_reply_type type, const char *bytes, size_t length)
{
    struct sim_reply *reply = sim_replies_take(replies, sizeof *reply);
    fill(replies, reply, type, bytes, length);
    return reply;
}

struct sim_reply *sim_reply_integer(struct sim_replies *replies, int64_t integer)
{
    struct sim_reply *reply = sim_replies_take(replies, sizeof *reply);
    *reply = (struct sim_reply){.type = SIM_REPLY_INTEGER, .integer = integer};
    return reply;
}

struct sim_reply *sim_reply_array(struct sim_replies *replies, size_t count)
{
    struct sim_reply *reply = sim_replies_take(replies, sizeof *reply * (count + 1));
    for (size_t i = 0; i < count; i++)
        reply[1 + i] = sim_nil;
    *reply = (struct sim_reply){.type = SIM_REPLY_ARRAY, .items = reply + 1, .count = count};
    return reply;
}

void sim_reply_set(const struct sim_reply *array, size_t i, struct sim_reply item)
{
    ((struct sim_reply *)array->items)[i] = item;
}

void sim_reply_put(struct sim_replies *replies, const struct sim_reply *array, size_t i, const char *bytes,
                   size_t length)
{
    fill(replies, (struct sim_reply *)&array->items[i], SIM_REPLY_STRING, bytes, length);
}

struct sim_reply *sim_reply_error(struct sim_replies *replies, const char *format, ...)
{
    char text[1024];
    va_list values;
    int length;
    va_start(values, format);
    length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (length >= (int)sizeof text)
        length = sizeof text - 1;
    return sim_reply(replies, SIM_REPLY_ERROR, text, (size_t)length);
}
