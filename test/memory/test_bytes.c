/* SPDX-License-Identifier: BSD-3-Clause */
/* test_bytes - any bytes that come over a link are a request, a part of one, or the end of that link; the store goes on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "raw.h"
#include "staged.h"

enum { MUTATIONS = 1000, COMMANDS = 5000, LARGE = 1 << 20 };

static unsigned next(unsigned *seed) { return (*seed = *seed * 1103515245 + 12345) >> 16; }

static int set_up(void **state)
{
    static struct raw_store store;
    store = raw_open(NULL);
    *state = &store;
    return 0;
}

static int tear_down(void **state)
{
    raw_close(*state);
    return 0;
}

#define ON_STORE(name) STAGED(name, struct raw_store, store, set_up, tear_down)

static void expect_alive(const struct raw_store *store)
{
    int fd = raw_connect(store);
    assert_string_equal(raw_say(store, fd, "PING\r\n"), "+PONG\r\n");
    close(fd);
}

static const char conversation[] = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\n\0\r\n\xff\r\nPING\n*0\r\n\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n*-1\r\n  GET \t b\r\nTYPE a\r\n"
                                   "*4\r\n$4\r\nHSET\r\n$1\r\nh\r\n$1\r\nf\r\n$0\r\n\r\n*2\r\n$7\r\nHGETALL\r\n$1\r\nh\r\n*1\r\n$0\r\n\r\n";
static const char answers[] = "+OK\r\n+PONG\r\n$4\r\n\0\r\n\xff\r\n$-1\r\n+string\r\n:1\r\n*2\r\n$1\r\nf\r\n$0\r\n\r\n-ERR unknown command '', with args beginning with: \r\n";

/* Wherever the stream is cut, the answers are the same. */
ON_STORE(test_pieces)
{
    for (size_t cut = 0; cut < sizeof conversation; cut++) {
        char all[sizeof answers];
        int fd = raw_connect(store), is_open;
        size_t used = 0;
        for (int part = 0; part < 2; part++) {
            size_t from = part ? cut : 0, to = part ? sizeof conversation - 1 : cut;
            const char *said = raw_ask(store, fd, conversation + from, to > from ? to - from : 0, &is_open);
            size_t length = part ? sizeof answers - 1 - used : 0;
            while (!part && length < sizeof answers - 1 && memcmp(said, answers, length + 1) == 0)
                length++;
            memcpy(all + used, said, length);
            used += length;
        }
        assert_true(is_open);
        assert_int_equal(used, sizeof answers - 1);
        assert_memory_equal(all, answers, used);
        (void)raw_say(store, fd, "DEL a h\r\n");
        close(fd);
    }
}

ON_STORE(test_wrong)
{
    static const char *const wrong[] = {"*x\r\n", "*\r\n", "*1\r\n#4\r\nPING\r\n", "*1\r\n$-1\r\n", "*1\r\n$4\r\nPINGxx", "*1\r\n$99999999999\r\n",
                                        "*99999999999\r\n", "*1\n$4\nPING\n", "*--1\r\n", "*1\r\n$4x\r\n", "*9999999\r\n", "*1\r\n$9999999\r\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int fd = raw_connect(store), is_open;
        if (strcmp(raw_ask(store, fd, wrong[i], strlen(wrong[i]), &is_open), "-ERR Protocol error\r\n") != 0 || is_open)
            fail_msg("taken for a request: %s", wrong[i]);
        close(fd);
    }
    assert_int_equal(hilock_memory_links(store->memory), 0);
}

ON_STORE(test_an_error_is_a_line)
{
    int fd = raw_connect(store);
    assert_string_equal(raw_say(store, fd, "*2\r\n$6\r\nA\r\n+OK\r\n$4\r\n\n:1\r\r\n"),
                        "-ERR unknown command 'A  +OK', with args beginning with: ' :1 ' \r\n");
    close(fd);
}

/* Sent, and nothing of what is answered is read. 0: the link has been ended. */
static int pour(const struct raw_store *store, int fd, const char *bytes, size_t length)
{
    size_t sent = 0;
    while (sent < length && hilock_memory_links(store->memory) > 0) {
        ssize_t count = send(fd, bytes + sent, length - sent, MSG_NOSIGNAL);
        sent += count > 0 ? (size_t)count : 0;
        poll_loop_jump(store->loop, poll_loop_us(store->loop));
    }
    return sent == length;
}

/* A request that never ends, and somebody who never reads what he asked for. */
ON_STORE(test_too_much)
{
    char *large = malloc(LARGE + 1);
    int fd = raw_connect(store), is_open, head, requests = 0;
    assert_non_null(large);
    memset(large, 'x', LARGE + 1);
    assert_string_equal(raw_ask(store, fd, large, LARGE + 1, &is_open), "-ERR Protocol error\r\n");
    assert_false(is_open);
    close(fd);
    fd = raw_connect(store);
    assert_string_equal(raw_say(store, fd, "PING\r\n"), "+PONG\r\n");
    head = sprintf(large, "*2\r\n$4\r\nPING\r\n$%d\r\n", LARGE / 2);
    large[head] = 'x';
    memcpy(large + head + LARGE / 2, "\r\n", 2);
    while (requests < 1000 && pour(store, fd, large, (size_t)head + LARGE / 2 + 2))
        requests++;
    assert_in_range(requests, 4, 50);
    close(fd);
    free(large);
    expect_alive(store);
}

ON_STORE(test_mutations)
{
    unsigned seed = 1;
    for (int i = 0; i < MUTATIONS; i++) {
        char bytes[sizeof conversation];
        int fd = raw_connect(store), is_open;
        memcpy(bytes, conversation, sizeof bytes);
        for (unsigned n = 1 + next(&seed) % 4; n > 0; n--)
            bytes[next(&seed) % sizeof bytes] = "*$\r\n0129-\0\xff"[next(&seed) % 11];
        (void)raw_ask(store, fd, bytes, next(&seed) % sizeof bytes, &is_open);
        close(fd);
    }
    expect_alive(store);
}

static size_t add_argument(char *to, size_t room, const char *bytes, size_t length)
{
    int head = snprintf(to, room, "$%zu\r\n", length);
    memcpy(to + head, bytes, length);
    memcpy(to + head + length, "\r\n", 2);
    return (size_t)head + length + 2;
}

/* Every command that it has, with arguments of any sort; these as scripts, too. */
ON_STORE(test_any_commands)
{
    static const char *const words[] = {"PTTL", "PEXPIRETIME", "PEXPIRE", "PEXPIREAT", "DEL", "EXISTS", "TYPE", "DBSIZE", "FLUSHALL", "GET", "SET", "INCR",
        "HGET", "HEXISTS", "HSET", "HDEL", "HLEN", "HKEYS", "HGETALL", "HSCAN", "ZADD", "ZREM", "ZCARD", "ZCOUNT", "ZRANGE", "ZRANGEBYSCORE",
        "PING", "AUTH", "SELECT", "CLIENT", "TIME", "COMMAND", "INFO", "WAIT", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "SSUBSCRIBE", "SUNSUBSCRIBE",
        "SPUBLISH", "PUBSUB", "SCRIPT", "EVALSHA", "ROLE", "READONLY", "SENTINEL", "CLUSTER", "ASKING",
        "KEYS", "CONFIG", "EVAL", "EVAL", "EVAL", "PERSIST", "DECR", "INCRBY", "DECRBY", "HINCRBY", "HVALS"};
    static const char *const values[] = {"a", "b", "h", "z", "", "0", "-1", "1", "9223372036854775807", "-9223372036854775808", "1e400", "nan", "NX", "PX",
        "GET", "KEEPTTL", "LOAD", "EXISTS", "FLUSH", "INFO", "SETNAME", "NUMSUB", "WITHSCORES", "SLOTS", "return redis.call('GET', KEYS[1])",
        "local t = {} t[1] = t return t", "return redis.call()", "error({})", "return {redis.pcall('HSET', 'a', 'b')}", "\r\n\xff",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709", "return string.rep('x', 100)", "((", "return tostring(nil) .. nil",
        "CHANNELS", "LIST", "KILL", "TYPE", "NORMAL", "PUBSUB", "COMMANDSTATS", "RESETSTAT", "SET", "min-replicas-to-write", "*", "a*", "[",
        "local function f() return f() + 1 end return f()", "return {err = '', ok = {}}"};
    unsigned seed = 1;
    int fd = raw_connect(store), is_open = 1;
    char bytes[2048];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        size_t used = (size_t)snprintf(bytes, sizeof bytes, "*4\r\n$4\r\nEVAL\r\n");
        used += add_argument(bytes + used, sizeof bytes - used, values[i], strlen(values[i]));
        used += (size_t)snprintf(bytes + used, sizeof bytes - used, "$1\r\n1\r\n$1\r\na\r\n");
        assert_string_not_equal(raw_ask(store, fd, bytes, used, &is_open), "");
        assert_true(is_open);
    }
    for (int i = 0; i < COMMANDS; i++) {
        unsigned count = next(&seed) % 7;
        const char *word = words[next(&seed) % (sizeof words / sizeof *words)];
        size_t used = (size_t)snprintf(bytes, sizeof bytes, "*%u\r\n", count + 1);
        used += add_argument(bytes + used, sizeof bytes - used, word, strlen(word));
        for (; count > 0; count--) {
            const char *value = values[next(&seed) % (sizeof values / sizeof *values)];
            used += add_argument(bytes + used, sizeof bytes - used, value, strlen(value));
        }
        (void)raw_ask(store, fd, bytes, used, &is_open);
        if (is_open && next(&seed) % 16)
            continue;
        close(fd);
        fd = raw_connect(store);
    }
    close(fd);
    expect_alive(store);
}
