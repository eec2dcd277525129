/* SPDX-License-Identifier: BSD-3-Clause */
/* store.c - plain hiredis connections to the server that a hilock URL names.
 *
 * The demo's own data and the bare loops of the bench need a server without a lock client. So this file reads the
 * URL: one server, by TCP or unix socket. Sentinel, Cluster and TLS are refused with the reason. Invariant: a
 * connection that could not log in or select its database is never used, but closed. */
#include "store.h"

#include <event2/event.h>
#include <event2/http.h>
#include <hiredis/adapters/libevent.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    char text[STORE_ERROR_SIZE]; /* the unescaped text into which the pointers below point */
    const char *user, *password, *host, *path; /* NULL: the URL has none; path: that of a unix socket */
    int port, database;
};

static void unescape(const char *text)
{
    size_t length;
    char *plain = text ? evhttp_uridecode(text, 0, &length) : NULL;
    if (plain)
        memcpy((char *)(uintptr_t)text, plain, length + 1); /* the unescaped text is never longer */
    free(plain);
}

static void split_login(struct place *place, char **rest)
{
    char *at = strrchr(*rest, '@'), *colon;
    if (!at)
        return;
    *at = '\0';
    place->user = *rest;
    *rest = at + 1;
    colon = strchr(place->user, ':');
    if (colon) {
        *colon = '\0';
        place->password = colon + 1;
    }
    if (!*place->user)
        place->user = NULL;
    unescape(place->user);
    unescape(place->password);
}

static void split_unix(struct place *place, char *rest)
{
    char *query = strstr(rest, "?db=");
    if (query) {
        *query = '\0';
        place->database = atoi(query + 4);
    }
    place->path = rest;
    unescape(place->path);
}

static void split_tcp(struct place *place, char *rest)
{
    char *slash = strchr(rest, '/'), *colon;
    if (slash) {
        *slash = '\0';
        place->database = atoi(slash + 1);
    }
    colon = strrchr(rest, ':');
    if (*rest == '[') { /* an IPv6 address: [::1]:6379 */
        rest++;
        rest[strcspn(rest, "]")] = '\0';
        if (colon && colon < rest + strlen(rest))
            colon = NULL;
    }
    if (colon) {
        *colon = '\0';
        place->port = atoi(colon + 1);
    }
    place->host = *rest ? rest : "127.0.0.1";
}

static int place_read(struct place *ret_place, const char *url, char *ret_error)
{
    static const char tcp[] = "redis://", local[] = "unix://";
    bool is_unix = strncmp(url, local, strlen(local)) == 0;
    char *rest;
    if (!is_unix && strncmp(url, tcp, strlen(tcp)) != 0) {
        snprintf(ret_error, STORE_ERROR_SIZE,
                 "demo and bench speak redis://host[:port] and unix:///path only: name one server so");
        return -1;
    }
    *ret_place = (struct place){.port = 6379};
    snprintf(ret_place->text, sizeof ret_place->text, "%s", url + strlen(is_unix ? local : tcp));
    rest = ret_place->text;
    split_login(ret_place, &rest);
    if (is_unix)
        split_unix(ret_place, rest);
    else
        split_tcp(ret_place, rest);
    return 0;
}

/* Formats AUTH and SELECT if the URL asks for them, and returns how many commands that makes. */
static int login_commands(const struct place *place, char *ret_commands[2])
{
    int count = 0;
    if (place->password && place->user)
        count += redisFormatCommand(&ret_commands[count], "AUTH %s %s", place->user, place->password) > 0;
    else if (place->password)
        count += redisFormatCommand(&ret_commands[count], "AUTH %s", place->password) > 0;
    if (place->database)
        count += redisFormatCommand(&ret_commands[count], "SELECT %d", place->database) > 0;
    return count;
}

static int login(redisContext *context, const struct place *place)
{
    char *commands[2];
    int count = login_commands(place, commands), status = 0;
    for (int i = 0; i < count; i++) {
        redisReply *reply = NULL;
        redisAppendFormattedCommand(context, commands[i], strlen(commands[i]));
        redisFreeCommand(commands[i]);
        if (status == 0 && (redisGetReply(context, (void **)&reply) != REDIS_OK || reply->type == REDIS_REPLY_ERROR)) {
            snprintf(context->errstr, sizeof context->errstr, "%.100s", reply ? reply->str : "no answer");
            status = -1;
        }
        if (reply)
            freeReplyObject(reply);
    }
    return status;
}

redisContext *store_connect(const char *url, char *ret_error)
{
    static const struct timeval limit = {3, 0};
    struct place place;
    redisContext *context;
    if (place_read(&place, url, ret_error) != 0)
        return NULL;
    context = place.path ? redisConnectUnixWithTimeout(place.path, limit)
                         : redisConnectWithTimeout(place.host, place.port, limit);
    if (context && !context->err && redisSetTimeout(context, limit) == REDIS_OK && login(context, &place) == 0)
        return context;
    snprintf(ret_error, STORE_ERROR_SIZE, "no connection to %s: %s", place.path ? place.path : place.host,
             context ? context->errstr : "out of memory");
    if (context)
        redisFree(context);
    return NULL;
}

static void on_login(redisAsyncContext *context, void *answer, void *user)
{
    redisReply *reply = answer;
    (void)user;
    if (reply && reply->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "login refused: %s\n", reply->str);
        redisAsyncFree(context);
    }
}

redisAsyncContext *store_connect_async(const char *url, struct event_base *base, char *ret_error)
{
    struct place place;
    redisAsyncContext *context;
    char *commands[2];
    int count;
    if (place_read(&place, url, ret_error) != 0)
        return NULL;
    context = place.path ? redisAsyncConnectUnix(place.path) : redisAsyncConnect(place.host, place.port);
    if (!context || context->err || redisLibeventAttach(context, base) != REDIS_OK) {
        snprintf(ret_error, STORE_ERROR_SIZE, "no connection to %s: %s", place.path ? place.path : place.host,
                 context ? context->errstr : "out of memory");
        if (context)
            redisAsyncFree(context);
        return NULL;
    }
    count = login_commands(&place, commands);
    for (int i = 0; i < count; i++) {
        redisAsyncFormattedCommand(context, on_login, NULL, commands[i], strlen(commands[i]));
        redisFreeCommand(commands[i]);
    }
    return context;
}

long long store_ask(struct redisContext *store, const char *format, ...)
{
    va_list words;
    redisReply *reply;
    long long answer;
    va_start(words, format);
    reply = redisvCommand(store, format, words);
    va_end(words);
    answer = reply && reply->type == REDIS_REPLY_INTEGER ? reply->integer : 0;
    if (!reply || reply->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "%s: %s\n", format, reply ? reply->str : store->errstr);
        answer = -1;
    }
    if (reply)
        freeReplyObject(reply);
    return answer;
}
