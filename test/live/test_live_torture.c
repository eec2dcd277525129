/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that runs out, at a real server: each day is played once for every allocation in it that may fail, those of
 * hiredis, libevent and libc included. A call that is refused says so and may be made again; one failure is healed,
 * so every answer comes and a wait for ever is granted; nothing crashes, hangs or leaks, and nothing is left at the
 * server beyond its lease. Where only hilock allocates: unit/torture, the simulator's strain `memory`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../wanted.h"
#include "famine.h"
#include "support/fixture.h"

enum { LEASE_MS = 60000, QUEUE_MS = 90000, KEPT_MS = 5000, COMMAND_MS = 80 /* a lost acquire keeps its client from leaving for so long */ };

struct day {
    struct client client;
    struct handle first, second;
    long blocks; /* of the client's allocator, not given back */
    int is_abandoned;
};

typedef void day_fn(struct day *day);

static struct fixture *stage; /* of this day */
static struct { int is_on; uint64_t at; } now; /* a play, for readers of a failure */

/* ---- calls: refused at most once, in the right words ---- */

static int is_accepted(const struct day *day, hilock_status status)
{
    if (status != HILOCK_OK)
        CHECK(status == HILOCK_NO_MEMORY && famine_has_struck() &&
              strstr(hilock_client_refusal(day->client.hilock), "memory"));
    return status == HILOCK_OK;
}

static void open_handle(struct day *day, struct handle *handle, const char *name, hilock_kind kind)
{
    while (!is_accepted(day,
                        handle_try_open(handle, &day->client, name,
                                        HILOCK_LOCK_OPTIONS(.kind = kind, .lease_ms = LEASE_MS))))
        CHECK(!handle->lock);
}

static void ask(struct day *day, struct handle *handle)
{
    while (!is_accepted(day, handle_try_ask(handle, HILOCK_FOREVER)))
        CHECK(hilock_lock_state(handle->lock) == HILOCK_STATE_IDLE);
}

static void granted(struct handle *handle)
{
    handle_until(handle, &handle->acquired, 1, "the answer to acquire");
    CHECK(handle->acquired.status == HILOCK_OK);
}

/* The call needs no memory. Its answer may be lost, and one that was asked for again cannot know; a machine that
 * stands still for so long is as good as a server that is silent. */
static void give(struct handle *handle)
{
    hilock_status status = handle_give(handle);
    CHECK(status == HILOCK_OK ||
          ((famine_has_struck() || handle->released.waited_ms >= COMMAND_MS) &&
           (status == HILOCK_UNKNOWN || status == HILOCK_LOST)));
}

static int waits_or_has(void *arg)
{
    const struct handle *handle = arg;
    return handle->waiting.count || handle->acquired.count || famine_has_struck();
}

/* ---- the store ---- */

static void at_store(const char *command)
{
    int is_famine = famine_pause();
    redis_do(stage->redis, command);
    if (is_famine)
        famine_resume();
}

static int nobody_is_there(void *redis) { return redis_clients(redis) == 0; }

/* What a client could not end in COMMAND_MS, because a link was down or the machine stood still, is left to its expiry: a
 * hold to its lease, a place to that of its queue. Nothing lasts longer.
 * A release leaves the name for a moment to another program that listens, as our own old subscription seems to; how often nobody took it so
 * is kept for KEPT_MS. */
static void check_store(const struct day *day)
{
    static const char longest[] =
        "local n = 0 for _, k in ipairs(redis.call('KEYS', '*')) do if string.sub(k, 1, 12) ~= 'hilock:token' then "
                                  "local t = redis.call('PTTL', k) if t < 0 then return -1 end "
                                  "if t > n then n = t end end end return n";
    check_until(nobody_is_there, stage->redis, "the clients' connections to end");
    long long left_ms = redis_integer(stage->redis, "EVAL %s 0", longest);
    int may_leave = famine_has_struck() || day->is_abandoned || day->client.watched_count;
    CHECK(left_ms >= 0 && left_ms <= (may_leave ? QUEUE_MS : KEPT_MS));
    redis_do(stage->redis, "FLUSHALL");
}

/* ---- days ---- */

/* One is had, the other is waited for behind another program; all links end under them; then that one leaves. */
static void hold_wait_and_reconnect(struct day *day)
{
    at_store("HSET other another:1 1");
    open_handle(day, &day->first, "stock", HILOCK_MUTEX);
    ask(day, &day->first);
    granted(&day->first);
    open_handle(day, &day->second, "other", HILOCK_MUTEX);
    ask(day, &day->second);
    client_until(&day->client, waits_or_has, &day->second, "WAITING");
    at_store("CLIENT KILL SKIPME yes USER torture");
    at_store("DEL other");
    at_store("PUBLISH redisson_lock__channel:{other} 0");
    granted(&day->second);
    CHECK(day->first.lost.count == 0);
    give(&day->first);
    give(&day->second);
}

/* With what holds and what waits still there. */
static void leave(struct day *day)
{
    open_handle(day, &day->first, "stock", HILOCK_MUTEX);
    open_handle(day, &day->second, "stock", HILOCK_FAIR);
    ask(day, &day->first);
    granted(&day->first);
    ask(day, &day->second);
    client_until(&day->client, waits_or_has, &day->second, "WAITING");
}

static void abandon(struct day *day)
{
    leave(day);
    day->is_abandoned = 1;
}

/* ---- each day, over and over ---- */

static void *count_new(size_t bytes, void *blocks)
{
    void *memory = malloc(bytes);
    *(long *)blocks += memory != NULL;
    return memory;
}

static void *count_more(void *memory, size_t bytes, void *blocks)
{
    void *more = realloc(memory, bytes);
    *(long *)blocks += !memory && more;
    return more;
}

static void count_free(void *memory, void *blocks)
{
    *(long *)blocks -= memory != NULL;
    free(memory);
}

/* By name, logged in. */
static void open_client(struct day *day)
{
    const struct hilock_allocator counting = {count_new, count_more, count_free, &day->blocks};
    struct hilock_error error = {"?"};
    char url[160];
    snprintf(url, sizeof url, "redis://torture:secret@localhost:%d", stage->server->port);
    while (client_try(&day->client,
                      HILOCK_CLIENT_OPTIONS(.url = url, .allocator = &counting, .retry_max_ms = 2,
                                            .command_timeout_ms = COMMAND_MS), &error) != HILOCK_OK)
        CHECK(famine_has_struck() && strstr(error.text, "memory") && !day->client.hilock && !day->blocks);
}

/* 1: the chosen allocation was there to fail. */
static int play_once(day_fn *play, uint64_t at)
{
    struct day day = {.blocks = 0};
    now.is_on = 1;
    now.at = at;
    client_prepare(&day.client);
    day.client.watched = "timed out";
    famine_begin(at);
    open_client(&day);
    play(&day);
    if (day.is_abandoned) {
        hilock_client_abandon(day.client.hilock);
        day.client.hilock = NULL;
    }
    client_close(&day.client);
    while (day.client.handles)
        handle_free(day.client.handles);
    famine_end();
    CHECK(day.blocks == 0);
    check_store(&day);
    now.is_on = 0;
    return famine_has_struck();
}

__attribute__((destructor)) static void show(void)
{
    famine_end();
    if (!now.is_on)
        return;
    fprintf(stderr, "when allocation %llu failed:\n", (unsigned long long)now.at);
    famine_show();
}

static void torture(struct fixture *fixture, day_fn *play)
{
    const char *only = getenv("TORTURE_AT");
    uint64_t at = only ? strtoull(only, NULL, 10) : wanted_first();
    CHECK(!now.is_on); /* or an earlier day failed, and left its client behind */
    stage = fixture;
    redis_do(stage->redis, "ACL SETUSER torture on >secret ~* &* +@all");
    CHECK(!play_once(play, 0) && famine_asked() > 0); /* nobody stands between the libraries and famine.c */
    while (play_once(play, at) && !only)
        at += wanted_stride();
}

LIVE_WITH_PORT(of_holds) { torture(fixture, hold_wait_and_reconnect); }
LIVE_WITH_PORT(of_leaving) { torture(fixture, leave); }
LIVE_WITH_PORT(of_abandoning) { torture(fixture, abandon); }
