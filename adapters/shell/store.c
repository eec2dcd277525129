/* SPDX-License-Identifier: BSD-3-Clause */
/* store - see store.h. This is the only file of the shell that uses hiredis. It reads URLs with the library's own
 * parser, so that both read them alike. */
#include "store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(struct store *store, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(store->error, sizeof store->error, format, list);
    va_end(list);
    return -1;
}

static void disconnect(struct store *store)
{
    if (store->context)
        redisFree(store->context);
    store->context = NULL;
}

/* ---- commands and answers ---- */

redisReply *store_ask(struct store *store, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    redisReply *reply = store->context ? redisvCommand(store->context, format, list) : NULL;
    va_end(list);
    if (!reply)
        fail(store, "%.200s: %.90s", store->place, store->context ? store->context->errstr : "not connected");
    return reply;
}

redisReply *store_ask_words(struct store *store, int count, const char **words)
{
    redisReply *reply = store->context ? redisCommandArgv(store->context, count, words, NULL) : NULL;
    if (!reply)
        fail(store, "%.200s: %.90s", store->place, store->context ? store->context->errstr : "not connected");
    return reply;
}

static int expect(struct store *store, redisReply *reply, const char *what)
{
    int is_good = reply && reply->type != REDIS_REPLY_ERROR;
    if (reply && !is_good)
        fail(store, "%.200s: %s is refused: %.60s", store->place, what, reply->str);
    if (reply)
        freeReplyObject(reply);
    return is_good ? 0 : -1;
}

/* Shows only the code word of a refused login, because a server may repeat the login in its refusal. */
static int log_in(struct store *store)
{
    const struct hl_url *url = &store->url;
    redisReply *reply;
    if (!url->password)
        return 0;
    reply = url->user ? store_ask(store, "AUTH %s %s", url->user, url->password)
                      : store_ask(store, "AUTH %s", url->password);
    if (reply && reply->type == REDIS_REPLY_ERROR)
        reply->str[strcspn(reply->str, " ")] = '\0';
    return expect(store, reply, "the login");
}

static int select_database(struct store *store)
{
    return store->url.db ? expect(store, store_ask(store, "SELECT %d", store->url.db), "SELECT") : 0;
}

/* ---- connecting ---- */

static int greet(struct store *store, int is_sentinel)
{
    const struct timeval patience = {STORE_PATIENCE_S, 0};
    if (!store->context || store->context->err) {
        fail(store, "%.200s: %.90s", store->place, store->context ? store->context->errstr : "out of memory");
        disconnect(store);
        return -1;
    }
    redisSetTimeout(store->context, patience);
    return is_sentinel || (log_in(store) == 0 && select_database(store) == 0) ? 0 : -1;
}

int store_join(struct store *store, const char *host, int port, int is_sentinel)
{
    const struct timeval patience = {STORE_PATIENCE_S, 0};
    disconnect(store);
    snprintf(store->place, sizeof store->place, strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
    store->context = redisConnectWithTimeout(host, port, patience);
    return greet(store, is_sentinel);
}

static int join_socket(struct store *store)
{
    const struct timeval patience = {STORE_PATIENCE_S, 0};
    snprintf(store->place, sizeof store->place, "%s", store->url.hosts[0].host);
    store->context = redisConnectUnixWithTimeout(store->url.hosts[0].host, patience);
    return greet(store, 0);
}

static int join_master_of(struct store *store, const struct hl_url_host *sentinel)
{
    const char *master = store->url.master ? store->url.master : "mymaster";
    if (store_join(store, sentinel->host, sentinel->port, 1) != 0)
        return -1;
    redisReply *reply = store_ask(store, "SENTINEL get-master-addr-by-name %s", master);
    int is_named = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2;
    if (reply && !is_named)
        fail(store, "%.200s: this sentinel knows no master \"%.60s\"", store->place, master);
    int joined = is_named ? store_join(store, reply->element[0]->str, atoi(reply->element[1]->str), 0) : -1;
    if (reply)
        freeReplyObject(reply);
    return joined;
}

static int join_any(struct store *store)
{
    for (unsigned i = 0; i < store->url.hosts_count; i++) {
        const struct hl_url_host *host = &store->url.hosts[i];
        int is_sentinel = store->url.scheme == HL_URL_SENTINEL;
        if ((is_sentinel ? join_master_of(store, host) : store_join(store, host->host, host->port, 0)) == 0)
            return 0;
    }
    return -1;
}

int store_open(struct store *store, const char *url)
{
    struct hl_text error;
    *store = (struct store){.place = "the server"};
    hl_memory_init(&store->memory, NULL);
    if (hl_url_parse(&store->url, &store->memory, url, &error) != HILOCK_OK) {
        store->url = (struct hl_url){0};
        return fail(store, "%s", error.bytes);
    }
    if (store->url.is_tls)
        return fail(
            store,
            "over TLS this command shows the locks that are named, and asks the server nothing else");
    return store->url.scheme == HL_URL_UNIX ? join_socket(store) : join_any(store);
}

void store_close(struct store *store)
{
    disconnect(store);
    hl_url_done(&store->url, &store->memory);
    store->url = (struct hl_url){0};
}

/* ---- clusters ---- */

/* Reads a redirect such as "MOVED 1234 10.0.0.5:7001". An empty host means the server that answered. */
static int follow(struct store *store, char *moved)
{
    char host[256], *place = strrchr(moved, ' '), *colon = strrchr(moved, ':');
    if (strncmp(moved, "MOVED ", 6) != 0 || !place || !colon || colon < place)
        return -1;
    snprintf(host, sizeof host, "%.*s", (int)(colon - place - 1), place + 1);
    if (!*host && store->context->tcp.host)
        snprintf(host, sizeof host, "%s", store->context->tcp.host);
    return store_join(store, host, atoi(colon + 1), 0);
}

redisReply *store_ask_about(struct store *store, int count, const char **words)
{
    redisReply *reply = store_ask_words(store, count, words);
    if (!reply || reply->type != REDIS_REPLY_ERROR || follow(store, reply->str) != 0)
        return reply;
    freeReplyObject(reply);
    return store_ask_words(store, count, words);
}

/* Reads a range of CLUSTER SLOTS, {first, last, {host, port, ..}, ..}. The first server of a range is its master. */
static const redisReply *master_of(const redisReply *range)
{
    const redisReply *server = range->type == REDIS_REPLY_ARRAY && range->elements > 2 ? range->element[2] : NULL;
    int is_server = server && server->type == REDIS_REPLY_ARRAY && server->elements > 1 &&
                    server->element[0]->type == REDIS_REPLY_STRING && server->element[1]->type == REDIS_REPLY_INTEGER;
    return is_server ? server : NULL;
}

static int is_first(const redisReply *slots, size_t i)
{
    const redisReply *server = master_of(slots->element[i]);
    for (size_t j = 0; server && j < i; j++) {
        const redisReply *other = master_of(slots->element[j]);
        if (other && strcmp(other->element[0]->str, server->element[0]->str) == 0 &&
            other->element[1]->integer == server->element[1]->integer)
            return 0;
    }
    return server != NULL;
}

int store_each_master(struct store *store, store_server_fn *visit, void *arg)
{
    int status = 0;
    if (store->url.scheme != HL_URL_CLUSTER)
        return visit(store, arg), 0;
    redisReply *slots = store_ask(store, "CLUSTER SLOTS");
    if (!slots || slots->type != REDIS_REPLY_ARRAY)
        return expect(store, slots, "CLUSTER SLOTS"), -1;
    for (size_t i = 0; status == 0 && i < slots->elements; i++) {
        const redisReply *server = is_first(slots, i) ? master_of(slots->element[i]) : NULL;
        if (!server)
            continue;
        status = store_join(store, server->element[0]->str, (int)server->element[1]->integer, 0);
        if (status == 0 && visit(store, arg))
            break;
    }
    freeReplyObject(slots);
    return status;
}
