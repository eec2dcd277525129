/* SPDX-License-Identifier: BSD-3-Clause */
/* till.c - a shop's side of the shared stock: three scripts on a hiredis connection of the shop's own.
 *
 * THE RESOURCE is three keys, the same for all shops:
 *   <prefix>stock   hash  item -> pieces left
 *   <prefix>fence   hash  item -> highest fencing token that has been here
 *   <prefix>ledger  list  "kind item token shop piece waited_ms at_ms": every sale, every refused write, every loss
 *                         that a shop learned of, and when by the server's clock
 *
 * It knows nothing of the lock. All it does for safety is to refuse a token lower than one it has seen: that stops the
 * write of a holder that slept past its lease. It does not compare stock and piece: two sales that overlap sell one
 * piece twice, and the ledger shows it. A token of 0 (--no-lock) is nothing to compare. */
#include "till.h"

#include "../store.h"
#include "plan.h"

#include <event2/event.h>
#include <hiredis/async.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct till {
    redisAsyncContext *store;
    char prefix[PREFIX_SIZE], shop[8];
    void (*on_gone)(void *);
    void *user;
    bool is_closing;
};

struct question { /* one command under way */
    till_fn *on_answer;
    void *user;
};

#define CLOCK                           \
    "local time = redis.call('TIME') "  \
    "local now_ms = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)) "

#define FENCED                                                            \
    "local item, token = ARGV[1], tonumber(ARGV[2]) "                     \
    "local seen = tonumber(redis.call('HGET', KEYS[2], item) or '0') "    \
    "local is_stale = token > 0 and token < seen "                        \
    "if token > seen then redis.call('HSET', KEYS[2], item, ARGV[2]) end "

static const char look_script[] = FENCED
    "if is_stale then return -1 end "
    "return tonumber(redis.call('HGET', KEYS[1], item))";

static const char sell_script[] = FENCED CLOCK
    "local kind = is_stale and 'refused' or 'sale' "
    "redis.call('RPUSH', KEYS[3], table.concat({kind, item, ARGV[2], ARGV[3], ARGV[4], ARGV[5], now_ms}, ' ')) "
    "if is_stale then return -1 end "
    "redis.call('HSET', KEYS[1], item, ARGV[4] - 1) "
    "return 1";

static const char lost_script[] = CLOCK
    "redis.call('RPUSH', KEYS[3], table.concat({'lost', ARGV[1], ARGV[2], ARGV[3], 0, 0, now_ms}, ' ')) return 1";

static void on_reply(redisAsyncContext *store, void *answer, void *user)
{
    struct question *question = user;
    redisReply *reply = answer;
    till_fn *on_answer = question->on_answer;
    void *on_answer_user = question->user;
    (void)store;
    free(question);
    if (reply && reply->type == REDIS_REPLY_INTEGER) {
        on_answer(reply->integer, on_answer_user);
        return;
    }
    fprintf(stderr, "the till does not answer: %s\n",
            reply && reply->type == REDIS_REPLY_ERROR ? reply->str : "connection lost");
    on_answer(TILL_FAILED, on_answer_user);
}

static int ask(struct till *till, const char *script, const struct till_sale *sale, till_fn *on_answer, void *user)
{
    struct question *question = malloc(sizeof *question);
    int status = REDIS_ERR;
    if (!question)
        return -1;
    *question = (struct question){on_answer, user};
    if (till->store)
        status = redisAsyncCommand(till->store, on_reply, question,
                                   "EVAL %s 3 %sstock %sfence %sledger %u %llu %s %lld %u", script, till->prefix,
                                   till->prefix, till->prefix, sale->item, (unsigned long long)sale->token, till->shop,
                                   sale->piece, sale->waited_ms);
    if (status != REDIS_OK)
        free(question);
    return status == REDIS_OK ? 0 : -1;
}

int till_look(struct till *till, unsigned item, uint64_t token, till_fn *on_answer, void *user)
{
    return ask(till, look_script, &(struct till_sale){.item = item, .token = token}, on_answer, user);
}

int till_sell(struct till *till, const struct till_sale *sale, till_fn *on_answer, void *user)
{
    return ask(till, sell_script, sale, on_answer, user);
}

int till_note_lost(struct till *till, unsigned item, uint64_t token, till_fn *on_answer, void *user)
{
    return ask(till, lost_script, &(struct till_sale){.item = item, .token = token}, on_answer, user);
}

static void on_disconnected(const redisAsyncContext *store, int status)
{
    struct till *till = store->data;
    (void)status;
    till->store = NULL; /* hiredis frees it as this returns */
    if (till->is_closing)
        free(till);
    else
        till->on_gone(till->user);
}

static void on_connected(const redisAsyncContext *store, int status)
{
    if (status != REDIS_OK) /* then on_disconnected will not run */
        on_disconnected(store, status);
}

struct till *till_open(struct event_base *base, const char *url, const char *prefix, const char *shop,
                       void (*on_gone)(void *), void *user)
{
    char error[STORE_ERROR_SIZE] = "out of memory";
    struct till *till = calloc(1, sizeof *till);
    if (till)
        till->store = store_connect_async(url, base, error);
    if (!till || !till->store) {
        fprintf(stderr, "no till: %s\n", error);
        free(till);
        return NULL;
    }
    snprintf(till->prefix, sizeof till->prefix, "%s", prefix);
    snprintf(till->shop, sizeof till->shop, "%s", shop);
    till->on_gone = on_gone;
    till->user = user;
    till->store->data = till;
    redisAsyncSetConnectCallback(till->store, on_connected);
    redisAsyncSetDisconnectCallback(till->store, on_disconnected);
    return till;
}

void till_close(struct till *till)
{
    if (!till)
        return;
    till->is_closing = true;
    if (till->store)
        redisAsyncDisconnect(till->store);
    else
        free(till);
}
