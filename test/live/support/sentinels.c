/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinels - see sentinels.h. */
#include "sentinels.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "redis.h"
#include "secret.h"

enum { FIELD_MAX = 128, LOOK_MS = 50 };

static void start_servers(struct sentinels *set, const char *const *more)
{
    static const char *const common[] = {"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
                                         "--repl-backlog-size", "10mb", NULL};
    const char *const replica[] = {"--replicaof", set->arguments_text, NULL};
    const char *const *arguments = server_arguments(common, more);
    set->servers[0] = server_start_with_port(arguments);
    snprintf(set->arguments_text, sizeof set->arguments_text, "127.0.0.1 %d", set->servers[0]->port);
    arguments = server_arguments(replica, arguments);
    for (int i = 1; i < SENTINEL_SERVERS; i++)
        set->servers[i] = server_start_with_port(arguments);
}

/* A sentinel forgets at a switch when the new master last answered, and pings it a second later: told to wait no longer than that, it holds it
 * for down, and replaces a master that lives and is written to. */
void sentinels_start(struct sentinels *set, const char *const *more)
{
    static const char *const as_sentinel[] = {"--sentinel", NULL};
    memset(set, 0, sizeof *set);
    start_servers(set, more);
    int is_secured = server_is_secured(set->servers[0]);
    const char *const *arguments = server_arguments(as_sentinel, is_secured ? more : NULL);
    snprintf(set->config, sizeof set->config,
             "sentinel monitor mymaster 127.0.0.1 %d 2\nsentinel down-after-milliseconds mymaster 2000\n"
             "sentinel failover-timeout mymaster 3000\nsentinel parallel-syncs mymaster 2\n",
             set->servers[0]->port);
    for (int i = 0; i < SENTINELS; i++)
        set->sentinels[i] = server_start_configured(set->config, arguments);
    snprintf(set->url, sizeof set->url, "%s+sentinel://" LIVE_LOGIN "127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/mymaster",
             is_secured ? "rediss" : "redis", set->sentinels[0]->port, set->sentinels[1]->port,
             set->sentinels[2]->port);
    sentinels_settle(set);
}

void sentinels_end(struct sentinels *set)
{
    server_mend();
    for (int i = 0; i < SENTINELS; i++)
        server_end(set->sentinels[i]);
    for (int i = 0; i < SENTINEL_SERVERS; i++)
        server_end(set->servers[i]);
}

/* ---- what the sentinels know ---- */

/* "": it says nothing of that. */
static void field_of(struct redis *redis, const char *what, char text[FIELD_MAX])
{
    redisReply *reply = redis_reply(redis, "SENTINEL MASTER mymaster");
    *text = '\0';
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i + 1 < reply->elements; i += 2)
        if (strcmp(reply->element[i]->str, what) == 0)
            snprintf(text, FIELD_MAX, "%s", reply->element[i + 1]->str);
    freeReplyObject(reply);
}

static long long number_of(struct redis *redis, const char *what)
{
    char text[FIELD_MAX];
    field_of(redis, what, text);
    return *text ? strtoll(text, NULL, 10) : -1;
}

static int port_at(const struct server *sentinel)
{
    redisReply *reply = redis_reply(redis_at(sentinel), "SENTINEL GET-MASTER-ADDR-BY-NAME mymaster");
    int port = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 ? atoi(reply->element[1]->str) : 0;
    freeReplyObject(reply);
    return port;
}

struct server *sentinels_master(struct sentinels *set)
{
    int port = port_at(set->sentinels[0]);
    for (int i = 0; i < SENTINEL_SERVERS; i++)
        if (set->servers[i]->port == port)
            return set->servers[i];
    check_fail("the sentinels name a master at port %d, which is none of ours", port);
}

static int is_settled(void *arg)
{
    struct sentinels *set = arg;
    char line[32];
    int is_so = 1;
    for (int i = 0; is_so && i < SENTINELS; i++) {
        struct redis *sentinel = redis_at(set->sentinels[i]);
        is_so = number_of(sentinel, "num-slaves") == SENTINEL_SERVERS - 1 && number_of(sentinel, "num-other-sentinels") == SENTINELS - 1 &&
                port_at(set->sentinels[i]) == port_at(set->sentinels[0]);
    }
    if (!is_so)
        return 0;
    struct redis *redis = redis_open(sentinels_master(set));
    for (int i = 0; i < SENTINEL_SERVERS - 1; i++) {
        redisReply *reply = redis_reply(redis, "INFO replication");
        snprintf(line, sizeof line, "\nslave%d:", i);
        is_so = is_so && reply->str && strstr(reply->str, line) && strstr(reply->str, "role:master");
        is_so = is_so && !strstr(reply->str, "state=wait_bgsave") && !strstr(reply->str, "state=send_bulk");
        freeReplyObject(reply);
    }
    redis_close(redis);
    return is_so;
}

void sentinels_settle(struct sentinels *set) { check_until(is_settled, set, "the sentinels to know all"); }

unsigned sentinels_switches(struct sentinels *set)
{
    return (unsigned)number_of(redis_at(set->sentinels[0]), "config-epoch");
}

/* ---- failovers ---- */

struct strike {
    struct redis *forced; /* the sentinel that is asked to; NULL: they see for themselves that the master is gone */
    long long epoch;      /* of the configuration before */
    struct pollfd fds[SENTINELS];
};

/* A sentinel that is slow gives up what it was asked for: it is asked again, unless that is under way or done. The
 * epoch is looked at last: what ends between the two questions has a new one. */
static int is_switched(void *arg)
{
    struct strike *strike = arg;
    char flags[FIELD_MAX] = "";
    if (strike->forced)
        field_of(strike->forced, "flags", flags);
    if (strike->forced && !strstr(flags, "failover_in_progress") && number_of(strike->forced, "config-epoch") == strike->epoch)
        freeReplyObject(redis_reply(strike->forced, "SENTINEL FAILOVER mymaster"));
    return poll(strike->fds, SENTINELS, LOOK_MS) > 0;
}

uint64_t sentinels_failover(struct sentinels *set, enum server_fault fault)
{
    struct strike strike = {.forced = fault == SERVER_FORCED ? redis_at(set->sentinels[1]) : NULL};
    struct redis *listeners[SENTINELS];
    for (int i = 0; i < SENTINELS; i++) {
        listeners[i] = redis_open(set->sentinels[i]);
        redis_do(listeners[i], "SUBSCRIBE +switch-master");
        strike.fds[i] = (struct pollfd){.fd = listeners[i]->context->fd, .events = POLLIN};
    }
    if (strike.forced)
        strike.epoch = number_of(strike.forced, "config-epoch");
    server_break(sentinels_master(set), fault);
    check_until(is_switched, &strike, "a sentinel to publish +switch-master");
    uint64_t at_us = check_now_us();
    for (int i = 0; i < SENTINELS; i++)
        redis_close(listeners[i]);
    return at_us;
}
