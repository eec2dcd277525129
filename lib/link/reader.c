/* SPDX-License-Identifier: BSD-3-Clause */
/* reader - see reader.h. */
#include "link/reader.h"

enum { SCRATCH_KEPT = 16 }; /* items; more is given back with the next reply */
enum { OUR_INTEGER = 0 };   /* a type that hiredis does not have: the object is the reader's own */

static const char *objection(const struct hl_reader *reader, const redisReadTask *task)
{
    if (task->type < REDIS_REPLY_STRING || task->type > REDIS_REPLY_ERROR)
        return "the server's answer is of a type that protocol version 2 does not have";
    /* an error says why the server closes */
    if (!task->parent && !reader->asked && !reader->is_stream && task->type != REDIS_REPLY_ERROR)
        return "the server sent a reply that no command asked for";
    if (reader->items > HL_REPLY_ITEMS_MAX || reader->named > HL_READER_NAMED_MAX)
        return "the server's answer has too many items";
    if (reader->bytes > HL_READER_BYTES_MAX)
        return "the server's answer is too long";
    return NULL;
}

static size_t added(size_t to, size_t more, size_t most) { return more > most ? most + 1 : to + more; }

/* No count overflows: an excess is refused before the next addition. */
static int admits(const redisReadTask *task, size_t named, size_t items, size_t bytes)
{
    struct hl_reader *reader = task->privdata;
    if (!task->parent)
        reader->named = reader->items = reader->bytes = 0;
    reader->named = added(reader->named, named, HL_READER_NAMED_MAX);
    reader->items = added(reader->items, items, HL_REPLY_ITEMS_MAX);
    reader->bytes = added(reader->bytes, bytes, HL_READER_BYTES_MAX);
    if (!reader->refusal)
        reader->refusal = objection(reader, task);
    return !reader->refusal;
}

/* Stands for a skipped item: hiredis itself never reads objects, only its functions do. */
static void *stand_in(const redisReadTask *task) { return task->privdata; }

static int is_inner(const redisReadTask *task) { return task->parent != NULL; }

static int is_passed_over(const redisReadTask *task)
{
    const redisReadTask *list = task->parent;
    return list && (list->obj == stand_in(task) || (is_inner(list) && task->idx >= HL_REPLY_INNER_MAX));
}

/* hiredis' own functions, if they are to make the object. NULL: *ret_other is the object: a stand-in, or NULL for a
 * refusal. named: the items that the server announces; items: those that are kept. */
static const redisReplyObjectFunctions *makers_for(const redisReadTask *task, size_t named, size_t items, size_t bytes,
                                                   void **ret_other)
{
    int is_kept = !is_passed_over(task), is_good = admits(task, named, is_kept ? items : 0, is_kept ? bytes : 0);
    *ret_other = is_good ? stand_in(task) : NULL;
    return is_good && is_kept ? ((struct hl_reader *)task->privdata)->makers : NULL;
}

static void *make_string(const redisReadTask *task, char *bytes, size_t length)
{
    void *other;
    const redisReplyObjectFunctions *makers = makers_for(task, 0, 0, length, &other);
    return makers ? makers->createString(task, bytes, length) : other;
}

static void *make_integer(const redisReadTask *task, long long value)
{
    void *other;
    const redisReplyObjectFunctions *makers = makers_for(task, 0, 0, 0, &other);
    struct hl_reader *reader = task->privdata;
    if (!makers || is_inner(task))
        return makers ? makers->createInteger(task, value) : other;
    reader->integer = (redisReply){.type = OUR_INTEGER, .integer = value};
    return &reader->integer;
}

static void *make_nil(const redisReadTask *task)
{
    void *other;
    const redisReplyObjectFunctions *makers = makers_for(task, 0, 0, 0, &other);
    return makers ? makers->createNil(task) : other;
}

static int is_too_deep(const redisReadTask *task)
{
    int depth = 0;
    while (task && depth <= HL_REPLY_DEPTH_MAX)
        depth++, task = task->parent;
    return depth > HL_REPLY_DEPTH_MAX;
}

static void *make_array_of(const redisReadTask *task, size_t count)
{
    struct hl_reader *reader = task->privdata;
    size_t kept = is_inner(task) && count > HL_REPLY_INNER_MAX ? HL_REPLY_INNER_MAX : count;
    const redisReplyObjectFunctions *makers;
    void *other;
    if (is_too_deep(task)) {
        reader->refusal = "the server's answer is nested too deeply";
        return NULL;
    }
    makers = makers_for(task, count, kept, 0, &other);
#if HIREDIS_MAJOR < 1
    return makers ? makers->createArray(task, (int)kept) : other;
#else
    return makers ? makers->createArray(task, kept) : other;
#endif
}

#if HIREDIS_MAJOR < 1
static void *make_array(const redisReadTask *task, int count) { return make_array_of(task, (size_t)count); }
#else
static void *make_array(const redisReadTask *task, size_t count) { return make_array_of(task, count); }

static void *make_double(const redisReadTask *task, double value, char *bytes, size_t length)
{
    (void)value, (void)bytes, (void)length;
    (void)admits(task, 0, 0, 0);
    return NULL;
}

static void *make_bool(const redisReadTask *task, int value)
{
    (void)value;
    (void)admits(task, 0, 0, 0);
    return NULL;
}
#endif

void hl_reader_free(void *reply)
{
    if (((const redisReply *)reply)->type != OUR_INTEGER)
        freeReplyObject(reply);
}

void hl_reader_init(struct hl_reader *reader, redisReader *parser, const struct hl_memory *memory)
{
    static const redisReplyObjectFunctions guarded = {
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
    *reader = (struct hl_reader){.parser = parser, .makers = parser->fn, .memory = memory};
    parser->fn = (redisReplyObjectFunctions *)&guarded; /* hiredis lacks the const, and only reads */
    parser->privdata = reader;
}

void hl_reader_done(struct hl_reader *reader)
{
    if (reader->memory)
        hl_memory_free(reader->memory, reader->scratch);
    *reader = (struct hl_reader){0};
}

static void view(struct hl_reply *to, const redisReply *from, struct hl_reply **unused)
{
    static const enum hl_reply_type types[] = {
        [REDIS_REPLY_STRING] = HL_REPLY_STRING, [REDIS_REPLY_ARRAY] = HL_REPLY_ARRAY,
        [REDIS_REPLY_INTEGER] = HL_REPLY_INTEGER, [OUR_INTEGER] = HL_REPLY_INTEGER, [REDIS_REPLY_NIL] = HL_REPLY_NIL,
        [REDIS_REPLY_STATUS] = HL_REPLY_STATUS, [REDIS_REPLY_ERROR] = HL_REPLY_ERROR}; /* objection lets no other in */
    struct hl_reply *items = *unused;
    *to = (struct hl_reply){.type = types[from->type], .integer = from->integer, .bytes = from->str,
                            .length = from->len, .items = items};
    if (from->type != REDIS_REPLY_ARRAY)
        return;
    to->count = from->elements;
    *unused += from->elements;
    for (size_t i = 0; i < from->elements; i++)
        view(&items[i], from->element[i], unused);
}

static int make_room(struct hl_reader *reader)
{
    size_t count = reader->items > SCRATCH_KEPT ? reader->items : SCRATCH_KEPT;
    if (reader->scratch_items > SCRATCH_KEPT) {
        hl_memory_free(reader->memory, reader->scratch);
        reader->scratch = NULL, reader->scratch_items = 0;
    }
    if (reader->items <= reader->scratch_items)
        return 0;
    hl_memory_free(reader->memory, reader->scratch);
    reader->scratch = hl_memory_new(reader->memory, count * sizeof *reader->scratch);
    reader->scratch_items = reader->scratch ? count : 0;
    return reader->scratch ? 0 : -1;
}

const struct hl_reply *hl_reader_view(struct hl_reader *reader, const redisReply *reply, struct hl_reply *flat)
{
    struct hl_reply *unused;
    if (make_room(reader) != 0)
        return NULL;
    unused = reader->scratch;
    view(flat, reply, &unused);
    return flat;
}

/* The length of a bulk string comes before it, so this bounds lines only. With each byte of a line hiredis searches for
 * its end from the start. */
int hl_reader_is_full(const struct hl_reader *reader)
{
    size_t unread = reader->parser->len - reader->parser->pos;
    if (unread > HL_READER_BYTES_MAX)
        return 1;
    return unread > HL_READER_LINE_MAX &&
           !memmem(reader->parser->buf + reader->parser->pos, HL_READER_LINE_MAX, "\r\n", 2);
}
