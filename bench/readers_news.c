/* SPDX-License-Identifier: BSD-3-Clause */
/* readers_news.c - the yardstick of readers who are let in: as many messages, which one script publishes.
 *
 * Each process of readers listens by bare hiredis on as many connections as it has clients, to a channel each, as these
 * clients do. The writer's process runs a script that publishes one message for each reader, on the channel of its
 * client, and does nothing else. */
#include "messages.h"
#include "readers.h"
#include "store.h"

#include <event2/event.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char script[] = "for i = 1, ARGV[1] do redis.call('PUBLISH', ARGV[2] .. i % ARGV[3], ARGV[4]) end";
/* As long as the push that makes a waiter the holder. */
static const char message[] = "G 5d7bf3c2-6d0e-4b0b-9f0e-0123456789ab:123456:hilock-bench@host/12345 1795887437203139 "
                              "1795887437 203139 bench:readers:12345";

enum { CONNECTS = 1000, CONNECT_AGAIN_MS = 5 };

struct news {
    struct crowd_member *member;
    void (*on_ready)(struct crowd_member *member);
    redisAsyncContext **stores; /* of the writer's process one, for the script */
    unsigned count, ready, had;
    bool is_due;
};

static const struct readers_board *board_of(const struct news *news) { return news->member->board; }

/* The order may come behind the last message. */
static void answer_when_had(struct news *news)
{
    if (!news->is_due || news->had < board_of(news)->handles)
        return;
    news->is_due = false;
    news->had = 0;
    crowd_answer(news->member);
}

static void on_message(redisAsyncContext *store, void *answer, void *user)
{
    struct news *news = user;
    const redisReply *reply = answer;
    (void)store;
    if (!reply)
        return;
    if (reply->type == REDIS_REPLY_ERROR) {
        messages_fail(news->member->base, reply->str);
    } else if (news->ready < news->count) {
        if (++news->ready == news->count)
            news->on_ready(news->member);
    } else if (++news->had == board_of(news)->handles) {
        struct readers_board *board = news->member->board;
        uint64_t now_ns = crowd_now_ns(), last_ns = board->last_ns;
        while (now_ns > last_ns && !atomic_compare_exchange_weak(&board->last_ns, &last_ns, now_ns))
            ;
        answer_when_had(news);
    }
}

static void on_disconnected(const redisAsyncContext *store, int status)
{
    (void)status;
    *(redisAsyncContext **)store->data = NULL; /* hiredis frees the context when this returns */
}

/* Where hundreds connect at once, a server's unix socket refuses those that it has no room for. */
static redisAsyncContext *join(struct news *news, redisAsyncContext **ret_store)
{
    char error[STORE_ERROR_SIZE];
    for (unsigned i = 0; i < CONNECTS && !*ret_store; i++) {
        if (i)
            crowd_rest(CONNECT_AGAIN_MS / 1e3);
        *ret_store = store_connect_async(board_of(news)->url, news->member->base, error);
    }
    if (!*ret_store) {
        fprintf(stderr, "bare messages: %s\n", error);
        return NULL;
    }
    (*ret_store)->data = ret_store;
    redisAsyncSetDisconnectCallback(*ret_store, on_disconnected);
    return *ret_store;
}

/* The process that publishes listens to nothing. */
struct news *news_open(struct crowd_member *member, void (*on_ready)(struct crowd_member *member))
{
    struct news *news = calloc(1, sizeof *news);
    if (!news)
        return NULL;
    news->member = member;
    news->on_ready = on_ready;
    news->count = member->index ? board_of(news)->clients : 1;
    news->stores = calloc(news->count, sizeof *news->stores);
    for (unsigned i = 0; i < news->count; i++) {
        if (!news->stores || !join(news, &news->stores[i])) {
            news_close(news);
            return NULL;
        }
        if (member->index)
            redisAsyncCommand(news->stores[i], on_message, news, "SUBSCRIBE %s:news:%u", board_of(news)->name,
                              (member->index - 1) * news->count + i);
    }
    if (!member->index)
        on_ready(member);
    return news;
}

void news_begin(struct news *news)
{
    struct readers_board *board = news->member->board;
    unsigned processes = news->member->count - 1;
    if (news->member->index) {
        news->is_due = true;
        answer_when_had(news);
        return;
    }
    board->began_ns = crowd_now_ns();
    if (redisAsyncCommand(news->stores[0], messages_on_answer, news->member->base, "EVAL %s 0 %u %s:news: %u %s",
                          script, board->handles * processes, board->name, board->clients * processes, message) !=
        REDIS_OK)
        messages_fail(news->member->base, "cannot send");
    crowd_answer(news->member);
}

void news_close(struct news *news)
{
    if (!news)
        return;
    for (unsigned i = 0; news->stores && i < news->count; i++)
        if (news->stores[i])
            redisAsyncFree(news->stores[i]);
    free(news->stores);
    free(news);
}
