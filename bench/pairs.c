/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.c - scenario pairs: the cost of the lock client, compared with a bare hiredis loop that sends the same
 * commands.
 *
 * In each round hilock and the bare loop run for a while each, in alternating order, in the same process. Each has a
 * connection of its own, and the same number of names of the same length. A round gives one ratio of rates. The
 * median and the range of the ratios are reported, because the machine's load changes between rounds, but hardly
 * within one. The CPU time is that of this process during hilock's turns, and, reported beside it, during those of
 * the bare loop. Commands are the server's count (INFO commandstats) during hilock's turns. */
#include "pairs.h"

#include "commands.h"
#include "line.h"
#include "masters.h"
#include "scenario.h"
#include "server.h"
#include "store.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS_MAX = 1000 };

static unsigned inflight = 256, rounds = 31;
static double round_seconds = 0.3;
static const char *url, *loop_name = "libevent";
static bool has_json;

static const struct option_entry options[] = {
    {"inflight", OPTION_COUNT, &inflight, "names at work at a time", 1, 10000},
    {"seconds", OPTION_SECONDS, &round_seconds, "of each loop in each round", 0, 0},
    {"rounds", OPTION_COUNT, &rounds, "of both loops", 1, ROUNDS_MAX},
    {"url", OPTION_TEXT, &url,
     "redis://.., unix://.. or redis+cluster://..; without it a private redis-server is started", 0, 0},
    {"loop", OPTION_TEXT, &loop_name, "that hilock lives on: libevent, libuv or libev; the bare loop is on libevent", 0,
     0},
    {"json", OPTION_FLAG, &has_json, "ends with a JSON object", 0, 0},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

struct turn { /* the figures of one loop's turn */
    uint64_t pairs;
    double seconds, cpu_seconds;
};

struct bench {
    struct server server;
    struct event_base *base; /* the base of the bare loop */
    struct loop loop;        /* the loop of hilock, which may be the same base */
    struct pairs_ours *ours;
    struct pairs_bare *bare;
    struct masters *masters;
    struct commands *commands[MASTERS_MAX];
    struct turn ours_sum, bare_sum;
    double ratios[ROUNDS_MAX];
    uint64_t commands_sum;
};

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct turn run_turn(struct bench *bench, bool is_ours, double seconds)
{
    double started = seconds_of(CLOCK_MONOTONIC), cpu_started = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    struct turn turn = {.pairs = is_ours ? pairs_ours_run(bench->ours, seconds) : pairs_bare_run(bench->bare, seconds)};
    turn.seconds = seconds_of(CLOCK_MONOTONIC) - started;
    turn.cpu_seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_started;
    return turn;
}

static void add(struct turn *sum, const struct turn *turn)
{
    sum->pairs += turn->pairs;
    sum->seconds += turn->seconds;
    sum->cpu_seconds += turn->cpu_seconds;
}

static double rate(const struct turn *turn)
{
    return (double)turn->pairs / turn->seconds;
}

static int count_all(const struct bench *bench, uint64_t *ret_count)
{
    uint64_t count;
    *ret_count = 0;
    for (unsigned i = 0; i < masters_count(bench->masters); i++, *ret_count += count)
        if (commands_count(bench->commands[i], &count) != 0)
            return -1;
    return 0;
}

static int run_round(struct bench *bench, unsigned round)
{
    struct turn ours = {0}, bare = {0};
    for (unsigned half = 0; half < 2; half++) {
        bool is_ours = half == round % 2;
        uint64_t before = 0, after = 0;
        if (!is_ours) {
            bare = run_turn(bench, false, round_seconds);
            continue;
        }
        if (count_all(bench, &before) != 0)
            return -1;
        ours = run_turn(bench, true, round_seconds);
        if (count_all(bench, &after) != 0)
            return -1;
        bench->commands_sum += after - before;
    }
    if (ours.pairs == 0 || bare.pairs == 0)
        return -1;
    add(&bench->ours_sum, &ours);
    add(&bench->bare_sum, &bare);
    bench->ratios[round] = rate(&ours) / rate(&bare);
    return 0;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(const double *sorted, unsigned count)
{
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static void tell(const struct bench *bench)
{
    const struct turn *ours = &bench->ours_sum, *bare = &bench->bare_sum;
    double ratio = median(bench->ratios, rounds), lowest = bench->ratios[0], highest = bench->ratios[rounds - 1];
    double us_per_pair = ours->cpu_seconds / (double)ours->pairs * 1e6;
    double commands_per_pair = (double)bench->commands_sum / (double)ours->pairs;
    printf("acquire+release, %u names at work, %u rounds of %g s each\n", inflight, rounds, round_seconds);
    printf("  hilock              %10.0f pairs/s (%s)\n", rate(ours), loop_name);
    printf("  bare hiredis loop   %10.0f pairs/s (same scripts, hiredis' own libevent adapter)\n", rate(bare));
    printf("  ratio               %10.3f median of paired rounds (%.3f..%.3f)\n", ratio, lowest, highest);
    printf("  client CPU          %10.2f us per pair (bare loop: %.2f)\n", us_per_pair,
           bare->cpu_seconds / (double)bare->pairs * 1e6);
    printf("  commands            %10.3f per pair, counted at the server\n", commands_per_pair);
    if (!has_json)
        return;
    struct json json = line_begin("pairs");
    json_text(&json, "loop", loop_name);
    json_count(&json, "inflight", inflight);
    json_number(&json, "seconds", round_seconds);
    json_count(&json, "rounds", rounds);
    json_number(&json, "ratio_median", ratio);
    json_number(&json, "ratio_min", lowest);
    json_number(&json, "ratio_max", highest);
    json_number(&json, "pairs_per_s", rate(ours));
    json_number(&json, "bare_pairs_per_s", rate(bare));
    json_number(&json, "client_us_per_pair", us_per_pair);
    json_number(&json, "bare_client_us_per_pair", bare->cpu_seconds / (double)bare->pairs * 1e6);
    json_number(&json, "commands_per_pair", commands_per_pair);
    line_end(&json);
}

static int open_commands(struct bench *bench, char *error)
{
    for (unsigned i = 0; i < masters_count(bench->masters); i++)
        if (!(bench->commands[i] = commands_open(masters_url(bench->masters, i), error)))
            return -1;
    return 0;
}

static int set_up(struct bench *bench)
{
    char error[STORE_ERROR_SIZE];
    if (server_start(&bench->server, url, error) != 0 || !(bench->masters = masters_open(bench->server.url, error)) ||
        open_commands(bench, error) != 0) {
        fprintf(stderr, "hilock-bench: %s\n", error);
        return -1;
    }
    bench->base = event_base_new();
    bench->loop.native = bench->loop.kind == &loop_libevent ? bench->base : bench->loop.kind->make();
    bench->ours = bench->base && bench->loop.native ? pairs_ours_open(bench->loop, bench->server.url, inflight) : NULL;
    bench->bare = bench->ours ? pairs_bare_open(bench->base, bench->server.url, inflight) : NULL;
    return bench->bare ? 0 : -1;
}

/* The first turn of each loop is not counted: it connects. */
static int measure(struct bench *bench)
{
    double warm_up = round_seconds < 0.2 ? round_seconds : 0.2;
    if (run_turn(bench, true, warm_up).pairs == 0 || run_turn(bench, false, warm_up).pairs == 0)
        return -1;
    for (unsigned round = 0; round < rounds; round++)
        if (run_round(bench, round) != 0)
            return -1;
    qsort(bench->ratios, rounds, sizeof *bench->ratios, by_size);
    return 0;
}

static void tear_down(struct bench *bench)
{
    pairs_bare_close(bench->bare);
    pairs_ours_close(bench->ours);
    if (bench->loop.native && bench->loop.native != bench->base)
        bench->loop.kind->end(bench->loop.native);
    if (bench->base)
        event_base_free(bench->base);
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        commands_close(bench->commands[i]);
    masters_close(bench->masters);
    server_stop(&bench->server);
}

static int run(void)
{
    static struct bench bench;
    int status;
    bench.loop.kind = loop_find(loop_name);
    if (!bench.loop.kind)
        return -1;
    status = set_up(&bench);
    if (status == 0)
        status = measure(&bench);
    if (status == 0)
        tell(&bench);
    tear_down(&bench);
    return status;
}

const struct scenario scenario_pairs = {
    "pairs", "acquire and release of names that nobody else wants, beside a bare hiredis loop", options, run};
