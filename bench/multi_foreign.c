/* SPDX-License-Identifier: BSD-3-Clause */
/* multi_foreign.c - a process of scenario multi that locks as a MultiLock of Redisson does: one name after the other,
 * each as its RLock does: ask, subscribe, ask again, then wait for a message or for the end of the lease. If it lacks
 * one after 1.5 s a name, it gives all back and begins again. Its order is the opposite of hilock's, the worst that all
 * of its kind can share: in orders of their own they would wait for each other. It blocks, and uses nothing of
 * hilock. */
#include "multi.h"
#include "store.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LEASE_MS = 30000, PATIENCE_MS = 1500 };

static const char ask[] = "if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then "
                          "return redis.call('PTTL', KEYS[1]) end "
                          "redis.call('HINCRBY', KEYS[1], ARGV[2], '1') redis.call('PEXPIRE', KEYS[1], ARGV[1]) "
                          "return -3";
static const char give_back[] = "if redis.call('HINCRBY', KEYS[1], ARGV[1], '-1') <= 0 then "
                                "redis.call('DEL', KEYS[1]) redis.call('PUBLISH', KEYS[2], '0') end";
enum { GOT = -3 };

struct name {
    char key[32], channel[64];
};

static void fail(const char *what, const redisContext *store)
{
    fprintf(stderr, "foreign: %s: %s\n", what, store->errstr);
    exit(1);
}

static long long ask_for(const struct multi_foreign *foreign, const struct name *name)
{
    redisReply *reply = redisCommand(foreign->store, "EVAL %s 1 %s %d %s", ask, name->key, LEASE_MS, foreign->holder);
    long long left_ms;
    if (!reply || reply->type != REDIS_REPLY_INTEGER)
        fail(reply && reply->str ? reply->str : "EVAL", foreign->store);
    left_ms = reply->integer;
    freeReplyObject(reply);
    return left_ms;
}

static void release(const struct multi_foreign *foreign, const struct name *names, unsigned count)
{
    while (count--) {
        redisReply *reply = redisCommand(foreign->store, "EVAL %s 2 %s %s %s", give_back, names[count].key,
                                         names[count].channel, foreign->holder);
        if (!reply || reply->type == REDIS_REPLY_ERROR)
            fail(reply ? reply->str : "EVAL", foreign->store);
        freeReplyObject(reply);
    }
}

/* verb: subscribe or unsubscribe. Messages that come before its answer are dropped: the name is asked for after it. */
static void listen_to(const struct multi_foreign *foreign, const char *verb, const char *channel)
{
    bool is_answered = false;
    redisAppendCommand(foreign->listener, "%s %s", verb, channel);
    while (!is_answered) {
        redisReply *reply;
        if (redisGetReply(foreign->listener, (void **)&reply) != REDIS_OK)
            fail(verb, foreign->listener);
        is_answered = reply->type == REDIS_REPLY_ARRAY && strcmp(reply->element[0]->str, verb) == 0;
        freeReplyObject(reply);
    }
}

static void await_message(const struct multi_foreign *foreign, long long limit_ms)
{
    struct pollfd fd = {.fd = foreign->listener->fd, .events = POLLIN};
    void *reply = NULL;
    redisGetReplyFromReader(foreign->listener, &reply); /* one that came together with another */
    if (!reply && poll(&fd, 1, (int)limit_ms) > 0 && redisBufferRead(foreign->listener) == REDIS_OK)
        redisGetReplyFromReader(foreign->listener, &reply);
    if (foreign->listener->err)
        fail("message", foreign->listener);
    if (reply)
        freeReplyObject(reply);
}

static bool lock(const struct multi_foreign *foreign, const struct name *name, uint64_t until_ns)
{
    long long lease_ms = ask_for(foreign, name);
    if (lease_ms == GOT)
        return true;
    listen_to(foreign, "subscribe", name->channel);
    while ((lease_ms = ask_for(foreign, name)) != GOT) {
        long long left_ms = ((long long)until_ns - (long long)crowd_now_ns()) / 1000000;
        if (left_ms <= 0)
            break;
        await_message(foreign, lease_ms >= 0 && lease_ms < left_ms ? lease_ms : left_ms);
    }
    listen_to(foreign, "unsubscribe", name->channel);
    return lease_ms == GOT;
}

static void lock_all(const struct multi_foreign *foreign, const struct name *names, unsigned count)
{
    for (unsigned had = 0; had < count;) {
        uint64_t until_ns = crowd_now_ns() + (uint64_t)count * PATIENCE_MS * 1000000;
        for (had = 0; had < count && lock(foreign, &names[had], until_ns);)
            had++;
        if (had < count)
            release(foreign, names, had);
    }
}

static int downwards(const void *a, const void *b)
{
    unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
    return (left < right) - (left > right);
}

static void rest(uint32_t us)
{
    nanosleep(&(struct timespec){us / 1000000, (long)(us % 1000000) * 1000}, NULL);
}

int multi_foreign_open(struct multi_foreign *foreign, const char *url)
{
    char error[STORE_ERROR_SIZE];
    foreign->store = store_connect(url, error);
    foreign->listener = foreign->store ? store_connect(url, error) : NULL;
    snprintf(foreign->holder, sizeof foreign->holder, "%08x-0000-4000-8000-000000000000:1", (unsigned)getpid());
    if (!foreign->listener)
        fprintf(stderr, "foreign: %s\n", error);
    return foreign->listener ? 0 : -1;
}

void multi_foreign_play(struct crowd_member *member, const struct multi_foreign *foreign)
{
    const struct multi_board *board = member->board;
    while (!board->is_over) {
        unsigned chosen[MULTI_EACH_MAX];
        struct name names[MULTI_EACH_MAX];
        uint64_t begun_ns;
        multi_choose(board, board->each, chosen);
        qsort(chosen, board->each, sizeof *chosen, downwards);
        for (unsigned i = 0; i < board->each; i++) {
            snprintf(names[i].key, sizeof names[i].key, MULTI_NAME, chosen[i]);
            snprintf(names[i].channel, sizeof names[i].channel, "redisson_lock__channel:{" MULTI_NAME "}", chosen[i]);
        }
        begun_ns = crowd_now_ns();
        lock_all(foreign, names, board->each);
        multi_record(member, crowd_now_ns() - begun_ns);
        rest(board->hold_us);
        release(foreign, names, board->each);
        rest(board->think_us);
    }
}

void multi_foreign_close(struct multi_foreign *foreign)
{
    redisFree(foreign->store);
    redisFree(foreign->listener);
}
