/* SPDX-License-Identifier: BSD-3-Clause */
/* answer - see answer.h. Errors are compared word for word but for NOSCRIPT, which servers of different versions put
 * differently. */
#include "answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "memory/request.h"

void answer_start(struct answer *answer)
{
    answer->length = 0;
    answer->text[0] = '\0';
}

__attribute__((format(printf, 2, 3))) static void put(struct answer *answer, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    answer->length += (size_t)vsnprintf(answer->text + answer->length, ANSWER_ROOM - answer->length, format, list);
    va_end(list);
    HL_REQUIRE(answer->length < ANSWER_ROOM);
}

void answer_add_bytes(struct answer *answer, const char *bytes, size_t length)
{
    put(answer, "\"");
    for (size_t i = 0; i < length; i++) {
        int is_plain = bytes[i] >= ' ' && bytes[i] <= '~' && bytes[i] != '"' && bytes[i] != '\\';
        put(answer, is_plain ? "%c" : "\\%02x", (unsigned char)bytes[i]);
    }
    put(answer, "\"");
}

static size_t compared(const redisReply *reply)
{
    static const char code[] = "NOSCRIPT ";
    int is_noscript = reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, code, strlen(code)) == 0;
    return is_noscript ? strlen(code) : reply->len;
}

void answer_add_real(struct answer *answer, const redisReply *reply)
{
    static const char *const types[] = {
        [REDIS_REPLY_STRING] = "", [REDIS_REPLY_STATUS] = "status ", [REDIS_REPLY_ERROR] = "error "};
    put(answer, " ");
    switch (reply->type) {
    case REDIS_REPLY_NIL:
        put(answer, "nil");
        break;
    case REDIS_REPLY_INTEGER:
        put(answer, "%lld", reply->integer);
        break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
        put(answer, "%s", types[reply->type]);
        answer_add_bytes(answer, reply->str, compared(reply));
        break;
    case REDIS_REPLY_ARRAY:
        put(answer, "[");
        for (size_t i = 0; i < reply->elements; i++)
            answer_add_real(answer, reply->element[i]);
        put(answer, " ]");
        break;
    default:
        put(answer, "(a type of RESP3)");
    }
}

/* By way of its bytes, as a client of hilock-memory gets it. */
void answer_add_sim(struct answer *answer, const struct sim_reply *reply)
{
    redisReader *reader = redisReaderCreate();
    struct sim_buffer buffer = {0};
    void *parsed = NULL;
    sim_buffer_say(&buffer, reply);
    HL_REQUIRE(reader && redisReaderFeed(reader, buffer.bytes, buffer.length) == REDIS_OK);
    HL_REQUIRE(redisReaderGetReply(reader, &parsed) == REDIS_OK && parsed);
    answer_add_real(answer, parsed);
    freeReplyObject(parsed);
    redisReaderFree(reader);
    sim_buffer_done(&buffer);
}

int answer_is(const struct answer *one, const struct answer *other)
{
    return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
}
