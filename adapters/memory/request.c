/* SPDX-License-Identifier: BSD-3-Clause */
/* request - see request.h. When more bytes of a request arrive, the request is read again from its start, because
 * requests are short. */
#include "request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "contract.h"

enum { NUMBER_MAX = 10 }; /* the most digits of a length or a count */

struct reading { const char *at, *end; };

static void add_argument(struct sim_request *request, const char *bytes, size_t length)
{
    if ((size_t)request->argc == request->room) {
        request->room = request->room ? 2 * request->room : 16;
        request->argv = realloc(request->argv, request->room * sizeof *request->argv);
        request->lengths = realloc(request->lengths, request->room * sizeof *request->lengths);
        SIM_REQUIRE(request->argv && request->lengths);
    }
    request->argv[request->argc] = bytes;
    request->lengths[request->argc++] = length;
}

/* Reads a line of a sign, digits and a line break. */
static enum sim_request_state read_number(struct reading *reading, char sign, int64_t *ret_number)
{
    const char *line = reading->at, *at = line;
    int64_t number = 0;
    int is_negative;
    if (at == reading->end)
        return SIM_REQUEST_PART;
    if (*at++ != sign)
        return SIM_REQUEST_BAD;
    is_negative = at < reading->end && *at == '-';
    at += is_negative;
    for (; at < reading->end && *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (*at - '0');
        if (at - line > NUMBER_MAX)
            return SIM_REQUEST_BAD;
    }
    if (reading->end - at < 2)
        return at < reading->end && *at != '\r' ? SIM_REQUEST_BAD : SIM_REQUEST_PART;
    if (at == line + 1 + is_negative || at[0] != '\r' || at[1] != '\n')
        return SIM_REQUEST_BAD;
    reading->at = at + 2;
    *ret_number = is_negative ? -number : number;
    return SIM_REQUEST_WHOLE;
}

static enum sim_request_state read_argument(struct sim_request *request, struct reading *reading)
{
    int64_t length;
    enum sim_request_state state = read_number(reading, '$', &length);
    if (state != SIM_REQUEST_WHOLE)
        return state;
    if (length < 0 || length > SIM_REQUEST_MAX)
        return SIM_REQUEST_BAD;
    if (reading->end - reading->at < length + 2)
        return SIM_REQUEST_PART;
    if (memcmp(reading->at + length, "\r\n", 2) != 0)
        return SIM_REQUEST_BAD;
    add_argument(request, reading->at, (size_t)length);
    reading->at += length + 2;
    return SIM_REQUEST_WHOLE;
}

static enum sim_request_state read_array(struct sim_request *request, struct reading *reading)
{
    int64_t count;
    enum sim_request_state state = read_number(reading, '*', &count);
    if (state == SIM_REQUEST_WHOLE && count > SIM_REQUEST_MAX)
        return SIM_REQUEST_BAD;
    while (state == SIM_REQUEST_WHOLE && request->argc < count)
        state = read_argument(request, reading);
    return state;
}

/* Reads a request of plain words on one line, as an operator types it. Quotes are not supported. */
static enum sim_request_state read_words(struct sim_request *request, struct reading *reading)
{
    const char *end = memchr(reading->at, '\n', (size_t)(reading->end - reading->at));
    if (!end)
        return SIM_REQUEST_PART;
    while (reading->at < end) {
        const char *word = reading->at;
        while (reading->at < end && !strchr(" \t\r", *reading->at))
            reading->at++;
        if (reading->at > word)
            add_argument(request, word, (size_t)(reading->at - word));
        else
            reading->at++;
    }
    reading->at = end + 1;
    return SIM_REQUEST_WHOLE;
}

enum sim_request_state sim_request_read(struct sim_request *request, const char *bytes, size_t length)
{
    struct reading reading = {bytes, bytes + length};
    enum sim_request_state state;
    request->argc = 0;
    if (length == 0)
        return SIM_REQUEST_PART;
    state = *bytes == '*' ? read_array(request, &reading) : read_words(request, &reading);
    request->bytes = (size_t)(reading.at - bytes);
    return state == SIM_REQUEST_PART && length >= SIM_REQUEST_MAX ? SIM_REQUEST_BAD : state;
}

void sim_request_done(struct sim_request *request)
{
    free(request->argv);
    free(request->lengths);
    *request = (struct sim_request){0};
}

/* ---- answers ---- */

void sim_buffer_add(struct sim_buffer *buffer, const void *bytes, size_t length)
{
    if (buffer->room - buffer->length < length) {
        buffer->room = 2 * (buffer->length + length);
        buffer->bytes = realloc(buffer->bytes, buffer->room);
        SIM_REQUIRE(buffer->bytes);
    }
    if (length)
        memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
}

void sim_buffer_take(struct sim_buffer *buffer, size_t length)
{
    buffer->length -= length;
    if (buffer->length)
        memmove(buffer->bytes, buffer->bytes + length, buffer->length);
}

void sim_buffer_done(struct sim_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct sim_buffer){0};
}

static void say_number(struct sim_buffer *buffer, char sign, int64_t number)
{
    char line[32];
    sim_buffer_add(buffer, line, (size_t)snprintf(line, sizeof line, "%c%" PRId64 "\r\n", sign, number));
}

/* An error may quote what a client sent, and a line break in it would end the line too early, so line breaks become
 * blanks. */
static void say_line(struct sim_buffer *buffer, char sign, const struct sim_reply *reply)
{
    size_t from = buffer->length + 1;
    sim_buffer_add(buffer, &sign, 1);
    sim_buffer_add(buffer, reply->bytes, reply->length);
    for (size_t i = from; i < buffer->length; i++)
        if (buffer->bytes[i] == '\r' || buffer->bytes[i] == '\n')
            buffer->bytes[i] = ' ';
    sim_buffer_add(buffer, "\r\n", 2);
}

void sim_buffer_say(struct sim_buffer *buffer, const struct sim_reply *reply)
{
    switch (reply->type) {
    case SIM_REPLY_NIL: say_number(buffer, '$', -1); break;
    case SIM_REPLY_INTEGER: say_number(buffer, ':', reply->integer); break;
    case SIM_REPLY_STATUS: say_line(buffer, '+', reply); break;
    case SIM_REPLY_ERROR: say_line(buffer, '-', reply); break;
    case SIM_REPLY_STRING:
        say_number(buffer, '$', (int64_t)reply->length);
        sim_buffer_add(buffer, reply->bytes, reply->length);
        sim_buffer_add(buffer, "\r\n", 2);
        break;
    case SIM_REPLY_ARRAY:
        say_number(buffer, '*', (int64_t)reply->count);
        for (size_t i = 0; i < reply->count; i++)
            sim_buffer_say(buffer, &reply->items[i]);
        break;
    }
}
