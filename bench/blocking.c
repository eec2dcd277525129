/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking.c - scenario blocking: the cost of blocking calls for a thread that makes one after the other, compared
 * with a plain blocking hiredis loop.
 *
 * Kind MUTEX is compared with a loop that sends the very same EVALSHAs, and kind SIMPLE with SET NX PX and the
 * script with DEL. In each round all four loops run for a while, and each round begins with another one. They run in
 * one process; each has a connection and a name of its own. Each pair is timed, and the figure of a turn is the
 * median of its pairs, because a mean would also measure other work of the machine. A round gives one ratio for each
 * kind: the time of a pair divided by the time of a bare one. The median and the range of these ratios are reported.
 * The CPU time is that of both threads of this process. */
#include "bare.h"
#include "line.h"
#include "samples.h"
#include "scenario.h"
#include "stage.h"

#include <hilock/blocking.h>
#include <stdio.h>
#include <time.h>

enum { LEASE_MS = 30000, LOOPS = 4, KINDS = 2 };

static unsigned rounds = 31;
static double round_seconds = 0.3;

static const struct option_entry options[] = {
    {"seconds", OPTION_SECONDS, &round_seconds, "of each loop in each round", 0, 0},
    {"rounds", OPTION_COUNT, &rounds, "of all four loops", 1, 1000},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

struct bench {
    struct server server;
    hilock_blocking *client;
    struct bare_blocking *bare;
    /* for each kind first our loop, then the bare one */
    struct samples pairs[LOOPS]; /* in microseconds: the median pair of each turn */
    double cpu[LOOPS], count[LOOPS];
    struct samples ratios[KINDS];
};

static const char *const kind_names[KINDS] = {"MUTEX", "SIMPLE"};
static const hilock_kind kinds[KINDS] = {HILOCK_MUTEX, HILOCK_SIMPLE};
static const enum bare_pair bare_pairs[KINDS] = {BARE_MUTEX, BARE_SET};

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int pair_of_ours(hilock_blocking *client, hilock_kind kind)
{
    struct hilock_blocking_result result = {.size = sizeof result};
    hilock_blocking_lock *lock;
    if (hilock_blocking_acquire(client, kind == HILOCK_MUTEX ? "ours:mutex..." : "ours:simple..",
                                HILOCK_LOCK_OPTIONS(.kind = kind), HILOCK_FOREVER, &lock, &result) == HILOCK_OK &&
        hilock_blocking_release(lock, &result) == HILOCK_OK)
        return 0;
    fprintf(stderr, "hilock: %s: %s\n", hilock_status_name(result.status), result.detail);
    return -1;
}

static int run_pairs(struct bench *bench, unsigned loop, double seconds, struct samples *samples)
{
    const unsigned kind = loop / 2;
    double began = seconds_of(CLOCK_MONOTONIC), ended;
    const double end = began + seconds;
    for (; began < end; began = ended) {
        const int status = loop % 2 ? bare_blocking_pair(bench->bare, bare_pairs[kind])
                                    : pair_of_ours(bench->client, kinds[kind]);
        ended = seconds_of(CLOCK_MONOTONIC);
        if (status != 0 || samples_add(samples, (ended - began) * 1e6) != 0)
            return -1;
    }
    return 0;
}

/* The first turn of each loop is not counted: it connects, and loads scripts. */
static int run_turn(struct bench *bench, unsigned loop, double seconds, bool is_counted)
{
    const double cpu_began = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    struct samples samples = {NULL, 0, 0};
    int status;
    bare_blocking_begin(bench->bare, seconds);
    status = run_pairs(bench, loop, seconds, &samples);
    if (status == 0 && is_counted) {
        samples_sort(&samples);
        status = samples_add(&bench->pairs[loop], samples_at(&samples, 0.5));
        bench->cpu[loop] += seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_began;
        bench->count[loop] += (double)samples.count;
    }
    samples_free(&samples);
    return status;
}

static int run_round(struct bench *bench, unsigned round)
{
    for (unsigned i = 0; i < LOOPS; i++)
        if (run_turn(bench, (round + i) % LOOPS, round_seconds, true) != 0)
            return -1;
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (samples_add(&bench->ratios[kind],
                        bench->pairs[2 * kind].values[round] / bench->pairs[2 * kind + 1].values[round]) != 0)
            return -1;
    return 0;
}

static void tell(struct bench *bench, unsigned kind)
{
    const unsigned ours = 2 * kind, bare = ours + 1;
    const double ours_cpu_us = bench->cpu[ours] / bench->count[ours] * 1e6,
                 bare_cpu_us = bench->cpu[bare] / bench->count[bare] * 1e6;
    const struct samples *ratios = &bench->ratios[kind];
    samples_sort(&bench->ratios[kind]);
    samples_sort(&bench->pairs[ours]);
    samples_sort(&bench->pairs[bare]);
    printf("  %-6s  %8.1f us a pair, bare %8.1f; ratio %.2f median of paired rounds (%.2f..%.2f); client CPU %.1f us, "
           "bare %.1f\n",
           kind_names[kind], samples_at(&bench->pairs[ours], 0.5), samples_at(&bench->pairs[bare], 0.5),
           samples_at(ratios, 0.5), samples_at(ratios, 0), samples_at(ratios, 1), ours_cpu_us, bare_cpu_us);
    if (!options_has_json)
        return;
    struct json json = line_begin("blocking");
    json_text(&json, "kind", kind_names[kind]);
    json_count(&json, "rounds", rounds);
    json_number(&json, "seconds", round_seconds);
    json_number(&json, "ratio_median", samples_at(ratios, 0.5));
    json_number(&json, "ratio_min", samples_at(ratios, 0));
    json_number(&json, "ratio_max", samples_at(ratios, 1));
    json_number(&json, "us_per_pair", samples_at(&bench->pairs[ours], 0.5));
    json_number(&json, "bare_us_per_pair", samples_at(&bench->pairs[bare], 0.5));
    json_number(&json, "client_us_per_pair", ours_cpu_us);
    json_number(&json, "bare_client_us_per_pair", bare_cpu_us);
    line_end(&json);
}

static int set_up(struct bench *bench)
{
    struct hilock_error error = {""};
    if (stage_server(&bench->server) != 0)
        return -1;
    if (hilock_blocking_open(&bench->client, HILOCK_CLIENT_OPTIONS(.url = bench->server.url, .lease_ms = LEASE_MS),
                             &error) != HILOCK_OK) {
        fprintf(stderr, "hilock: %s\n", error.text);
        return -1;
    }
    bench->bare = bare_blocking_open(bench->server.url, LEASE_MS);
    return bench->bare ? 0 : -1;
}

static int measure(struct bench *bench)
{
    for (unsigned loop = 0; loop < LOOPS; loop++)
        if (run_turn(bench, loop, 0.1, false) != 0)
            return -1;
    for (unsigned round = 0; round < rounds; round++)
        if (run_round(bench, round) != 0)
            return -1;
    printf("acquire+release by one thread, %u rounds of %g s for each loop\n", rounds, round_seconds);
    for (unsigned kind = 0; kind < KINDS; kind++)
        tell(bench, kind);
    return 0;
}

static int run(void)
{
    static struct bench bench;
    int status = set_up(&bench);
    if (status == 0)
        status = measure(&bench);
    hilock_blocking_free(bench.client);
    bare_blocking_close(bench.bare);
    for (unsigned kind = 0; kind < KINDS; kind++)
        samples_free(&bench.ratios[kind]);
    for (unsigned loop = 0; loop < LOOPS; loop++)
        samples_free(&bench.pairs[loop]);
    server_stop(&bench.server);
    return status;
}

const struct scenario scenario_blocking = {
    "blocking", "calls that block, one after the other, beside a plain blocking hiredis loop", options, run};
