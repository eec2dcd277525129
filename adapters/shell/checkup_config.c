/* SPDX-License-Identifier: BSD-3-Clause */
/* checkup_config - checks how the server's configuration limits connections: `timeout` ends idle ones, and the limit
 * of a subscriber's output buffer can end the one on which waiters are woken. Managed servers refuse CONFIG: then
 * this checkup finds nothing. */
#include "findings.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEEPALIVE_MS = 15000 }; /* the library's default */

/* A message has less than 3 KiB, and a client with a thousand names may get one for each name at the same time. */
enum { BUFFER_MIN = 4 << 20 };

/* Reads one parameter, "" if there is none. Returns 0, or another number if the user lacks the right to ask. */
static int value_of(struct store *store, const char *parameter, char *to, size_t room)
{
    redisReply *reply = store_ask(store, "CONFIG GET %s", parameter);
    int is_told = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2;
    int may_not = reply && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOPERM", 6) == 0;
    snprintf(to, room, "%s", is_told ? reply->element[1]->str : "");
    if (reply)
        freeReplyObject(reply);
    return may_not;
}

static void check_timeout(struct findings *findings, long timeout_s)
{
    char advice[120];
    int is_short = timeout_s > 0 && timeout_s * 1000 <= KEEPALIVE_MS;
    snprintf(advice, sizeof advice, "CONFIG SET timeout 0, or keepalive_ms below %ld000 in each program", timeout_s);
    if (is_short)
        finding(findings, DOUBTFUL, "timeout", advice,
                "the server ends connections that are idle for %ld s, before the probe of keepalive_ms (%d): they are "
                "made again and again", timeout_s, KEEPALIVE_MS);
    else
        finding(findings, FINE, "timeout", NULL, "%s", timeout_s ? "longer than keepalive_ms" : "none");
}

/* "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60": hard limit, soft limit, its seconds */
static void check_buffer(struct findings *findings, const char *limits)
{
    const char *at = strstr(limits, "pubsub ");
    long long hard = 0, soft = 0;
    if (!at || sscanf(at, "pubsub %lld %lld", &hard, &soft) != 2)
        return;
    long long least = hard && (!soft || hard < soft) ? hard : soft;
    if (least && least < BUFFER_MIN)
        finding(findings, DOUBTFUL, "pubsub buffer",
                "CONFIG SET client-output-buffer-limit \"pubsub 33554432 8388608 60\"",
                "client-output-buffer-limit pubsub is %lld bytes: a burst of messages cuts the connection on which "
                "waiters are woken", least);
    else
        finding(findings, FINE, "pubsub buffer", NULL, least ? "large enough for bursts of messages" : "no limit");
}

void checkup_config(struct findings *findings, struct store *store)
{
    char timeout[24], limits[200];
    int may_not = value_of(store, "timeout", timeout, sizeof timeout);
    (void)value_of(store, "client-output-buffer-limit", limits, sizeof limits);
    if (*timeout)
        check_timeout(findings, strtol(timeout, NULL, 10));
    else if (may_not)
        finding(findings, DOUBTFUL, "config", "give the user of `doctor` +config|get",
                "it may not read timeout and client-output-buffer-limit");
    check_buffer(findings, limits);
}
