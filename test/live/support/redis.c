/* SPDX-License-Identifier: BSD-3-Clause */
/* redis - see redis.h. */
#include "redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "server.h"

struct redis *redis_open(const struct server *server)
{
    struct redis *redis = calloc(1, sizeof *redis);
    CHECK(redis != NULL);
    redis->context = redisConnectUnix(server->socket);
    if (!redis->context || redis->context->err)
        check_fail("cannot connect to the server: %s", redis->context ? redis->context->errstr : "no memory");
    return redis;
}

void redis_close(struct redis *redis)
{
    if (!redis)
        return;
    redisFree(redis->context);
    free(redis);
}

/* One for each server; a server that was started again, and a forked child, get a new one. Not of servers behind
 * Sentinel, which kills connections. */
struct redis *redis_at(const struct server *server)
{
    enum { SERVERS_MAX = 32 };
    static struct { const struct server *server; pid_t pid, of; struct redis *redis; } looks[SERVERS_MAX];
    unsigned i = 0;
    while (i < SERVERS_MAX - 1 && looks[i].server && looks[i].server != server)
        i++;
    if (looks[i].server == server && looks[i].pid == server->pid && looks[i].of == getpid())
        return looks[i].redis;
    redis_close(looks[i].redis);
    looks[i].redis = NULL;
    looks[i].redis = redis_open(server);
    looks[i].server = server;
    looks[i].pid = server->pid;
    looks[i].of = getpid();
    return looks[i].redis;
}

#define ASK(reply)                                                                              \
    do {                                                                                        \
        va_list list;                                                                           \
        va_start(list, format);                                                                 \
        (reply) = redisvCommand(redis->context, format, list);                                  \
        va_end(list);                                                                           \
        if (!(reply))                                                                           \
            check_fail("no answer to \"%s\": %s", format, redis->context->errstr);              \
    } while (0)

static redisReply *expect(redisReply *reply, int type, const char *format)
{
    if (reply->type != type)
        check_fail("\"%s\": not what was asked for, but type %d, %s", format, reply->type, reply->str ? reply->str : "");
    return reply;
}

redisReply *redis_reply(struct redis *redis, const char *format, ...)
{
    redisReply *reply;
    ASK(reply);
    return reply;
}

void redis_do(struct redis *redis, const char *format, ...)
{
    redisReply *reply;
    ASK(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        check_fail("\"%s\": %s", format, reply->str);
    freeReplyObject(reply);
}

long long redis_integer(struct redis *redis, const char *format, ...)
{
    redisReply *reply;
    ASK(reply);
    long long number = expect(reply, REDIS_REPLY_INTEGER, format)->integer;
    freeReplyObject(reply);
    return number;
}

const char *redis_text(struct redis *redis, const char *format, ...)
{
    redisReply *reply;
    ASK(reply);
    if (reply->type != REDIS_REPLY_NIL && reply->type != REDIS_REPLY_STATUS)
        expect(reply, REDIS_REPLY_STRING, format);
    snprintf(redis->text, sizeof redis->text, "%s", reply->str ? reply->str : "");
    freeReplyObject(reply);
    return redis->text;
}

size_t redis_count(struct redis *redis, const char *format, ...)
{
    redisReply *reply;
    ASK(reply);
    size_t count = expect(reply, REDIS_REPLY_ARRAY, format)->elements;
    freeReplyObject(reply);
    return count;
}

/* The number behind `label` on the line that begins with `key`; 0 without such a line. */
static long long info(struct redis *redis, const char *section, const char *key, const char *label)
{
    char start[96];
    redisReply *reply = redis_reply(redis, "INFO %s", section);
    CHECK(reply->str != NULL);
    snprintf(start, sizeof start, "\n%s:", key);
    const char *line = strstr(reply->str, start);
    const char *at = line ? strstr(line, label) : NULL;
    long long number = at ? strtoll(at + strlen(label), NULL, 10) : 0;
    freeReplyObject(reply);
    return number;
}

long long redis_calls(struct redis *redis, const char *command)
{
    char key[64];
    snprintf(key, sizeof key, "cmdstat_%s", command);
    return info(redis, "commandstats", key, ":calls=");
}

long long redis_info(struct redis *redis, const char *section, const char *key) { return info(redis, section, key, ":"); }

int redis_says(const struct server *server, const char *question, const char *words)
{
    redisReply *reply = redis_reply(redis_at(server), question);
    int is_so = reply->str && strstr(reply->str, words);
    freeReplyObject(reply);
    return is_so;
}

/* How often a free name was left to other programs: it ends by itself, within seconds. */
static int is_courtesy(struct redis *redis, const char *key)
{
    return strncmp(key, "hilock:place", 12) == 0 && redis_integer(redis, "HLEN %s", key) == 1 && redis_integer(redis, "HEXISTS %s *", key) == 1 &&
           redis_integer(redis, "PTTL %s", key) > 0;
}

size_t redis_lock_keys(struct redis *redis)
{
    static const char token[] = "hilock:token";
    redisReply *reply = expect(redis_reply(redis, "KEYS *"), REDIS_REPLY_ARRAY, "KEYS *");
    size_t count = 0;
    for (size_t i = 0; i < reply->elements; i++)
        if (strncmp(reply->element[i]->str, token, strlen(token)) != 0 && !is_courtesy(redis, reply->element[i]->str))
            count++;
    freeReplyObject(reply);
    return count;
}

size_t redis_clients(struct redis *redis)
{
    redisReply *reply = redis_reply(redis, "CLIENT LIST");
    size_t count = 0;
    CHECK(reply->str != NULL);
    for (const char *at = reply->str; (at = strstr(at, " name=hilock:")) != NULL; at++)
        count++;
    freeReplyObject(reply);
    return count;
}

size_t redis_queues(struct redis *redis) { return redis_count(redis, "KEYS hilock:queue*"); }

size_t redis_channels(struct redis *redis) { return redis_count(redis, "PUBSUB CHANNELS redisson_lock__channel*"); }

size_t redis_sharded_channels(struct redis *redis)
{
    return redis_count(redis, "PUBSUB SHARDCHANNELS redisson_lock__channel*");
}
