/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes from a server end in replies, on_down or silence; never in a crash, an assertion of hiredis, or growth without bound.
 * Each case is fed whole and byte by byte, to a link of commands and to a stream. */
#include <stdio.h>
#include <stdlib.h>

#include "link_trial.h"
#include "link/reader.h"
#include "../wanted.h"
#include "base/text.h"
#include "suite.h"

static void begin(struct link_trial *trial, int asked)
{
    link_trial_begin(trial, "unix");
    link_trial_connect(trial);
    while (asked-- > 0)
        assert_int_equal(link_trial_send(trial, "PING"), 0);
    link_trial_turns(trial, 2);
}

static void say(struct link_trial *trial, const char *bytes, size_t length, size_t piece)
{
    for (size_t at = 0; at < length; at += piece) {
        link_trial_say(trial, bytes + at, length - at < piece ? length - at : piece);
        link_trial_turns(trial, 1);
    }
    link_trial_turns(trial, 2);
}

#define UNASKED "down(unexpected reply: no command asked for it)"
#define DEEP "down(the server's answer is nested too deeply)"
#define MANY "down(the server's answer has too many items)"
#define LONG "down(the server's answer is too long)"
#define PROTOCOL "down(Protocol error, got "
#if SIZE_MAX > UINT32_MAX
#define BY_SIZE(large, small) large /* what a 64-bit program tells, and what one of 32 bits */
#else
#define BY_SIZE(large, small) small
#endif
#define HTTP "down(it answers as an HTTP server: give the host and port of a Redis or Valkey server)"
#define TLS "down(it answers as a TLS port: the url must begin with rediss instead of redis)"
#define OTHER "down(it does not speak the Redis protocol: check the host and the port)"

/* What two pending commands get; a stream gets the same unless the table says otherwise. A text that ends in "(" or a blank is a beginning. */
static const struct { const char *bytes, *commands, *stream; } cases[] = {
    {"+\r\n-\r\n", "up + -", NULL},
    {":1\r\n:2\r\n:3\r\n", "up :1 :2 " UNASKED, "up :1 :2 :3"},
    {":1\r\n:2\r\n$-1\r\n", "up :1 :2 " UNASKED, "up :1 :2 nil"},
    {":1\r\n:2\r\n*0\r\n", "up :1 :2 " UNASKED, "up :1 :2 []"},
    {":1\r\n:2\r\n*1\r\n", "up :1 :2 " UNASKED, "up :1 :2"},
    {":1\r\n:2\r\n+OK\r\n", "up :1 :2 " UNASKED, "up :1 :2 +OK"},
    {":1\r\n:2\r\n$1\r\na\r\n", "up :1 :2 " UNASKED, "up :1 :2 $a"},
    {":1\r\n:2\r\n-ERR max number of clients reached\r\n", "up :1 :2 down(ERR max number of clients reached)",
     "up :1 :2 -ERR max number of clients reached"},
    {":1\r\n:2\r\n-\x1b[2J\"\\\xff\r\n", "up :1 :2 down(\\x1b[2J\\x22\\x5c\\xff)", "up :1 :2 -\\x1b[2J\\x22\\x5c\\xff"},
    {":1\r\n:2\r\n-\r\n", "up :1 :2 down(the connection ended)", "up :1 :2 -"},
    {"HTTP/1.1 400 Bad Request\r\n", "up " HTTP, NULL},
    {"<html>", "up " HTTP, NULL},
    {"\x15\x03\x01", "up " TLS, NULL},
    {"SSH-2.0-OpenSSH_9.2p1\r\n", "up " OTHER, NULL},
    {"\r\n", "up " OTHER, NULL},
    {"\x80", "up " OTHER, NULL},
    {":1\r\nHTTP/1.1", "up :1 " PROTOCOL, NULL}, /* it spoke the protocol before */
    {":\r\n", "up down(Bad integer value)", NULL},
    {":12x\r\n", "up down(Bad integer value)", NULL},
    {":99999999999999999999999\r\n", "up down(Bad integer value)", NULL},
    {":-9223372036854775808\r\n", "up :-9223372036854775808", NULL},
    {"$-2\r\n", "up down(", NULL},
    {"$x\r\n", "up down(", NULL},
    /* the length and its own line are more than a size_t holds: the bytes that are there must not pass for it */
    {"*2\r\n$1\r\na\r\n$4294967295\r\nabcdefghijklmnopqrstuvwxyz\r\n", BY_SIZE("up", "up " LONG), NULL},
    {"$9223372036854775807\r\nab\r\n", BY_SIZE("up", "up down("), NULL}, /* it waits, and for no more than is allowed: see test_endless */
    {"$18446744073709551615\r\n", "up down(", NULL},
    {"*-2\r\n", "up down(", NULL},
    {"*x\r\n", "up down(", NULL},
    {"*131073\r\n", "up " MANY, NULL},
    {"*2147483647\r\n", "up " MANY, NULL},
    {"*4294967296\r\n", "up down(", NULL},
    {"*9223372036854775807\r\n", "up down(", NULL},
    {"*2\r\n*40000\r\n", "up", NULL},
    {"*1\r\n*65536\r\n", "up", NULL},
    {"*1\r\n*1048576\r\n", "up " MANY, NULL},
    {"*1\r\n*4\r\n:1\r\n:2\r\n:3\r\n*1048571\r\n", "up", NULL},
    {"*1\r\n*4\r\n:1\r\n:2\r\n:3\r\n*1048572\r\n", "up " MANY, NULL},
    {"*2\r\n*5\r\n:1\r\n:2\r\n*4\r\n+a\r\n+b\r\n+c\r\n+d\r\n*2\r\n*1\r\n:4\r\n$1\r\nx\r\n$-1\r\n+e\r\n", "up [[:1 :2 [+a +b +c]] +e]", NULL},
    {"*1\r\n*4\r\n:1\r\n:2\r\n:3\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "up down(", NULL},
    {"*1\r\n*4\r\n:1\r\n:2\r\n:3\r\n%1\r\n", "up down(", NULL},
    {"*2\r\n*2147483647\r\n", "up " MANY, NULL},
    {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "up [[[[[[[[:1]]]]]]]]", NULL},
    {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "up down(", NULL},
    {"*2\r\n:1\r\nX", "up " PROTOCOL, NULL},
    {"*-1\r\n*1\r\n*-1\r\n", "up nil [nil]", NULL},
    /* protocol version 3, unasked: 0.14.1 knows no such byte, later ones are set by us */
    {"%1\r\n+a\r\n+b\r\n", "up down(", NULL},
    {"~1\r\n+a\r\n", "up down(", NULL},
    {">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n", "up down(", NULL},
    {">0\r\n", "up down(", NULL},
    {"#t\r\n", "up down(", NULL},
    {",1.5\r\n", "up down(", NULL},
    {"(12345678901234567890123\r\n", "up down(", NULL},
    {"=5\r\ntxt:a\r\n", "up down(", NULL},
    {"|1\r\n+a\r\n+b\r\n", "up down(", NULL},
    {"*1\r\n%1\r\n", "up down(", NULL},
};

static void assert_told(const struct link_trial *trial, const char *bytes, const char *wanted)
{
    size_t length = strlen(wanted);
    int is_beginning = wanted[length - 1] == '(' || wanted[length - 1] == ' ';
    if (is_beginning ? strncmp(trial->told, wanted, length) != 0 : strcmp(trial->told, wanted) != 0)
        fail_msg("%s was told as \"%s\", not \"%s\"", hl_text_quote(bytes, strlen(bytes)).bytes, trial->told, wanted);
}

/* Behind so many commands, or, below 0, of a stream. */
static void feed(int asked, const char *bytes, size_t piece, const char *wanted)
{
    struct link_trial trial;
    begin(&trial, asked < 0 ? 0 : asked);
    if (asked < 0)
        trial.factory.stream(trial.link);
    say(&trial, bytes, strlen(bytes), piece);
    assert_told(&trial, bytes, wanted);
    link_trial_end(&trial);
}

static void feed_all_cases(int is_stream, size_t piece)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        feed(is_stream ? -1 : 2, cases[i].bytes, piece,
             is_stream && cases[i].stream ? cases[i].stream : cases[i].commands);
}

TEST(test_commands) { feed_all_cases(0, SIZE_MAX / 2); }
TEST(test_commands_byte_by_byte) { feed_all_cases(0, 1); }
TEST(test_stream) { feed_all_cases(1, SIZE_MAX / 2); }
TEST(test_stream_byte_by_byte) { feed_all_cases(1, 1); }

TEST(test_unasked_before_anything)
{
    feed(0, "+OK\r\n", 1000, "up " UNASKED);
    feed(0, "-ERR max number of clients reached\r\n", 1000, "up down(ERR max number of clients reached)");
    feed(0, "*1\r\n", 1000, "up " UNASKED);
}

/* Behind the last reply of a link that becomes a stream inside it, in the same read: nothing can have been asked for this. */
static void make_stream(struct link_trial *trial) { trial->factory.stream(trial->link); }

TEST(test_unasked_behind_the_turn_to_a_stream)
{
    struct link_trial trial;
    begin(&trial, 1);
    trial.at_reply = make_stream;
    say(&trial, "+OK\r\n+surprise\r\n", 16, 16);
    assert_string_equal(trial.told, "up +OK " UNASKED);
    link_trial_end(&trial);
}
/* ---- bounds ---- */

/* How many bytes it took. */
static size_t feed_until_down(struct link_trial *trial, const char *head, const char *more)
{
    static char heap[1 << 16];
    size_t length = strlen(more), fed = 0;
    for (size_t at = 0; at < sizeof heap; at++)
        heap[at] = more[at % length];
    link_trial_say(trial, head, strlen(head));
    for (; !trial->is_down && fed < (size_t)8 << 20; fed += sizeof heap - sizeof heap % length)
        link_trial_say(trial, heap, sizeof heap - sizeof heap % length), link_trial_turns(trial, 8);
    return fed;
}

/* ---- what another hiredis would let through ---- */

/* 0.14.1 itself refuses a list in more than eight others, and knows no other types. */
static const char *refusal_of(int type, int depth)
{
    struct hl_memory memory;
    struct hl_reader reader;
    redisReader *parser = redisReaderCreate();
    redisReadTask tasks[HL_REPLY_DEPTH_MAX + 2] = {{.type = 0}};
    void *objects[HL_REPLY_DEPTH_MAX + 2];
    hl_memory_init(&memory, NULL);
    hl_reader_init(&reader, parser, &memory);
    reader.asked = 1;
    for (int i = 0; i < depth; i++) {
        tasks[i] = (redisReadTask){.type = i < depth - 1 ? REDIS_REPLY_ARRAY : type, .elements = 1, .privdata = &reader,
                                   .parent = i ? &tasks[i - 1] : NULL};
        tasks[i].obj = objects[i] = tasks[i].type == REDIS_REPLY_ARRAY ? parser->fn->createArray(&tasks[i], 1)
                                                                       : parser->fn->createNil(&tasks[i]);
        assert_true((objects[i] != NULL) == !reader.refusal);
    }
    if (objects[0])
        parser->fn->freeObject(objects[0]);
    redisReaderFree(parser);
    return reader.refusal ? reader.refusal : "";
}

TEST(test_deep)
{
    assert_string_equal(refusal_of(REDIS_REPLY_ARRAY, HL_REPLY_DEPTH_MAX), "");
    assert_string_equal(refusal_of(REDIS_REPLY_NIL, HL_REPLY_DEPTH_MAX + 1), "");
    assert_string_equal(refusal_of(REDIS_REPLY_ARRAY, HL_REPLY_DEPTH_MAX + 1), "the server's answer is nested too deeply");
}

TEST(test_types)
{
    for (int type = REDIS_REPLY_STRING; type <= REDIS_REPLY_ERROR; type++)
        assert_string_equal(refusal_of(type, 1), "");
    for (int type = REDIS_REPLY_ERROR + 1; type < REDIS_REPLY_ERROR + 10; type++)
        assert_string_equal(refusal_of(type, 1), "the server's answer is of a type that protocol version 2 does not have");
    assert_string_equal(refusal_of(0, 1), "the server's answer is of a type that protocol version 2 does not have");
}

/* ---- without end ---- */

/* Of a reply that is not whole yet as many bytes may stand there as of one that is. */
TEST(test_as_much_as_is_allowed)
{
    static char bytes[HL_READER_BYTES_MAX + 1];
    redisReader parser = {.buf = bytes, .len = HL_READER_BYTES_MAX};
    memset(bytes, 'a', sizeof bytes);
    assert_true(hl_reader_is_full(&parser)); /* its line is too long */
    memcpy(bytes + HL_READER_LINE_MAX - 2, "\r\n", 2);
    assert_false(hl_reader_is_full(&parser));
    parser.len++;
    assert_true(hl_reader_is_full(&parser));
    parser = (redisReader){.buf = memset(bytes, 'a', sizeof bytes), .len = HL_READER_LINE_MAX};
    assert_false(hl_reader_is_full(&parser));
    parser.len++;
    assert_true(hl_reader_is_full(&parser));
}

/* The strings of one answer. */
TEST(test_as_many_bytes_as_are_allowed)
{
    static char bytes[HL_READER_BYTES_MAX + 100];
    for (int more = 0; more < 2; more++) {
        struct link_trial trial;
        begin(&trial, 1);
        size_t used = (size_t)sprintf(bytes, "*2\r\n$%d\r\n", HL_READER_BYTES_MAX - 1);
        memset(bytes + used, 'a', HL_READER_BYTES_MAX - 1);
        used += HL_READER_BYTES_MAX - 1;
        used += (size_t)sprintf(bytes + used, "\r\n$%d\r\n%s\r\n", 1 + more, more ? "bb" : "b");
        for (size_t at = 0; at < used && !trial.is_down; at += 1 << 16) {
            link_trial_say(&trial, bytes + at, used - at < 1 << 16 ? used - at : 1 << 16);
            link_trial_turns(&trial, 8);
        }
        link_trial_turns(&trial, 2);
        assert_int_equal(trial.is_down, more);
        assert_int_equal(trial.replies, 1 - more);
        link_trial_end(&trial);
    }
}

TEST(test_endless)
{
    char bulk[1 + 4 + 2 + 1000 + 2 + 1] = "$1000\r\n";
    const struct { const char *head, *more; size_t max; } kinds[] = {{"$2147483647\r\n", "a", HL_READER_BYTES_MAX},
                                                                     {"*60000\r\n", bulk, HL_READER_BYTES_MAX},
                                                                     {"+", "a", HL_READER_LINE_MAX},
                                                                     {":", "1", HL_READER_LINE_MAX},
                                                                     {"*2\r\n-", "a\n\r", HL_READER_LINE_MAX}};
    memset(bulk + 7, 'a', 1000);
    memcpy(bulk + 1007, "\r\n", 3);
    for (size_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++) {
        struct link_trial trial;
        begin(&trial, i % 2 ? 0 : 1);
        if (i % 2)
            make_stream(&trial);
        assert_in_range(feed_until_down(&trial, kinds[i / 2].head, kinds[i / 2].more), kinds[i / 2].max / 2, kinds[i / 2].max * 5 / 2);
        assert_string_equal(trial.told, "up " LONG);
        link_trial_end(&trial);
    }
}

static void forget(struct link_trial *trial) { trial->told_length = 0; }

/* An array of so many of these passes, twice, within a bound of memory. */
static void pass(const char *item, int count)
{
    struct link_trial trial;
    size_t each = strlen(item);
    char *bytes = malloc(16 + (size_t)count * each);
    assert_non_null(bytes);
    size_t length = (size_t)sprintf(bytes, "*%d\r\n", count);
    for (int i = 0; i < count; i++, length += each)
        memcpy(bytes + length, item, each);
    begin(&trial, 3);
    trial.at_reply = forget;
    for (int i = 1; i < 3; i++) { /* each is counted for itself */
        link_trial_say(&trial, bytes, length);
        while (trial.replies < i && !trial.is_down)
            link_trial_turns(&trial, 1);
        assert_true(trial.memory.bytes < 8 << 20); /* of ours; hiredis has about as much */
    }
    say(&trial, ":2\r\n", 4, 4);
    assert_string_equal(trial.told, ":2");
    assert_false(trial.is_down);
    link_trial_end(&trial);
    free(bytes);
}

/* Of a cluster whose slots moved without end: each has other servers than the one before it, two of them replicas. */
#define SERVER                                                                                                  \
    "*4\r\n$8\r\n10.0.0.1\r\n:6379\r\n$40\r\n0123456789abcdef0123456789abcdef01234567\r\n"                          \
    "*2\r\n$8\r\nhostname\r\n$5\r\nhost1\r\n"

TEST(test_largest_that_passes) { pass(":1\r\n", HL_REPLY_ITEMS_MAX); }
TEST(test_slots_of_a_fragmented_cluster) { pass("*5\r\n:1\r\n:1\r\n" SERVER SERVER SERVER, 16384); }

/* ---- chance ---- */

static unsigned draw(unsigned *seed, unsigned bound)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % bound;
}

static size_t random_bytes(char *bytes, size_t room, unsigned *seed)
{
    static const char *const pieces[] = {"*", "$", ":", "+", "-", "\r\n", "0", "1", "2", "3", "-1", "\r", "\n", "a", ">", "%", "_", "#", "=", "(", ",", "~", "|",
                                         ":1\r\n", "+OK\r\n", "$1\r\na\r\n", "*2\r\n", "*0\r\n", "*-1\r\n", "$-1\r\n", "-ERR\r\n", "$5\r\n", "\x80", "txt:"};
    size_t length = 0;
    for (unsigned more = draw(seed, 24); more > 0; more--) {
        const char *piece = pieces[draw(seed, sizeof pieces / sizeof *pieces)];
        if (length + strlen(piece) < room)
            memcpy(bytes + length, piece, strlen(piece)), length += strlen(piece);
    }
    return length;
}

static void maybe_close(struct link_trial *trial)
{
    if (trial->replies == 2)
        link_trial_close(trial, 1);
}

TEST(test_chance)
{
    unsigned seed = 7 + (unsigned)wanted("HILOCK_SEED", 0); /* others for each commit that CI sees */
    for (int i = 0; i < 400; i++) {
        struct link_trial trial;
        char bytes[256];
        size_t length = random_bytes(bytes, sizeof bytes, &seed);
        begin(&trial, (int)draw(&seed, 4));
        if (draw(&seed, 3) == 0 && strcmp(trial.told, "up") == 0) {
            link_trial_end(&trial);
            begin(&trial, 0);
            make_stream(&trial);
        }
        trial.at_reply = draw(&seed, 4) == 0 ? maybe_close : NULL;
        say(&trial, bytes, length, 1 + draw(&seed, 64));
        link_trial_end(&trial);
    }
}
