/* SPDX-License-Identifier: BSD-3-Clause */
/* commands.c - how many commands clients have sent, as the server counts them.
 *
 * INFO commandstats also counts the commands that scripts call, under their own names. hilock's clients send EVALSHA
 * and none of the commands that the scripts use, so every other command came from a client; INFO itself is not
 * counted. */
#include "commands.h"

#include "store.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct commands {
    redisContext *store;
};

static bool is_clients(const char *name, size_t length)
{
    static const char *const inner[] = {
        "pttl", "pexpire", "pexpireat", "time",          "get",    "set",           "hset",
        "hget", "hdel",    "hscan",     "hlen",          "exists", "publish",       "spublish",
        "zadd", "zrem",    "zrange",    "zrangebyscore", "zcount", "pubsub|numsub", "pubsub|shardnumsub",
        "del",  "info",    "lindex", "hmget",         "zrank",  "zscore",        "zcard",
        "unlink"};
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
        if (strlen(inner[i]) == length && strncmp(inner[i], name, length) == 0)
            return false;
    return true;
}

struct commands *commands_open(const char *url, char *ret_error)
{
    struct commands *commands = malloc(sizeof *commands);
    if (!commands) {
        snprintf(ret_error, STORE_ERROR_SIZE, "out of memory");
        return NULL;
    }
    commands->store = store_connect(url, ret_error);
    if (commands->store)
        return commands;
    free(commands);
    return NULL;
}

/* Reads lines like "cmdstat_evalsha:calls=12,usec=34,...". only: one command's name; NULL: all that clients sent */
static uint64_t sum_lines(const char *text, const char *only, bool is_time)
{
    static const char mark[] = "cmdstat_", calls[] = ":calls=", usec[] = ",usec=";
    uint64_t sum = 0;
    while ((text = strstr(text, mark))) {
        const char *name = text + strlen(mark), *end = strstr(name, calls);
        size_t length = end ? (size_t)(end - name) : 0;
        if (!end)
            break;
        if (only ? strlen(only) == length && strncmp(only, name, length) == 0 : is_clients(name, length))
            sum += strtoull(is_time ? strstr(end, usec) + strlen(usec) : end + strlen(calls), NULL, 10);
        text = end;
    }
    return sum;
}

static int count(struct commands *commands, const char *only, bool is_time, uint64_t *ret_count)
{
    redisReply *reply = redisCommand(commands->store, "INFO commandstats");
    bool is_good = reply && reply->str; /* a bulk string, or a verbatim string in RESP3 */
    if (is_good)
        *ret_count = sum_lines(reply->str, only, is_time);
    else
        fprintf(stderr, "INFO commandstats: %s\n", commands->store->errstr);
    if (reply)
        freeReplyObject(reply);
    return is_good ? 0 : -1;
}

int commands_count(struct commands *commands, uint64_t *ret_count)
{
    return count(commands, NULL, false, ret_count);
}

int commands_count_of(struct commands *commands, const char *name, uint64_t *ret_count)
{
    return count(commands, name, false, ret_count);
}

int commands_us_of(struct commands *commands, const char *name, uint64_t *ret_us)
{
    return count(commands, name, true, ret_us);
}

int commands_server_us(struct commands *commands, uint64_t *ret_us)
{
    static const char mark[] = "used_cpu_user:";
    redisReply *reply = redisCommand(commands->store, "INFO cpu");
    const char *line = reply && reply->str ? strstr(reply->str, mark) : NULL;
    if (line)
        *ret_us = (uint64_t)(strtod(line + strlen(mark), NULL) * 1e6);
    else
        fprintf(stderr, "INFO cpu: %s\n", commands->store->errstr);
    if (reply)
        freeReplyObject(reply);
    return line ? 0 : -1;
}

void commands_close(struct commands *commands)
{
    if (!commands)
        return;
    redisFree(commands->store);
    free(commands);
}
