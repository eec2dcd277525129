/* SPDX-License-Identifier: BSD-3-Clause */
/* answer - see answer.h. Errors are compared word for word but for NOSCRIPT, which servers of different versions put
 * differently. */
#include "answer.h"

#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "memory/request.h"

void answer_start(struct answer *answer)
{
    answer->length = 0;
    answer->text[0] = '\0';
}

static void put(struct answer *answer, char c)
{
    HL_REQUIRE(answer->length + 1 < ANSWER_ROOM);
    answer->text[answer->length++] = c;
    answer->text[answer->length] = '\0';
}

static void put_text(struct answer *answer, const char *text)
{
    while (*text)
        put(answer, *text++);
}

void answer_add_bytes(struct answer *answer, const char *bytes, size_t length)
{
    put(answer, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= ' ' && c <= '~' && c != '"' && c != '\\')
            put(answer, (char)c);
        else {
            put(answer, '\\');
            put(answer, "0123456789abcdef"[c >> 4]);
            put(answer, "0123456789abcdef"[c & 15]);
        }
    }
    put(answer, '"');
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
    char digits[24];
    put(answer, ' ');
    switch (reply->type) {
    case REDIS_REPLY_NIL:
        put_text(answer, "nil");
        break;
    case REDIS_REPLY_INTEGER:
        snprintf(digits, sizeof digits, "%lld", reply->integer);
        put_text(answer, digits);
        break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
        put_text(answer, types[reply->type]);
        answer_add_bytes(answer, reply->str, compared(reply));
        break;
    case REDIS_REPLY_ARRAY:
        put(answer, '[');
        for (size_t i = 0; i < reply->elements; i++)
            answer_add_real(answer, reply->element[i]);
        put_text(answer, " ]");
        break;
    default:
        put_text(answer, "(a type of RESP3)");
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
