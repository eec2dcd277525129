/* SPDX-License-Identifier: BSD-3-Clause */
/* reader - see reader.h. */
#include "link/reader.h"

#include "base/container.h"
#include "link/words.h"

/* Returns 0 if the item is refused; reader->refusal then has the reason. */
static int check_item(struct hl_reader *reader, const redisReadTask *task)
{
    int depth = task->type == REDIS_REPLY_ARRAY;
    for (const redisReadTask *list = task->parent; list; list = list->parent)
        depth++;
    if (depth > HL_REPLY_DEPTH_MAX)
        reader->refusal = hl_words_too_deep;
    else if (task->type < REDIS_REPLY_STRING || task->type > REDIS_REPLY_ERROR)
        reader->refusal = hl_words_wrong_type;
    else if (!task->parent && !reader->asked && !reader->is_stream && task->type != REDIS_REPLY_ERROR)
        reader->refusal = hl_words_unexpected; /* an error is let in: it is the reason why the server closes */
    else if (reader->items > HL_REPLY_ITEMS_MAX || reader->named > HL_READER_NAMED_MAX)
        reader->refusal = hl_words_too_many_items;
    else if (reader->bytes > HL_READER_BYTES_MAX)
        reader->refusal = hl_words_too_long;
    return !reader->refusal;
}

/* Stores an item in its place in the reply. Returns NULL to refuse it, which hiredis takes for a lack of memory. The
 * counts cannot overflow, because an excess is refused before the next addition. */
static void *make(const redisReadTask *task, struct hl_reply reply)
{
    struct hl_reader *reader = task->privdata;
    struct hl_reply *to = &reader->reply;
    const redisReadTask *list = task->parent;
    int is_beyond = list && list->parent && task->idx >= HL_REPLY_INNER_MAX;
    int is_kept = !is_beyond && !(list && list->obj == &reader->skipped);
    int needs_memory = reply.bytes || reply.count;
    if (!list)
        reader->named = reader->items = reader->bytes = 0;
    reader->named += reply.count;
    if (list && reply.count > HL_REPLY_INNER_MAX)
        reply.count = HL_REPLY_INNER_MAX;
    reader->items += is_kept ? reply.count : 0;
    reader->bytes += is_kept ? reply.length : 0;
    if (!check_item(reader, task))
        return NULL;
    if (!is_kept)
        return &reader->skipped;
    if (reply.bytes)
        reply.bytes = hl_memory_copy(reader->memory, reply.bytes, reply.length);
    else if (reply.count)
        reply.items = hl_memory_new(reader->memory, reply.count * sizeof *reply.items);
    if (needs_memory && !reply.bytes && !reply.items) {
        reader->refusal = hl_words_reply_memory;
        return NULL;
    }
    if (list)
        to = (struct hl_reply *)((struct hl_reply *)list->obj)->items + task->idx;
    *to = reply;
    return to;
}

static void *make_string(const redisReadTask *task, char *bytes, size_t length)
{
    enum hl_reply_type type = task->type == REDIS_REPLY_STATUS  ? HL_REPLY_STATUS
                              : task->type == REDIS_REPLY_ERROR ? HL_REPLY_ERROR
                                                                : HL_REPLY_STRING; /* other types are refused in make */
    return make(task, (struct hl_reply){.type = type, .bytes = bytes, .length = length});
}

static void *make_integer(const redisReadTask *task, long long value)
{
    return make(task, (struct hl_reply){.type = HL_REPLY_INTEGER, .integer = value});
}

static void *make_nil(const redisReadTask *task) { return make(task, (struct hl_reply){.type = HL_REPLY_NIL}); }

#if HIREDIS_MAJOR < 1
static void *make_array(const redisReadTask *task, int count)
#else
static void *make_array(const redisReadTask *task, size_t count)
#endif
{
    return make(task, (struct hl_reply){.type = HL_REPLY_ARRAY, .count = (size_t)count});
}

#if HIREDIS_MAJOR >= 1
static void *make_double(const redisReadTask *task, double value, char *bytes, size_t length)
{
    (void)value, (void)bytes, (void)length;
    return make_nil(task); /* refused in make, by its type */
}

static void *make_bool(const redisReadTask *task, int value)
{
    (void)value;
    return make_nil(task); /* refused in make, by its type */
}
#endif

static void release(const struct hl_memory *memory, struct hl_reply *reply)
{
    for (size_t i = 0; i < reply->count; i++)
        release(memory, (struct hl_reply *)&reply->items[i]);
    hl_memory_free(memory, (void *)reply->items);
    hl_memory_free(memory, (void *)reply->bytes);
    *reply = (struct hl_reply){.type = HL_REPLY_NIL};
}

void hl_reader_free(void *reply)
{
    struct hl_reader *reader = HL_CONTAINER((struct hl_reply *)reply, struct hl_reader, reply);
    release(reader->memory, &reader->reply);
}

void hl_reader_init(struct hl_reader *reader, redisReader *parser, const struct hl_memory *memory)
{
    static const redisReplyObjectFunctions makers = {
        .createString = make_string,
        .createArray = make_array,
        .createInteger = make_integer,
        .createNil = make_nil,
#if HIREDIS_MAJOR >= 1
        .createDouble = make_double,
        .createBool = make_bool,
#endif
        .freeObject = hl_reader_free,
    };
    *reader = (struct hl_reader){.memory = memory};
    parser->fn = (redisReplyObjectFunctions *)&makers; /* hiredis only reads it, but its type is not const */
    parser->privdata = reader;
}

/* Bounds unfinished replies, and unfinished lines even more: hiredis searches a line from its start whenever a byte
 * comes. A bulk string is not a long line, because its length comes first, on a line of its own. */
int hl_reader_is_full(const redisReader *parser)
{
    size_t unread = parser->len - parser->pos;
    const char *bytes = parser->buf + parser->pos;
    return unread > HL_READER_BYTES_MAX ||
           (unread > HL_READER_LINE_MAX && !memmem(bytes, HL_READER_LINE_MAX, "\r\n", 2));
}
