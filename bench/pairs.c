/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.c - scenario pairs: the cost of the lock client, compared with a bare hiredis loop that sends the same
 * commands (pairs_compare.c). Both have the same number of names of the same length. The median and the range of the
 * ratios are reported, because the machine's load changes between rounds, but hardly within one. */
#include "pairs.h"

#include "scenario.h"
#include "stage.h"

#include <stdio.h>

enum { ROUNDS_MAX = 1000 };

static unsigned inflight = 256, rounds = 31;
static double round_seconds = 0.3;
static const char *loop_name = "libevent";

static const struct option_entry options[] = {
    {"inflight", OPTION_COUNT, &inflight, "names at work at a time", 1, 10000},
    {"seconds", OPTION_SECONDS, &round_seconds, "of each loop in each round", 0, 0},
    {"rounds", OPTION_COUNT, &rounds, "of both loops", 1, ROUNDS_MAX},
    {"loop", OPTION_TEXT, &loop_name, "that hilock lives on: libevent, libuv or libev; the bare loop is on libevent", 0,
     0},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

static void tell(const struct pairs_play *play, const struct pairs_figures *figures)
{
    printf("acquire+release, %u names at work, %u rounds of %g s each\n", inflight, rounds, round_seconds);
    printf("  hilock              %10.0f pairs/s (%s)\n", figures->ours_per_s, loop_name);
    printf("  bare hiredis loop   %10.0f pairs/s (same scripts, hiredis' own libevent adapter)\n",
           figures->bare_per_s);
    printf("  ratio               %10.3f median of paired rounds (%.3f..%.3f)\n", figures->ratio.median,
           figures->ratio.least, figures->ratio.most);
    printf("  client CPU          %10.2f us per pair (bare loop: %.2f)\n", figures->ours_us, figures->bare_us);
    printf("  server CPU          %10.2f us per pair\n", figures->server_us);
    printf("  commands            %10.3f per pair, counted at the server\n", figures->commands);
    if (options_has_json) {
        struct json json = line_begin("pairs");
        pairs_tell_json(&json, play, figures);
        line_end(&json);
    }
}

static int run(void)
{
    struct server server;
    struct pairs_figures figures;
    struct pairs_play play = {.loop = loop_find(loop_name), .inflight = inflight, .rounds = rounds,
                              .seconds = round_seconds};
    int status;
    if (!play.loop || stage_server(&server) != 0)
        return -1;
    play.url = server.url;
    status = pairs_compare(&play, &figures);
    if (status == 0)
        tell(&play, &figures);
    server_stop(&server);
    return status;
}

const struct scenario scenario_pairs = {
    "pairs", "acquire and release of names that nobody else wants, beside a bare hiredis loop", options, run};
