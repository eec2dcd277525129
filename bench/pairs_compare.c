/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs_compare.c - hilock's pairs beside those of the bare loop.
 *
 * In each round hilock and the bare loop run for a while each, in alternating order, in the same process. Each has a
 * connection of its own. A round gives one ratio of rates. The CPU time is that of this process during hilock's turns,
 * and, reported beside it, during those of the bare loop. Commands are the server's count (INFO commandstats) during
 * hilock's turns, and so is the CPU time of the server in user mode.
 *
 * If the name is shared, another client holds it as often as was asked for while all this runs, and both loops join
 * and leave it. */
#include "pairs.h"

#include "commands.h"
#include "masters.h"
#include "samples.h"
#include "store.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

static const char shared_name[] = "hilock-bench:all";

struct turn { /* the figures of one loop's turns */
    uint64_t pairs;
    double seconds, cpu_seconds;
};

struct served { uint64_t commands, us; }; /* by all servers: commands of clients, CPU time in user mode */

struct bench {
    const struct pairs_play *play;
    struct event_base *base; /* the base of the bare loop */
    struct loop loop;        /* the loop of hilock, which may be the same base */
    struct pairs_ours *ours, *sharers;
    struct pairs_bare *bare;
    struct masters *masters;
    struct commands *commands[MASTERS_MAX];
    struct turn ours_sum, bare_sum;
    struct samples ratios;
    struct served served; /* in hilock's turns */
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

static double rate(const struct turn *turn) { return (double)turn->pairs / turn->seconds; }

static double client_us(const struct turn *turn) { return turn->cpu_seconds / (double)turn->pairs * 1e6; }

static int read_served(const struct bench *bench, struct served *ret_served)
{
    *ret_served = (struct served){0, 0};
    for (unsigned i = 0; i < masters_count(bench->masters); i++) {
        struct served one;
        if (commands_count(bench->commands[i], &one.commands) != 0 ||
            commands_server_us(bench->commands[i], &one.us) != 0)
            return -1;
        ret_served->commands += one.commands;
        ret_served->us += one.us;
    }
    return 0;
}

static int run_round(struct bench *bench, unsigned round)
{
    struct turn ours = {0}, bare = {0};
    for (unsigned half = 0; half < 2; half++) {
        bool is_ours = half == round % 2;
        struct served before, after;
        if (!is_ours) {
            bare = run_turn(bench, false, bench->play->seconds);
            continue;
        }
        if (read_served(bench, &before) != 0)
            return -1;
        ours = run_turn(bench, true, bench->play->seconds);
        if (read_served(bench, &after) != 0)
            return -1;
        bench->served.commands += after.commands - before.commands;
        bench->served.us += after.us - before.us;
    }
    if (ours.pairs == 0 || bare.pairs == 0)
        return -1;
    add(&bench->ours_sum, &ours);
    add(&bench->bare_sum, &bare);
    return samples_add(&bench->ratios, rate(&ours) / rate(&bare));
}

static int open_commands(struct bench *bench, char *error)
{
    if (!(bench->masters = masters_open(bench->play->url, error)))
        return -1;
    for (unsigned i = 0; i < masters_count(bench->masters); i++)
        if (!(bench->commands[i] = commands_open(masters_url(bench->masters, i), error)))
            return -1;
    return 0;
}

static int open_sharers(struct bench *bench)
{
    const struct pairs_play *play = bench->play;
    if (!play->sharers)
        return 0;
    bench->sharers = pairs_ours_open(bench->loop, play->url, play->sharers, shared_name);
    return bench->sharers ? pairs_ours_hold(bench->sharers) : -1;
}

static int set_up(struct bench *bench)
{
    const struct pairs_play *play = bench->play;
    const char *shared = play->sharers ? shared_name : NULL;
    char error[STORE_ERROR_SIZE];
    if (open_commands(bench, error) != 0) {
        fprintf(stderr, "hilock-bench: %s\n", error);
        return -1;
    }
    bench->base = event_base_new();
    bench->loop.native = play->loop == &loop_libevent ? bench->base : play->loop->make();
    if (!bench->base || !bench->loop.native || open_sharers(bench) != 0)
        return -1;
    bench->ours = pairs_ours_open(bench->loop, play->url, play->inflight, shared);
    bench->bare = bench->ours ? pairs_bare_open(bench->base, play->url, play->inflight, shared) : NULL;
    return bench->bare ? 0 : -1;
}

/* The first turn of each loop is not counted: it connects. */
static int measure(struct bench *bench)
{
    double warm_up = bench->play->seconds < 0.2 ? bench->play->seconds : 0.2;
    if (run_turn(bench, true, warm_up).pairs == 0 || run_turn(bench, false, warm_up).pairs == 0)
        return -1;
    for (unsigned round = 0; round < bench->play->rounds; round++)
        if (run_round(bench, round) != 0)
            return -1;
    samples_sort(&bench->ratios);
    return 0;
}

static void tear_down(struct bench *bench)
{
    pairs_bare_close(bench->bare);
    pairs_ours_close(bench->ours);
    pairs_ours_close(bench->sharers);
    if (bench->loop.native && bench->loop.native != bench->base)
        bench->loop.kind->end(bench->loop.native);
    if (bench->base)
        event_base_free(bench->base);
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        commands_close(bench->commands[i]);
    masters_close(bench->masters);
    samples_free(&bench->ratios);
}

int pairs_compare(const struct pairs_play *play, struct pairs_figures *ret_figures)
{
    struct bench bench = {.play = play, .loop.kind = play->loop};
    int status = set_up(&bench);
    if (status == 0)
        status = measure(&bench);
    if (status == 0)
        *ret_figures = (struct pairs_figures){
            .ratio = {samples_at(&bench.ratios, 0), samples_at(&bench.ratios, 0.5), samples_at(&bench.ratios, 1)},
            .ours_per_s = rate(&bench.ours_sum), .bare_per_s = rate(&bench.bare_sum),
            .ours_us = client_us(&bench.ours_sum), .bare_us = client_us(&bench.bare_sum),
            .server_us = (double)bench.served.us / (double)bench.ours_sum.pairs,
            .commands = (double)bench.served.commands / (double)bench.ours_sum.pairs};
    tear_down(&bench);
    return status;
}

void pairs_tell_json(struct json *json, const struct pairs_play *play, const struct pairs_figures *figures)
{
    json_text(json, "loop", play->loop->name);
    json_count(json, "inflight", play->inflight);
    json_number(json, "seconds", play->seconds);
    json_count(json, "rounds", play->rounds);
    json_number(json, "ratio_median", figures->ratio.median);
    json_number(json, "ratio_min", figures->ratio.least);
    json_number(json, "ratio_max", figures->ratio.most);
    json_number(json, "pairs_per_s", figures->ours_per_s);
    json_number(json, "bare_pairs_per_s", figures->bare_per_s);
    json_number(json, "client_us_per_pair", figures->ours_us);
    json_number(json, "bare_client_us_per_pair", figures->bare_us);
    json_number(json, "server_us_per_pair", figures->server_us);
    json_number(json, "commands_per_pair", figures->commands);
}
