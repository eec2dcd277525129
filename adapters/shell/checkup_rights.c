/* SPDX-License-Identifier: BSD-3-Clause */
/* checkup_rights - finds all rights that the user lacks, in one run: it sends each command of the list in operate.md
 * once, in a form that changes nothing, under a name that no program uses. Only HSET makes a key, so it is sent only
 * if the user also has the right to set an expiry.
 *
 * A server checks the rights before it looks at keys, so any answer other than NOPERM shows that the user has the
 * right. */
#include "findings.h"
#include "store.h"

#include <stdio.h>
#include <string.h>

enum { QUEUED = 1, SIMPLE = 2, SHARED = 4, WORDS_MAX = 6, UNKNOWN = 2 };

/* A "%" in a command stands for the lock's name. */
static const struct right {
    int kinds;
    const char *right, *keys; /* the right to name if the command is denied, and if the key or the channel is */
    const char *words[WORDS_MAX + 1];
} rights[] = {
    {QUEUED | SIMPLE, "+evalsha", "~NAME*", {"EVALSHA", "0000000000000000000000000000000000000000", "1", "%"}},
    {QUEUED | SIMPLE, "+script|load", "", {"SCRIPT", "LOAD", "return 1"}},
    {QUEUED | SIMPLE, "+time", "", {"TIME"}},
    {QUEUED | SIMPLE, "+pttl", "~NAME*", {"PTTL", "%"}},
    {QUEUED | SIMPLE, "+pexpire", "~NAME*", {"PEXPIRE", "%", "1"}},
    {QUEUED | SIMPLE, "+set", "~NAME*", {"SET", "%", "x", "XX"}},
    {SIMPLE, "+get", "~NAME*", {"GET", "%"}},
    {SIMPLE, "+del", "~NAME*", {"DEL", "%"}},
    {QUEUED, "+set", "~hilock:token*", {"SET", "hilock:token:{%}", "1", "XX"}},
    {QUEUED, "+hscan", "~NAME*", {"HSCAN", "%", "0"}},
    {QUEUED, "+hget", "~NAME*", {"HGET", "%", "x"}},
    {QUEUED, "+hdel", "~NAME*", {"HDEL", "%", "x"}},
    {QUEUED, "+hlen", "~NAME*", {"HLEN", "%"}},
    {QUEUED, "+exists", "~NAME*", {"EXISTS", "%"}},
    {QUEUED, "+zadd", "~hilock:queue*", {"ZADD", "hilock:queue:{%}", "XX", "1", "x"}},
    {QUEUED, "+zrem", "~hilock:queue*", {"ZREM", "hilock:queue:{%}", "x"}},
    {QUEUED, "+zcount", "~hilock:queue*", {"ZCOUNT", "hilock:queue:{%}", "1", "2"}},
    {QUEUED, "+zrange", "~hilock:queue*", {"ZRANGE", "hilock:queue:{%}", "0", "0"}},
    {QUEUED, "+zrank", "~hilock:queue*", {"ZRANK", "hilock:queue:{%}", "x"}},
    {QUEUED, "+zscore", "~hilock:queue*", {"ZSCORE", "hilock:queue:{%}", "x"}},
    {QUEUED, "+hmget", "~hilock:place*", {"HMGET", "hilock:place:{%}", "x"}},
    {SHARED, "+zadd", "~hilock:share*", {"ZADD", "hilock:share:{%}", "XX", "1", "x"}},
    {SHARED, "+zrangebyscore", "~hilock:share*", {"ZRANGEBYSCORE", "hilock:share:{%}", "1", "2"}},
    {SHARED, "+del", "~hilock:share*", {"DEL", "hilock:share:{%}"}},
    {QUEUED, "+lindex", "~redisson_lock_queue:*", {"LINDEX", "redisson_lock_queue:{%}", "0"}},
    {QUEUED, "+publish", "&redisson_lock__channel:*", {"PUBLISH", "redisson_lock__channel:{%}", "0"}},
    {QUEUED, "+subscribe", "&hilock:grant:*", {"SUBSCRIBE", "hilock:grant:%"}},
    {QUEUED, "+unsubscribe", "", {"UNSUBSCRIBE", "hilock:grant:%"}},
};
static const struct right hset = {QUEUED, "+hset", "~NAME*", {"HSET", "%", "x", "1"}},
                          pexpire = {QUEUED, "+pexpire", "", {"PEXPIRE", "%", "1"}};

/* Returns 1 if the user has the right; 0: the user lacks the right in *ret_lack; -1: no answer; UNKNOWN: the server
 * does not have the command, whose right is in *ret_lack. */
static int has(struct store *store, const struct right *right, const char *name, const char **ret_lack)
{
    char room[WORDS_MAX][400];
    const char *words[WORDS_MAX];
    int count = 0, answer = 1;
    for (; right->words[count]; count++) {
        const char *word = right->words[count], *sign = strchr(word, '%');
        snprintf(room[count], sizeof *room, "%.*s%s%s", sign ? (int)(sign - word) : 300, word, sign ? name : "",
                 sign ? sign + 1 : "");
        words[count] = room[count];
    }
    redisReply *reply = store_ask_about(store, count, words);
    if (!reply)
        return -1;
    if (reply->type == REDIS_REPLY_ERROR && strstr(reply->str, "unknown command")) {
        *ret_lack = right->right;
        answer = UNKNOWN;
    } else if (reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOPERM", 6) == 0) {
        int is_command = strstr(reply->str, "command") != NULL || !*right->keys;
        *ret_lack = is_command ? right->right : right->keys;
        answer = 0;
    }
    freeReplyObject(reply);
    return answer;
}

static void add(char *text, size_t room, const char *lack)
{
    if (!strstr(text, lack))
        snprintf(text + strlen(text), room - strlen(text), " %s", lack);
}

/* Without the rights to messages waiters poll. Without any other right every attempt to lock fails. */
static void report_unknown(struct findings *findings, const char *commands)
{
    const char *subscribe = strstr(commands, "+subscribe"), *publish = strstr(commands, "+publish");
    if (subscribe || publish)
        finding(findings, DOUBTFUL, "pub/sub", "give a server that has it: else waiters poll, and the lock goes to "
                "whoever asks first", "%s is not known there: no waiter is woken",
                subscribe ? "SUBSCRIBE" : "PUBLISH");
    else if (*commands)
        finding(findings, WRONG, "commands", "give a server that has them", "not known there:%s", commands);
}

/* grade: what a lack is */
static void report(struct findings *findings, enum grade grade, const char *topic, unsigned kind, const char *lacks)
{
    char advice[600];
    snprintf(advice, sizeof advice, "ACL SETUSER its-name%s%s", lacks,
             strstr(lacks, "NAME") ? " (NAME: what the locks' names begin with)" : "");
    findings->blocked |= *lacks ? kind : 0;
    if (*lacks)
        finding(findings, grade, topic, advice, "missing:%s", lacks);
    else
        finding(findings, FINE, topic, NULL, "none is missing");
}

void checkup_rights(struct findings *findings, struct store *store, const char *name)
{
    char queued[400] = "", simple[400] = "", shared[400] = "", unknown[400] = "";
    const char *lack, *no_expiry;
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        int answer = has(store, &rights[i], name, &lack);
        if (answer < 0) {
            finding(findings, DOUBTFUL, "rights", "run doctor again", "%s", store->error);
            return;
        }
        if (answer == UNKNOWN)
            add(unknown, sizeof unknown, lack);
        if (!answer && rights[i].kinds & QUEUED)
            add(queued, sizeof queued, lack);
        if (!answer && rights[i].kinds & SIMPLE)
            add(simple, sizeof simple, lack);
        if (!answer && rights[i].kinds & SHARED)
            add(shared, sizeof shared, lack);
    }
    if (has(store, &pexpire, name, &no_expiry) == 1 && has(store, &hset, name, &lack) == 0)
        add(queued, sizeof queued, lack);
    if (has(store, &pexpire, name, &no_expiry) < 0)
        finding(findings, DOUBTFUL, "rights", "run doctor again", "%s", store->error);
    report(findings, WRONG, "rights for MUTEX and FAIR", BLOCKS_QUEUED, queued);
    /* not every program has SIMPLE locks, or shares names */
    report(findings, *queued ? WRONG : DOUBTFUL, "rights for SIMPLE", BLOCKS_SIMPLE, simple);
    report(findings, DOUBTFUL, "rights to share a name", BLOCKS_SHARED, shared);
    report_unknown(findings, unknown);
}
