/* SPDX-License-Identifier: BSD-3-Clause */
/* bare.c - PORT: no lock client at all, by the lines of README.md: SET NX PX and a script that deletes, over a
 * blocking hiredis connection. It asks once and never waits, so it plays what nobody else wants: a yardstick. */
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char release_script[] =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Owns the reply. */
static void expect(redisReply *reply, bool is_good, const char *what)
{
    if (!is_good) {
        fprintf(stderr, "%s: %s\n", what, reply && reply->str ? reply->str : "no reply, or an unexpected one");
        exit(1);
    }
    freeReplyObject(reply);
}

static void pair(redisContext *store, FILE *lines, const char *sha1, const char *name, unsigned lease_ms, unsigned id)
{
    const uint64_t asked = now_ns();
    uint64_t granted, releasing;
    redisReply *reply = redisCommand(store, "SET %s %u NX PX %u", name, id, lease_ms);
    granted = now_ns();
    expect(reply, reply && reply->type == REDIS_REPLY_STATUS, "SET");
    releasing = now_ns();
    reply = redisCommand(store, "EVALSHA %s 1 %s %u", sha1, name, id);
    fprintf(lines, "grant %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", asked, granted, releasing,
            now_ns());
    expect(reply, reply && reply->type == REDIS_REPLY_INTEGER && reply->integer == 1, "EVALSHA");
}

int main(int argc, char **argv)
{
    redisContext *store = redisConnect("127.0.0.1", argc == 2 ? atoi(argv[1]) : 0);
    redisReply *reply = store && !store->err ? redisCommand(store, "SCRIPT LOAD %s", release_script) : NULL;
    char sha1[64], line[256], name[128], *text;
    size_t length;
    FILE *lines = open_memstream(&text, &length); /* told when all is over: to write takes time from what is measured */
    unsigned lease_ms, run_ms, id = 0;
    snprintf(sha1, sizeof sha1, "%s", reply && reply->str ? reply->str : "");
    expect(reply, lines && reply && reply->type == REDIS_REPLY_STRING, "SCRIPT LOAD");
    puts("ready bare");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        uint64_t end;
        if (sscanf(line, "run bare %127s %u 0 0 %u", name, &lease_ms, &run_ms) != 3) {
            fprintf(stderr, "it neither waits nor holds: %s", line);
            return 1;
        }
        for (end = now_ns() + (uint64_t)run_ms * 1000000; now_ns() < end;)
            pair(store, lines, sha1, name, lease_ms, ++id);
        fflush(lines);
        fwrite(text, 1, length, stdout);
        rewind(lines);
        puts("done");
        fflush(stdout);
    }
    redisFree(store);
}
