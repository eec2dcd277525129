/* SPDX-License-Identifier: BSD-3-Clause */
/* footprint.c - scenario memory: how much memory hilock uses while nothing happens.
 *
 * It is measured for a connected idle client, alone and among many on one loop, and for a handle, a held lock and a
 * waiter of one client. Each figure is the growth of all allocations in the process, from one moment of rest to the
 * next, divided by the number of objects. Memory that the process or a client needs only once is in no figure: one
 * client stays connected throughout, and the client has had one lock and one waiter before. Each waiter wants a name
 * of its own, so the figure includes that name, its line and its place; in scenario waiters many share a name. */
#include "held.h"
#include "line.h"
#include "memory.h"
#include "scenario.h"
#include "stage.h"

#include <dirent.h>
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { LEASE_MS = 3600000, NAME_SIZE = 32, REST_MS = 50 };

static unsigned clients = 1000, locks = 1000;

static const struct option_entry options[] = {
    {"clients", OPTION_COUNT, &clients, "idle ones on one loop", 1, 10000},
    {"locks", OPTION_COUNT, &locks, "handles, held locks and waiters of one client", 1, 100000},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

struct bench {
    struct stage stage;
    struct event_base *base;
    hilock_client *client; /* the client that is measured now */
    hilock_client **crowd;
    hilock_lock **locks;
};

static int fail(const char *why)
{
    fprintf(stderr, "memory: %s\n", why);
    return -1;
}

/* ---- figures ---- */

struct level { struct memory memory; unsigned descriptors; };

static unsigned descriptors_now(void)
{
    DIR *open = opendir("/proc/self/fd");
    unsigned count = 0;
    while (open && readdir(open))
        count++;
    if (open)
        closedir(open);
    return count;
}

static struct level level_now(void)
{
    return (struct level){memory_now(), descriptors_now()};
}

static void tell(const char *mode, unsigned count, double bytes, double bytes_with_malloc, double descriptors)
{
    printf("%-13s of %5u: %8.1f bytes requested, %8.1f with malloc's own, %.2f descriptors\n", mode, count, bytes,
           bytes_with_malloc, descriptors);
    if (!options_has_json)
        return;
    struct json json = line_begin("memory");
    json_text(&json, "mode", mode);
    json_count(&json, "count", count);
    json_number(&json, "bytes", bytes);
    json_number(&json, "bytes_with_malloc", bytes_with_malloc);
    json_number(&json, "descriptors", descriptors);
    line_end(&json);
}

static void tell_growth(const char *mode, unsigned count, struct level before)
{
    struct level after = level_now();
    tell(mode, count, (double)(after.memory.requested - before.memory.requested) / count,
         (double)(after.memory.with_malloc - before.memory.with_malloc) / count,
         ((double)after.descriptors - before.descriptors) / count);
}

/* ---- clients ---- */

static int open_client(struct bench *bench, hilock_client **ret_client)
{
    struct hilock_error error;
    if (hilock_client_open_libevent(
            ret_client, bench->base,
            HILOCK_CLIENT_OPTIONS(.url = bench->stage.server.url, .waiters_max = locks + 1, .lease_ms = LEASE_MS),
            &error) != HILOCK_OK)
        return fail(error.text);
    while (!hilock_client_is_connected(*ret_client))
        event_base_loop(bench->base, EVLOOP_ONCE);
    return 0;
}

static void turn(struct bench *bench)
{
    const struct timeval rest = {0, REST_MS * 1000};
    event_base_loopexit(bench->base, &rest);
    event_base_dispatch(bench->base);
}

/* Connects the clients one after the other, because a server accepts only so many at once. */
static int measure_clients(struct bench *bench, unsigned count)
{
    struct level before = level_now();
    unsigned opened = 0;
    int status = 0;
    while (status == 0 && opened < count)
        if ((status = open_client(bench, &bench->crowd[opened])) == 0)
            opened++;
    turn(bench);
    if (status == 0)
        tell_growth("idle client", count, before);
    while (opened)
        hilock_client_abandon(bench->crowd[--opened]);
    return status;
}

/* ---- `count` objects of one client ---- */

static void settle(struct bench *bench)
{
    struct hilock_stats stats = {.size = sizeof stats};
    do {
        turn(bench);
        hilock_client_stats(bench->client, &stats);
    } while (stats.inflight || !stats.nodes_up);
}

static void on_result(const struct hilock_result *result, void *user)
{
    (void)user;
    if (result->status != HILOCK_CLOSED)
        fail(result->detail);
}

static int make_handles(struct bench *bench, const char *prefix, unsigned count, hilock_kind kind)
{
    char name[NAME_SIZE];
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s:%u", prefix, i);
        if (hilock_lock_create(&bench->locks[i], bench->client, name,
                               HILOCK_LOCK_OPTIONS(.kind = kind, .on_lost = hilock_lost_ignored)) != HILOCK_OK)
            return fail(hilock_client_refusal(bench->client));
    }
    return 0;
}

static void free_handles(struct bench *bench)
{
    for (unsigned i = 0; i < locks; i++) {
        hilock_lock_free(bench->locks[i]);
        bench->locks[i] = NULL;
    }
}

static int measure_handles(struct bench *bench)
{
    struct level before = level_now();
    int status = make_handles(bench, "idle", locks, HILOCK_MUTEX);
    if (status == 0)
        tell_growth("handle", locks, before);
    return status;
}

static int measure_held(struct bench *bench)
{
    struct loop loop = {.kind = &loop_libevent, .native = bench->base};
    struct held_cost cost;
    if (held_measure(loop, bench->client, 1, &cost) != 0 || held_measure(loop, bench->client, locks, &cost) != 0)
        return -1;
    tell("held lock", locks, cost.bytes, cost.bytes_with_malloc, 0);
    return 0;
}

/* Lets another program hold the names. */
static int take_names(struct bench *bench, const char *prefix, unsigned count)
{
    redisReply *reply;
    for (unsigned i = 0; i < count; i++) {
        redisAppendCommand(bench->stage.store, "HSET %s:%u somebody:1 1", prefix, i);
        redisAppendCommand(bench->stage.store, "PEXPIRE %s:%u %d", prefix, i, LEASE_MS);
    }
    for (unsigned i = 0; i < 2 * count; i++) {
        if (redisGetReply(bench->stage.store, (void **)&reply) != REDIS_OK)
            return fail(bench->stage.store->errstr);
        freeReplyObject(reply);
    }
    return 0;
}

static int wait_for(struct bench *bench, const char *prefix, unsigned count, hilock_kind kind)
{
    if (take_names(bench, prefix, count) != 0 || make_handles(bench, prefix, count, kind) != 0)
        return -1;
    for (unsigned i = 0; i < count; i++)
        if (hilock_acquire(bench->locks[i], HILOCK_FOREVER, on_result, NULL) != HILOCK_OK)
            return fail(hilock_client_refusal(bench->client));
    settle(bench);
    return 0;
}

/* The very first wait makes a connection. */
static int measure_waiters(struct bench *bench, const char *mode, const char *prefix, hilock_kind kind)
{
    struct level before;
    if (wait_for(bench, "first", 1, kind) != 0)
        return -1;
    free_handles(bench);
    settle(bench);
    before = level_now();
    if (wait_for(bench, prefix, locks, kind) != 0)
        return -1;
    tell_growth(mode, locks, before);
    return 0;
}

static int measure_mutex_waiters(struct bench *bench)
{
    return measure_waiters(bench, "MUTEX waiter", "mutex", HILOCK_MUTEX);
}

static int measure_fair_waiters(struct bench *bench)
{
    return measure_waiters(bench, "FAIR waiter", "fair", HILOCK_FAIR);
}

static int with_client(struct bench *bench, int (*measure)(struct bench *bench))
{
    int status = open_client(bench, &bench->client);
    if (status == 0)
        status = measure(bench);
    free_handles(bench);
    if (bench->client)
        hilock_client_abandon(bench->client);
    bench->client = NULL;
    return status;
}

/* ---- the scenario ---- */

static int set_up(struct bench *bench)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) { /* two descriptors for each client */
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (stage_open(&bench->stage) != 0)
        return -1;
    bench->base = event_base_new();
    bench->crowd = calloc(clients, sizeof *bench->crowd);
    bench->locks = calloc(locks, sizeof *bench->locks);
    return bench->base && bench->crowd && bench->locks ? 0 : fail("out of memory");
}

static void tear_down(struct bench *bench)
{
    free(bench->locks);
    free(bench->crowd);
    if (bench->base)
        event_base_free(bench->base);
    stage_close(&bench->stage);
}

static int play(struct bench *bench)
{
    hilock_client *first = NULL; /* so that the process has what it needs only once */
    int status = open_client(bench, &first);
    if (status == 0)
        status = measure_clients(bench, 1);
    if (status == 0)
        status = measure_clients(bench, clients);
    if (first)
        hilock_client_abandon(first);
    if (status == 0)
        status = with_client(bench, measure_handles);
    if (status == 0)
        status = with_client(bench, measure_held);
    if (status == 0)
        status = with_client(bench, measure_mutex_waiters);
    return status == 0 ? with_client(bench, measure_fair_waiters) : status;
}

static int run(void)
{
    static struct bench bench;
    int status = set_up(&bench);
    if (status == 0)
        status = play(&bench);
    tear_down(&bench);
    return status;
}

const struct scenario scenario_memory = {
    "memory", "what an idle client, a handle, a held lock and a waiter keep", options, run};
