/* SPDX-License-Identifier: BSD-3-Clause */
/* checkup_server - checks one server: what it reports in INFO, its clock, and how long it takes to answer. */
#include "findings.h"
#include "page.h"
#include "store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PINGS = 50, SLOW_US = 50000, CLOCK_APART_MS = 5000 };

/* Finds the value of a line "key:value\r\n" of INFO; "" if there is no such line. */
static const char *value_of(const char *info, const char *key, char *to, size_t room)
{
    char mark[64];
    snprintf(mark, sizeof mark, "\n%s:", key);
    const char *at = strstr(info, mark);
    at = at ? at + strlen(mark) : "";
    snprintf(to, room, "%.*s", (int)strcspn(at, "\r\n"), at);
    return to;
}

static void check_version(struct findings *findings, const char *info)
{
    char valkey[32], redis[32], mode[32];
    int major = 0, minor = 0, is_valkey = *value_of(info, "valkey_version", valkey, sizeof valkey) != '\0';
    value_of(info, "redis_version", redis, sizeof redis);
    value_of(info, "redis_mode", mode, sizeof mode);
    sscanf(redis, "%d.%d", &major, &minor);
    int is_old = major < 6 || (major == 6 && minor < 2);
    findings->blocked |= is_old ? BLOCKS_ALL : 0;
    finding(findings, is_old ? WRONG : FINE, "version", is_old ? "install Redis 6.2 or later, or Valkey" : NULL,
            "%s %s, %s", is_valkey ? "Valkey" : "Redis", is_valkey ? valkey : redis, *mode ? mode : "standalone");
}

static void check_eviction(struct findings *findings, const char *info)
{
    char policy[40], limit[40];
    value_of(info, "maxmemory_policy", policy, sizeof policy);
    value_of(info, "maxmemory", limit, sizeof limit);
    if (strcmp(policy, "noeviction") == 0)
        finding(findings, FINE, "eviction", NULL, "noeviction: no lock is evicted when memory is short");
    else if (strcmp(limit, "0") == 0)
        finding(findings, DOUBTFUL, "eviction", "CONFIG SET maxmemory-policy noeviction, before a limit is set",
                "%s, without a limit of memory so far", policy);
    else
        finding(findings, WRONG, "eviction",
                "CONFIG SET maxmemory-policy noeviction: else a lock that is held may be granted to a second holder",
                "%s at %s bytes: locks may be evicted", *policy ? policy : "policy not known", limit);
}

static void check_persistence(struct findings *findings, const char *info)
{
    char aof[8], status[16], uptime[24];
    value_of(info, "aof_enabled", aof, sizeof aof);
    value_of(info, "aof_last_write_status", status, sizeof status);
    value_of(info, "uptime_in_seconds", uptime, sizeof uptime);
    if (strcmp(aof, "1") == 0 && strcmp(status, "err") != 0)
        finding(findings, FINE, "persistence", NULL, "append-only file; up for %s s", uptime);
    else if (strcmp(aof, "1") == 0)
        finding(findings, WRONG, "persistence", "see the server's log: is its disk full?",
                "the append-only file cannot be written");
    else
        finding(findings, DOUBTFUL, "persistence",
                "appendonly yes; or in each program a restart_guard_ms as long as the longest lease, or fencing tokens "
                "that the resource checks",
                "no append-only file: a server that crashes forgets locks that are held; up for %s s", uptime);
}

static void check_role(struct findings *findings, const char *info)
{
    char role[16], replicas[16];
    value_of(info, "role", role, sizeof role);
    value_of(info, "connected_slaves", replicas, sizeof replicas);
    if (strcmp(role, "slave") == 0) {
        findings->blocked |= BLOCKS_ALL;
        finding(findings, WRONG, "role", "give the URL of its master, or redis+sentinel:// with its sentinels",
                "a replica: it grants no locks");
    } else
        finding(findings, FINE, "role", NULL, "master with %s replicas", *replicas ? replicas : "?");
}

static int is_no_right(const redisReply *reply)
{
    return reply && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOPERM", 6) == 0;
}

static void check_info(struct findings *findings, struct store *store)
{
    redisReply *reply = store_ask(store, "INFO");
    if (reply && reply->type == REDIS_REPLY_STRING) {
        check_version(findings, reply->str);
        check_role(findings, reply->str);
        check_eviction(findings, reply->str);
        check_persistence(findings, reply->str);
    } else {
        finding(findings, DOUBTFUL, "info",
                is_no_right(reply)
                    ? "give the user +info: without it no client notices a restart, an eviction policy, or that its "
                      "commands and its messages go to different servers, which costs a poll of seconds for each "
                      "hand-over"
                    : NULL,
                "%s", reply && reply->str ? reply->str : store->error);
    }
    if (reply)
        freeReplyObject(reply);
}

/* Compares the clocks. The server read its clock at some time between question and answer, so the middle of the two is
 * wrong by at most half of the round trip. */
static void check_clock(struct findings *findings, struct store *store)
{
    struct timespec local;
    uint64_t begun_us = page_now_us();
    redisReply *reply = store_ask(store, "TIME");
    int64_t trip_us = (int64_t)(page_now_us() - begun_us);
    clock_gettime(CLOCK_REALTIME, &local);
    if (reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2) {
        int64_t there_us = strtoll(reply->element[0]->str, NULL, 10) * 1000000 +
                           strtoll(reply->element[1]->str, NULL, 10);
        int64_t ahead_ms = (there_us - (int64_t)local.tv_sec * 1000000 - local.tv_nsec / 1000 + trip_us / 2) / 1000;
        int is_apart = ahead_ms > CLOCK_APART_MS || ahead_ms < -CLOCK_APART_MS;
        finding(findings, is_apart ? DOUBTFUL : FINE, "clock",
                is_apart ? "chrony or ntpd at both: no lock depends on it, but times in logs do" : NULL,
                "the server is %" PRId64 " ms %s this machine (give or take %" PRId64 ")",
                ahead_ms < 0 ? -ahead_ms : ahead_ms, ahead_ms < 0 ? "behind" : "ahead of", trip_us / 2000 + 1);
    } else if (!is_no_right(reply)) { /* checkup_rights reports a missing right */
        finding(findings, WRONG, "clock", NULL, "%s", reply && reply->str ? reply->str : store->error);
    }
    if (reply)
        freeReplyObject(reply);
}

static int by_size(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

/* Asks for TIME, to which every kind of lock needs the right. */
static void check_latency(struct findings *findings, struct store *store)
{
    uint64_t trips_us[PINGS];
    for (int i = 0; i < PINGS; i++) {
        uint64_t begun_us = page_now_us();
        redisReply *reply = store_ask(store, "TIME");
        trips_us[i] = page_now_us() - begun_us;
        if (!reply)
            return;
        freeReplyObject(reply);
    }
    qsort(trips_us, PINGS, sizeof *trips_us, by_size);
    int is_slow = trips_us[PINGS - 1] > SLOW_US;
    finding(findings, is_slow ? DOUBTFUL : FINE, "latency",
            is_slow ? "SLOWLOG GET, and LATENCY DOCTOR: leases must be far longer than the longest pause" : NULL,
            "of %d round trips the median took %.2f ms, the longest %.2f ms", PINGS,
            (double)trips_us[PINGS / 2] / 1000, (double)trips_us[PINGS - 1] / 1000);
}

int checkup_server(struct store *store, void *arg)
{
    struct findings *findings = arg;
    findings->place = store->place;
    check_info(findings, store);
    check_clock(findings, store);
    check_latency(findings, store);
    checkup_config(findings, store);
    findings->place = "";
    return 0;
}
