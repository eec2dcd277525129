/* SPDX-License-Identifier: BSD-3-Clause */
/* java - see java.h. */
#include "java.h"

#include <stdio.h>

#include "check.h"

/* What RLock does to the key: a hash, one field a holder, its value a count; the lease is the key's. nil: had; else the holder's PTTL. */
static const char lock_script[] = "local mine = redis.call('hexists', KEYS[1], ARGV[2]) == 1 "
                                  "if not mine and redis.call('exists', KEYS[1]) == 1 then return redis.call('pttl', KEYS[1]) end "
                                  "redis.call('hincrby', KEYS[1], ARGV[2], 1) "
                                  "redis.call('pexpire', KEYS[1], ARGV[1]) "
                                  "return nil";

/* nil: not his; 0: still held, counted down; 1: free, published on the channel. The latch makes a repeated unlock harmless. */
static const char unlock_script[] = "local before = redis.call('get', KEYS[3]) "
                                    "if before then return tonumber(before) end "
                                    "if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end "
                                    "local is_free = 0 "
                                    "if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then "
                                    "  redis.call('pexpire', KEYS[1], ARGV[2]) "
                                    "else "
                                    "  redis.call('del', KEYS[1]) "
                                    "  redis.call('publish', KEYS[2], '0') "
                                    "  is_free = 1 "
                                    "end "
                                    "redis.call('set', KEYS[3], is_free, 'px', 16000) "
                                    "return is_free";

long long java_lock(struct redis *redis, const char *name, const char *holder, int lease_ms)
{
    redisReply *reply = redis_reply(redis, "EVAL %s 1 %s %d %s", lock_script, name, lease_ms, holder);
    long long answer = reply->type == REDIS_REPLY_NIL ? JAVA_HAD : reply->integer;
    CHECK(reply->type == REDIS_REPLY_NIL || reply->type == REDIS_REPLY_INTEGER);
    freeReplyObject(reply);
    return answer;
}

long long java_unlock(struct redis *redis, const char *name, const char *holder, int lease_ms)
{
    static unsigned latches;
    char latch[128], channel[128];
    redisReply *reply;
    long long answer;
    snprintf(latch, sizeof latch, "redisson_unlock_latch:{%s}:%s:%u", name, holder, latches++);
    snprintf(channel, sizeof channel, "redisson_lock__channel:{%s}", name);
    reply = redis_reply(redis, "EVAL %s 3 %s %s %s %s %d", unlock_script, name, channel, latch, holder, lease_ms);
    answer = reply->type == REDIS_REPLY_INTEGER ? reply->integer : JAVA_HAD;
    freeReplyObject(reply);
    redis_do(redis, "DEL %s", latch);
    return answer;
}
