/* SPDX-License-Identifier: BSD-3-Clause */
/* shadow - the tests of the scripts (../../memory/script_trial.h) on a real server: it hears each command that the store in memory hears, at the
 * same virtual time, and each answer and each message must be the same. So what those tests assert holds for both. LOCKSTEP_SHIM names the
 * library of wall_clock.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "clocked.h"
#include "live/support/check.h"
#include "memory/script_trial.h"

enum { CONNECTIONS = 64, LINES = 256 };

static struct clocked server;
static redisContext *connections[CONNECTIONS], *limited; /* limited: of a user who lacks a right; NULL: nobody does */
static int listens_there[CONNECTIONS];
static uint64_t syncs;

static redisReply *answered(redisContext *context)
{
    void *reply = NULL;
    if (redisGetReply(context, &reply) != REDIS_OK)
        check_fail("the server is gone or owes an answer: %s", context->errstr);
    return reply;
}

static void order(const char *format, const char *one, const char *other)
{
    redisReply *reply = redisCommand(connections[0], format, one, other);
    if (!reply || reply->type == REDIS_REPLY_ERROR)
        check_fail("%s: %s", format, reply ? reply->str : "no answer");
    freeReplyObject(reply);
}

static redisContext *connection_of(unsigned number)
{
    CHECK(number < CONNECTIONS);
    if (!connections[number])
        connections[number] = clocked_connect(&server);
    return connections[number];
}

static void close_one(unsigned number)
{
    if (number < CONNECTIONS && connections[number])
        redisFree(connections[number]);
    connections[number] = NULL;
    listens_there[number] = 0;
    order("PING%s%s", "", ""); /* by then it has noticed */
}

static void grant_all(void)
{
    if (limited)
        redisFree(limited);
    limited = NULL;
}

static void begin(void)
{
    if (!server.server) {
        check_in_child(); /* this process: it fails by its status */
        clocked_begin(&server, getenv("LOCKSTEP_SHIM"), start_us);
        connection_of(0);
    }
    for (unsigned number = 1; number < CONNECTIONS; number++)
        if (connections[number])
            close_one(number);
    grant_all();
    order("CONFIG SET %s %s", "maxmemory", "0");
    order("CONFIG SET %s %s", "min-replicas-to-write", "0");
    order("FLUSHALL%s%s", "", "");
}

static void set_time(uint64_t now_us) { clocked_set_time(&server, now_us); }
static void set(const char *setting, const char *value) { order("CONFIG SET %s %s", setting, value); }

/* A right to keys is one to all that the scripts know, but for those. */
static void deny(const char *command, const char *prefix)
{
    static const char *const keys[] = {N, Q, T, R, S, J};
    redisReply *reply;
    char word[64];
    grant_all();
    if (!command && !prefix)
        return;
    CHECK(!command || !prefix);
    order("ACL SETUSER %s reset on nopass &* +@all%s", "limited", "");
    snprintf(word, sizeof word, "-%s", command ? command : "quit");
    order("ACL SETUSER %s %s", "limited", word);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(word, sizeof word, "~%s", keys[i]);
        if (!prefix || strncmp(keys[i], prefix, strlen(prefix)) != 0)
            order("ACL SETUSER %s %s", "limited", word);
    }
    limited = clocked_connect(&server);
    reply = redisCommand(limited, "AUTH limited any");
    CHECK(reply && reply->type == REDIS_REPLY_STATUS);
    freeReplyObject(reply);
}

/* ---- what it says ---- */

/* Errors of rights are worded differently by servers of different versions. */
static void compare(const char *const *words, const struct sim_reply *expected, const redisReply *reply)
{
    static struct answer real, sim;
    if (limited && expected->type == SIM_REPLY_ERROR && reply->type == REDIS_REPLY_ERROR)
        return;
    answer_start(&real);
    answer_start(&sim);
    answer_add_real(&real, reply);
    answer_add_sim(&sim, expected);
    if (!answer_is(&real, &sim))
        check_fail("%s %.40s: the server says %s, the store %s", words[0], words[1] ? words[1] : "", real.text, sim.text);
}

static int by_text(const void *one, const void *other) { return strcmp(*(char *const *)one, *(char *const *)other); }

static size_t sorted_lines(char *text, char *lines[LINES])
{
    size_t count = 0;
    for (char *line = strtok(text, "\n"); line && count < LINES; line = strtok(NULL, "\n"))
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, by_text);
    return count;
}

/* All that a listener has been sent, up to the echo of a word of ours. */
static void listen(redisContext *context, char to[HEARD_ROOM])
{
    char word[32];
    int is_last;
    snprintf(word, sizeof word, "sync %llu", (unsigned long long)syncs++);
    redisAppendCommand(context, "PING %s", word);
    do {
        redisReply *push = answered(context);
        size_t used = strlen(to);
        CHECK(push->type == REDIS_REPLY_ARRAY && push->elements >= 2);
        is_last = strcmp(push->element[0]->str, "pong") == 0;
        CHECK(is_last ? strcmp(push->element[1]->str, word) == 0 : push->elements == 3);
        if (!is_last)
            snprintf(to + used, HEARD_ROOM - used, "%s %s\n", push->element[1]->str, push->element[2]->str);
        freeReplyObject(push);
    } while (!is_last);
}

static void compare_heard(const char *const *words, const char *expected)
{
    static char real[HEARD_ROOM], sim[HEARD_ROOM], *real_lines[LINES], *sim_lines[LINES];
    size_t count;
    real[0] = '\0';
    for (unsigned number = 0; number < CONNECTIONS; number++)
        if (listens_there[number])
            listen(connections[number], real);
    snprintf(sim, sizeof sim, "%s", expected);
    count = sorted_lines(real, real_lines);
    if (sorted_lines(sim, sim_lines) != count)
        check_fail("%s: the server has sent %zu messages, the store others", words[0], count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(real_lines[i], sim_lines[i]) != 0)
            check_fail("%s: the server has sent \"%s\", the store \"%s\"", words[0], real_lines[i], sim_lines[i]);
}

static void execute(unsigned number, const char *const *words, const struct sim_reply *expected, const char *heard_there)
{
    int is_script = strcmp(words[0], "EVALSHA") == 0;
    redisContext *context = limited && is_script ? limited : connection_of(number);
    const char *argv[WORDS_MAX];
    redisReply *reply;
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = words[argc];
    redisAppendCommandArgv(context, argc, argv, NULL);
    reply = answered(context);
    compare(words, expected, reply);
    freeReplyObject(reply);
    listens_there[number] |= strstr(words[0], "SUBSCRIBE") != NULL;
    if (is_script || strcmp(words[0], "PUBLISH") == 0)
        compare_heard(words, heard_there);
}

__attribute__((constructor)) static void cast(void)
{
    static const struct trial_shadow shadow = {begin, set_time, execute, deny, set, close_one};
    trial_shadow = &shadow;
}
