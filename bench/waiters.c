/* SPDX-License-Identifier: BSD-3-Clause */
/* waiters.c - scenario waiters: what one of very many waiting acquires costs, in bytes and in time.
 *
 * A shape is a number of names that another program holds, a number of handles of one client that wait for each
 * name, and the way in which they wait: for ever, or with a limit, which needs a timer for each. A run has four
 * parts. First all handles are made and wait; the growth of allocated memory in the process is divided by their
 * number. Then a quarter of them, spread evenly, is cancelled. Then the names are released, and half of the handles
 * are granted the lock, one after the other, and freed. Then the client is closed while the rest still waits. The
 * time of each part is the CPU time of this process, per acquire. The same is done with a hundredth of the waiters,
 * in as many small runs as make the work the same. Large and small runs take turns. A round gives one ratio, and the
 * median over the rounds counts. The bar for the ratio is log(large) / log(small): costs may grow with the logarithm
 * of the number. Each waiter of kind FAIR stands in the queue at the store. For this kind a part includes the
 * commands that it has caused, and the time of the scripts, as the server counts it, is reported beside that of this
 * process. These waiters also send heartbeats, so fewer of them are used: a part that takes as long as the time
 * between two heartbeats would include their cost. */
#include "commands.h"
#include "line.h"
#include "memory.h"
#include "scenario.h"
#include "stage.h"
#include "store.h"

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <hiredis/hiredis.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAME_SIZE = 17, SMALLER = 100, LEASE_MS = 3600000, LIMIT_MS = 86400000, REST_MS = 20, ROUNDS_MAX = 100 };
enum part { PART_WAIT, PART_CANCEL, PART_SERVE, PART_CLOSE, PARTS };

static unsigned waiters = 100000, names = 10000, each = 10, fair = 10000, rounds = 5;
static const char *only;
static unsigned runs;

static const struct option_entry options[] = {
    {"waiters", OPTION_COUNT, &waiters, "for one name", 2 * SMALLER, 10000000},
    {"names", OPTION_COUNT, &names, "each waited for by --each", 2 * SMALLER, 1000000},
    {"each", OPTION_COUNT, &each, "waiters of each name", 4, 1000},
    {"fair", OPTION_COUNT, &fair, "waiters of kind FAIR", 20 * SMALLER, 1000000},
    {"rounds", OPTION_COUNT, &rounds, "of large and small runs", 1, ROUNDS_MAX},
    {"only", OPTION_TEXT, &only, "shapes whose words begin so: MUTEX, FAIR, FAIR with ...", 0, 0},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

struct shape { unsigned names, each; uint32_t wait_ms; hilock_kind kind; };

struct cost {
    double ns[PARTS];    /* nanoseconds of CPU time per acquire */
    double store[PARTS]; /* nanoseconds of the server's scripts per acquire; for FAIR */
    double bytes, bytes_with_malloc;
};

struct round { struct cost large, small; }; /* small: the mean of its runs */

struct run {
    struct shape shape;
    struct event_base *base;
    hilock_client *client;
    redisContext *store;
    struct commands *commands;
    hilock_lock **locks;
    unsigned count, answered, serving;
    bool has_failed, is_closed;
};

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void fail(struct run *run, const char *why)
{
    if (!run->has_failed)
        fprintf(stderr, "waiters: %s\n", why);
    run->has_failed = true;
    event_base_loopbreak(run->base);
}

/* ---- the store's side: another program holds the names ---- */

static void drain(struct run *run, unsigned answers)
{
    redisReply *reply;
    for (; answers; answers--) {
        if (redisGetReply(run->store, (void **)&reply) != REDIS_OK) {
            fail(run, run->store->errstr);
            return;
        }
        if (reply->type == REDIS_REPLY_ERROR)
            fail(run, reply->str);
        freeReplyObject(reply);
    }
}

/* Makes names that no earlier run had, because the waiters of that run may have left something behind. */
static void name_of(char name[NAME_SIZE], unsigned i)
{
    snprintf(name, NAME_SIZE, "%06u:%09u", runs % 1000000, i % 1000000000);
}

static void take_names(struct run *run)
{
    char name[NAME_SIZE];
    for (unsigned i = 0; i < run->shape.names; i++) {
        name_of(name, i);
        redisAppendCommand(run->store, "HSET %s somebody:1 1", name);
        redisAppendCommand(run->store, "PEXPIRE %s %d", name, LEASE_MS);
    }
    drain(run, 2 * run->shape.names);
}

static void free_names(struct run *run)
{
    char name[NAME_SIZE];
    for (unsigned i = 0; i < run->shape.names; i++) {
        name_of(name, i);
        redisAppendCommand(run->store, "DEL %s", name);
        redisAppendCommand(run->store, "PUBLISH redisson_lock__channel:{%s} 0", name);
    }
    drain(run, 2 * run->shape.names);
}

/* ---- the waiters ---- */

static void turn(struct run *run, unsigned span_ms)
{
    const struct timeval span = {0, (suseconds_t)span_ms * 1000};
    event_base_loopexit(run->base, &span);
    event_base_dispatch(run->base);
}

/* Turns the loop until no request is under way, and all waiters sleep. */
static void settle(struct run *run)
{
    struct hilock_stats stats = {.size = sizeof stats};
    do {
        turn(run, REST_MS);
        hilock_client_stats(run->client, &stats);
    } while (!run->has_failed && (stats.inflight || !stats.nodes_up));
}

static void until_answered(struct run *run, unsigned count)
{
    while (run->answered < count && !run->has_failed)
        event_base_loop(run->base, EVLOOP_ONCE);
}

/* A grant ends at once: the handle is freed. Waiters beyond the half that is to be served keep the lock when they
 * get it, so that the names come to rest. */
static void on_result(const struct hilock_result *result, void *user)
{
    hilock_lock **lock = user;
    struct run *run = hilock_lock_user(result->lock);
    if (result->status != HILOCK_OK && result->status != HILOCK_CANCELLED && result->status != HILOCK_CLOSED)
        fail(run, result->detail);
    run->answered++;
    if (result->status != HILOCK_OK || run->serving == 0)
        return;
    run->serving--;
    hilock_lock_free(*lock);
    *lock = NULL;
}

static void begin_wait(struct run *run, unsigned i)
{
    char name[NAME_SIZE];
    name_of(name, i / run->shape.each);
    if (hilock_lock_create(&run->locks[i], run->client, name,
                           HILOCK_LOCK_OPTIONS(.kind = run->shape.kind, .on_lost = hilock_lost_ignored, .user = run)) !=
            HILOCK_OK ||
        hilock_acquire(run->locks[i], run->shape.wait_ms, on_result, &run->locks[i]) != HILOCK_OK)
        fail(run, hilock_client_refusal(run->client));
}

/* Lets the first waiter of each name find the name held, so that the client knows that when the others come. */
static void wait_first(struct run *run)
{
    for (unsigned i = 0; i < run->count && !run->has_failed; i += run->shape.each)
        begin_wait(run, i);
    settle(run);
}

static void wait_others(struct run *run)
{
    for (unsigned i = 0; i < run->count && !run->has_failed; i++)
        if (i % run->shape.each)
            begin_wait(run, i);
}

/* Does not cancel the first waiter of a FAIR queue: while another program holds the name, only the first waiter
 * listens, and the next one would begin to listen only with its next heartbeat. */
static void cancel_a_quarter(struct run *run)
{
    unsigned cancelled = 0;
    run->answered = 0;
    for (unsigned i = run->shape.kind == HILOCK_FAIR; i < run->count; i += 4, cancelled++)
        if (hilock_cancel(run->locks[i]) != HILOCK_OK)
            fail(run, hilock_client_refusal(run->client));
    until_answered(run, cancelled);
}

static void serve_half(struct run *run)
{
    run->answered = 0;
    run->serving = run->count / 2;
    free_names(run);
    until_answered(run, run->count / 2);
}

static void on_closed(void *user)
{
    struct run *run = user;
    run->is_closed = true;
    run->client = NULL;
}

static void close_all(struct run *run)
{
    run->serving = 0;
    hilock_client_close(run->client, 0, on_closed, run);
    while (!run->is_closed && !run->has_failed)
        event_base_loop(run->base, EVLOOP_ONCE);
    for (unsigned i = 0; i < run->count; i++)
        hilock_lock_free(run->locks[i]);
}

static int begin(struct run *run, const char *where)
{
    static char why[STORE_ERROR_SIZE];
    struct hilock_error error;
    run->base = event_base_new();
    run->locks = calloc(run->count, sizeof *run->locks);
    run->store = store_connect(where, why);
    run->commands = commands_open(where, why);
    runs++;
    if (!run->base || !run->locks || !run->store || !run->commands) {
        fprintf(stderr, "waiters: %s\n", run->store && run->commands ? "no memory" : why);
        return -1;
    }
    if (hilock_client_open_libevent(
            &run->client, run->base,
            HILOCK_CLIENT_OPTIONS(.url = where, .waiters_max = run->count, .lease_ms = LEASE_MS), &error) == HILOCK_OK)
        return 0;
    fprintf(stderr, "waiters: %s\n", error.text);
    return -1;
}

static void end(struct run *run)
{
    if (run->client)
        hilock_client_abandon(run->client);
    if (run->store)
        redisFree(run->store);
    commands_close(run->commands);
    if (run->base)
        event_base_free(run->base);
    free(run->locks);
}

static double store_ns(struct run *run)
{
    uint64_t us = 0;
    if (commands_us_of(run->commands, "evalsha", &us) != 0)
        fail(run, "the server does not tell how long its scripts ran");
    return (double)us * 1000;
}

/* Ends a part. For kind FAIR it includes everything that the part has caused at the store. */
static void part(struct run *run, enum part which, void (*work)(struct run *run), unsigned count, struct cost *ret_cost)
{
    bool is_fair = run->shape.kind == HILOCK_FAIR;
    double store_begun = is_fair ? store_ns(run) : 0, begun = cpu_ns();
    if (!run->has_failed)
        work(run);
    if (is_fair && run->client)
        settle(run);
    ret_cost->ns[which] = (cpu_ns() - begun) / count;
    ret_cost->store[which] = is_fair ? (store_ns(run) - store_begun) / count : 0;
}

/* Measures the memory of a waiter while nothing is under way. */
static void measure_bytes(struct run *run, struct cost *ret_cost)
{
    struct memory before, after;
    take_names(run);
    settle(run);
    before = memory_now();
    wait_first(run);
    part(run, PART_WAIT, wait_others, run->count - run->shape.names, ret_cost);
    settle(run);
    after = memory_now();
    ret_cost->bytes = (double)(after.requested - before.requested) / run->count;
    ret_cost->bytes_with_malloc = (double)(after.with_malloc - before.with_malloc) / run->count;
}

static int measure_once(const char *where, struct shape shape, struct cost *ret_cost)
{
    struct run run = {.shape = shape, .count = shape.names * shape.each};
    if (begin(&run, where) != 0) {
        end(&run);
        return -1;
    }
    measure_bytes(&run, ret_cost);
    part(&run, PART_CANCEL, cancel_a_quarter, run.count / 4, ret_cost);
    part(&run, PART_SERVE, serve_half, run.count / 2, ret_cost);
    part(&run, PART_CLOSE, close_all, run.count / 4, ret_cost);
    end(&run);
    return run.has_failed ? -1 : 0;
}

static int measure_round(const char *where, struct shape shape, struct round *ret_round)
{
    struct shape smaller = shape;
    *(shape.names == 1 ? &smaller.each : &smaller.names) /= SMALLER;
    for (unsigned i = 0; i < SMALLER / 2; i++) {
        struct cost cost = {.bytes = 0};
        if (measure_once(where, smaller, &cost) != 0)
            return -1;
        for (int j = 0; j < PARTS; j++) {
            ret_round->small.ns[j] += cost.ns[j] / (SMALLER / 2);
            ret_round->small.store[j] += cost.store[j] / (SMALLER / 2);
        }
    }
    return measure_once(where, shape, &ret_round->large);
}

/* ---- the report ---- */

static const char *mode_of(struct shape shape)
{
    static const char *const modes[2][2] = {{"MUTEX with a limit", "MUTEX for ever"},
                                            {"FAIR with a limit", "FAIR for ever"}};
    return modes[shape.kind == HILOCK_FAIR][shape.wait_ms == HILOCK_FOREVER];
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(const double *of)
{
    double sorted[ROUNDS_MAX];
    for (unsigned i = 0; i < rounds; i++)
        sorted[i] = of[i];
    qsort(sorted, rounds, sizeof *sorted, compare);
    return (sorted[(rounds - 1) / 2] + sorted[rounds / 2]) / 2;
}

struct growth { double large, small, median, least, most; };

static struct growth growth_of(const struct round *of, int i, bool is_store)
{
    struct growth growth = {.least = INFINITY};
    double large[ROUNDS_MAX], small[ROUNDS_MAX], ratio[ROUNDS_MAX];
    for (unsigned j = 0; j < rounds; j++) {
        large[j] = is_store ? of[j].large.store[i] : of[j].large.ns[i];
        small[j] = is_store ? of[j].small.store[i] : of[j].small.ns[i];
        ratio[j] = large[j] / small[j];
        growth.least = fmin(growth.least, ratio[j]);
        growth.most = fmax(growth.most, ratio[j]);
    }
    growth.large = median(large);
    growth.small = median(small);
    growth.median = median(ratio);
    return growth;
}

static void print_growth(const char *what, struct growth growth, double bar)
{
    printf(
        "  %-16s %7.0f ns each, %7.0f with a hundredth of them: %.2f times (%.2f to %.2f; the logarithm's bar: %.2f)\n",
        what, growth.large, growth.small, growth.median, growth.least, growth.most, bar);
}

static void json_growth(struct json *json, const char *part, const char *where, struct growth growth)
{
    char key[40];
    snprintf(key, sizeof key, "%s%s_ns", part, where);
    json_number(json, key, growth.large);
    snprintf(key, sizeof key, "%s%s_growth", part, where);
    json_number(json, key, growth.median);
}

static void report(struct shape shape, const struct round *of)
{
    static const char *const parts[PARTS] = {"wait", "cancel", "serve", "close"};
    unsigned count = shape.names * shape.each;
    double bar = log(count) / log((double)count / SMALLER);
    char at_store[32];
    printf("%u names, %u waiters each, %s: %.1f bytes each requested, %.1f with malloc's own\n", shape.names,
           shape.each, mode_of(shape), of[0].large.bytes, of[0].large.bytes_with_malloc);
    for (int i = 0; i < PARTS; i++) {
        print_growth(parts[i], growth_of(of, i, false), bar);
        snprintf(at_store, sizeof at_store, "%s, scripts", parts[i]);
        if (shape.kind == HILOCK_FAIR)
            print_growth(at_store, growth_of(of, i, true), bar);
    }
    if (!options_has_json)
        return;
    struct json json = line_begin("waiters");
    json_text(&json, "mode", mode_of(shape));
    json_count(&json, "names", shape.names);
    json_count(&json, "each", shape.each);
    json_number(&json, "bytes_per_waiter", of[0].large.bytes);
    json_count(&json, "rounds", rounds);
    json_number(&json, "bar", bar);
    for (int i = 0; i < PARTS; i++) {
        json_growth(&json, parts[i], "", growth_of(of, i, false));
        if (shape.kind == HILOCK_FAIR)
            json_growth(&json, parts[i], "_scripts", growth_of(of, i, true));
    }
    line_end(&json);
}

static int measure(const char *where, struct shape shape)
{
    struct round of[ROUNDS_MAX] = {{{.bytes = 0}, {.bytes = 0}}};
    for (unsigned i = 0; i < rounds; i++)
        if (measure_round(where, shape, &of[i]) != 0)
            return -1;
    report(shape, of);
    return 0;
}

/* Makes freed memory stay with the process, so that after the first round no part pays for new pages of the kernel. */
static void keep_pages(void)
{
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
#endif
}

static int run(void)
{
    const struct shape shapes[] = {
        {1, waiters, HILOCK_FOREVER, HILOCK_MUTEX}, {names, each, HILOCK_FOREVER, HILOCK_MUTEX},
        {1, waiters, LIMIT_MS, HILOCK_MUTEX},       {names, each, LIMIT_MS, HILOCK_MUTEX},
        {1, fair, HILOCK_FOREVER, HILOCK_FAIR},     {1, fair, LIMIT_MS, HILOCK_FAIR},
        {fair / 10, 10, LIMIT_MS, HILOCK_FAIR}};
    struct server server;
    int status = stage_server(&server);
    keep_pages();
    for (unsigned i = 0; status == 0 && i < sizeof shapes / sizeof *shapes; i++)
        if (!only || strncmp(mode_of(shapes[i]), only, strlen(only)) == 0)
            status = measure(server.url, shapes[i]);
    server_stop(&server);
    return status;
}

const struct scenario scenario_waiters = {
    "waiters", "very many acquires that wait in one client: bytes and time of each", options, run};
