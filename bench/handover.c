/* SPDX-License-Identifier: BSD-3-Clause */
/* handover.c - scenario handover: a lock goes from process to process; how long is nobody holding it in between?
 *
 * Several processes repeat: think, acquire, hold, release. They use the same clock, and write their grants into
 * memory that all share. The modes run in turn, for a stretch each: bare PUBLISHes made by a script, MUTEX, and
 * FAIR. The same processes pass the bare messages round, at the same spacing as the holds. Their latency is reported
 * beside the figures of the locks. */
#include "handover.h"
#include "line.h"
#include "scenario.h"
#include "stage.h"
#include "store.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned processes = 8, hold_ms = 5, think_ms = 35, rounds = 5, pollers = 0, listeners = 0;
static double stretch_seconds = 2;
static const char *only;

static const struct option_entry options[] = {
    {"processes", OPTION_COUNT, &processes, "that take turns", 2, CROWD_MAX},
    {"hold-ms", OPTION_COUNT, &hold_ms, "for how long each holds", 0, 60000},
    {"think-ms", OPTION_COUNT, &think_ms, "from a release to the next acquire", 0, 60000},
    {"seconds", OPTION_SECONDS, &stretch_seconds, "of each mode in each round", 0, 0},
    {"rounds", OPTION_COUNT, &rounds, "of all modes", 1, 1000},
    {"pollers", OPTION_COUNT, &pollers, "of the processes that may not listen, and poll", 0, CROWD_MAX},
    {"listeners", OPTION_COUNT, &listeners, "other programs that listen to the channels and want nothing", 0, 100},
    {"only", OPTION_TEXT, &only, "one mode beside the messages: mutex or fair", 0, 0},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

struct mode {
    const char *name;
    char order;
    struct handover_sums sums;
};
static struct mode modes[] = {{.name = "publish", .order = HANDOVER_PUBLISH},
                              {.name = "mutex", .order = HANDOVER_MUTEX},
                              {.name = "fair", .order = HANDOVER_FAIR}};
enum { MODES = sizeof modes / sizeof *modes };

struct bench {
    struct stage stage;
    struct handover_board *board;
    struct crowd crowd;
    redisContext *listeners[100];
    struct samples latencies; /* the latencies of the bare messages */
};

static bool is_wanted(const struct mode *mode)
{
    return mode->order == HANDOVER_PUBLISH || !only || strcmp(only, mode->name) == 0;
}

static int keep_messages(struct bench *bench)
{
    const struct handover_board *board = bench->board;
    for (unsigned i = 0; i < board->latencies && i < HANDOVER_LATENCIES_MAX; i++)
        if (samples_add(&bench->latencies, (double)board->latency_ns[i] / 1e3) != 0)
            return -1;
    return 0;
}

static int keep(struct bench *bench, struct mode *mode, uint64_t began_ns, uint64_t ended_ns)
{
    if (mode->order == HANDOVER_PUBLISH)
        return keep_messages(bench);
    return handover_add(&mode->sums, bench->board, processes, (double)(ended_ns - began_ns) / 1e9);
}

static int play(struct bench *bench, struct mode *mode)
{
    struct handover_board *board = bench->board;
    uint64_t before, after, began_ns, ended_ns;
    board->grants = board->grants_all = board->heartbeats = board->latencies = 0;
    board->is_over = false;
    if (commands_count(bench->stage.commands, &before) != 0)
        return -1;
    began_ns = crowd_now_ns();
    if (crowd_order(&bench->crowd, mode->order) != 0)
        return -1;
    crowd_rest(stretch_seconds);
    ended_ns = crowd_now_ns();
    board->is_over = true;
    if (crowd_await(&bench->crowd) != 0 || commands_count(bench->stage.commands, &after) != 0)
        return -1;
    if (board->grants == HANDOVER_GRANTS_MAX || board->latencies > HANDOVER_LATENCIES_MAX) {
        fprintf(stderr, "hilock-bench: more than %d grants in a stretch: make it shorter by --seconds\n",
                HANDOVER_GRANTS_MAX);
        return -1;
    }
    mode->sums.commands += after - before;
    mode->sums.heartbeats += board->heartbeats;
    return keep(bench, mode, began_ns, ended_ns);
}

/* The messages run first in each round; the two kinds take turns in running second. */
static int play_all(struct bench *bench)
{
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < MODES; i++) {
            struct mode *mode = i == 0 ? &modes[0] : &modes[1 + (round + i) % (MODES - 1)];
            if (is_wanted(mode) && play(bench, mode) != 0)
                return -1;
        }
    samples_sort(&bench->latencies);
    for (unsigned i = 0; i < MODES; i++) {
        samples_sort(&modes[i].sums.gaps);
        samples_sort(&modes[i].sums.waits);
    }
    return 0;
}

/* ---- the report ---- */

static double gap_ratio(const struct bench *bench, const struct handover_sums *sums)
{
    return samples_at(&sums->gaps, 0.5) / samples_at(&bench->latencies, 0.5);
}

static void tell(const struct bench *bench, const struct mode *mode)
{
    const struct handover_sums *sums = &mode->sums;
    printf("  %s\n", mode->name);
    printf("    grants      %10.1f /s\n", (double)sums->grants / sums->seconds);
    printf("    idle gap    %10.1f us p50, %.1f us p99 of %zu; %.2f x the bare message\n", samples_at(&sums->gaps, 0.5),
           samples_at(&sums->gaps, 0.99), sums->gaps.count, gap_ratio(bench, sums));
    printf("    wait        %10.1f us p50, %.1f us p99, %.1f us at most\n", samples_at(&sums->waits, 0.5),
           samples_at(&sums->waits, 0.99), samples_at(&sums->waits, 1));
    printf("    commands    %10.3f per grant", (double)sums->commands / (double)sums->grants_all);
    if (mode->order == HANDOVER_FAIR)
        printf("; %llu heartbeats in %llu waits", (unsigned long long)sums->heartbeats,
               (unsigned long long)sums->grants_all);
    printf("\n");
    printf("    fairness    %10.3f Jain index, longest run %u\n", handover_jain(sums, processes), sums->longest_run);
}

static void tell_json(const struct bench *bench, const struct mode *mode)
{
    const struct handover_sums *sums = &mode->sums;
    struct json json = line_begin("handover");
    json_text(&json, "mode", mode->name);
    json_count(&json, "processes", processes);
    json_count(&json, "hold_ms", hold_ms);
    json_count(&json, "think_ms", think_ms);
    json_count(&json, "pollers", pollers);
    json_count(&json, "listeners", listeners);
    json_number(&json, "seconds", stretch_seconds);
    json_count(&json, "rounds", rounds);
    json_number(&json, "grants_per_s", (double)sums->grants / sums->seconds);
    json_number(&json, "gap_p50_us", samples_at(&sums->gaps, 0.5));
    json_number(&json, "gap_p99_us", samples_at(&sums->gaps, 0.99));
    json_number(&json, "publish_p50_us", samples_at(&bench->latencies, 0.5));
    json_number(&json, "gap_ratio_p50", gap_ratio(bench, sums));
    json_number(&json, "wait_p50_us", samples_at(&sums->waits, 0.5));
    json_number(&json, "wait_p99_us", samples_at(&sums->waits, 0.99));
    json_number(&json, "wait_max_us", samples_at(&sums->waits, 1));
    json_number(&json, "client_commands_per_grant", (double)sums->commands / (double)sums->grants_all);
    if (mode->order == HANDOVER_FAIR)
        json_count(&json, "heartbeats", sums->heartbeats);
    json_number(&json, "jain", handover_jain(sums, processes));
    json_count(&json, "longest_run", sums->longest_run);
    line_end(&json);
}

static void tell_all(const struct bench *bench)
{
    printf("%u processes, hold %u ms, think %u ms; %u rounds, %g s of each mode\n", processes, hold_ms, think_ms,
           rounds, stretch_seconds);
    printf("  bare PUBLISH by a script, from process to process: %.1f us p50, %.1f us p99 of %zu\n",
           samples_at(&bench->latencies, 0.5), samples_at(&bench->latencies, 0.99), bench->latencies.count);
    for (unsigned i = 0; i < MODES; i++)
        if (is_wanted(&modes[i]) && modes[i].order != HANDOVER_PUBLISH)
            tell(bench, &modes[i]);
    for (unsigned i = 0; i < MODES && options_has_json; i++)
        if (is_wanted(&modes[i]) && modes[i].order != HANDOVER_PUBLISH)
            tell_json(bench, &modes[i]);
}

/* ---- programs that may not listen, and programs that only listen ---- */

/* Makes a user on the private server that may publish, but may not listen. */
static int make_poller(const struct bench *bench)
{
    struct handover_board *board = bench->board;
    char error[STORE_ERROR_SIZE];
    redisContext *store;
    int status;
    if (options_url) {
        fprintf(stderr, "hilock-bench: --pollers makes a user on a private server: leave --url out\n");
        return -1;
    }
    snprintf(board->poller_url, sizeof board->poller_url, "unix://poller:secret@%s",
             bench->stage.server.url + strlen("unix://"));
    store = store_connect(bench->stage.server.url, error);
    if (!store) {
        fprintf(stderr, "hilock-bench: %s\n", error);
        return -1;
    }
    status = store_ask(store, "ACL SETUSER poller on >%s ~* &* +@all -subscribe", "secret") < 0 ? -1 : 0;
    redisFree(store);
    return status;
}

/* These subscribers read nothing, so what is published to them stays in the sockets. */
static int start_listeners(struct bench *bench)
{
    char error[STORE_ERROR_SIZE], name[96];
    for (unsigned i = 0; i < listeners; i++) {
        bench->listeners[i] = store_connect(bench->stage.server.url, error);
        if (!bench->listeners[i]) {
            fprintf(stderr, "hilock-bench: %s\n", error);
            return -1;
        }
        for (unsigned j = 0; j < 2; j++) {
            snprintf(name, sizeof name, "%s:%d", bench->board->name, j ? HILOCK_FAIR : HILOCK_MUTEX);
            if (store_ask(bench->listeners[i], "SUBSCRIBE redisson_lock__channel:{%s}", name) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- the run ---- */

static int set_up(struct bench *bench)
{
    if (only && strcmp(only, "mutex") != 0 && strcmp(only, "fair") != 0) {
        fprintf(stderr, "hilock-bench: --only %s: must be mutex or fair\n", only);
        return -1;
    }
    if (stage_open(&bench->stage) != 0)
        return -1;
    bench->board = crowd_board(sizeof *bench->board);
    if (!bench->board)
        return -1;
    snprintf(bench->board->url, sizeof bench->board->url, "%s", bench->stage.server.url);
    snprintf(bench->board->name, sizeof bench->board->name, "bench:handover:%d", (int)getpid());
    bench->board->has_fair = !only || strcmp(only, "fair") == 0;
    bench->board->hold_us = hold_ms * 1000;
    bench->board->think_us = think_ms * 1000;
    bench->board->pollers = pollers;
    if ((pollers && make_poller(bench) != 0) || start_listeners(bench) != 0)
        return -1;
    return crowd_start(&bench->crowd, &handover_role, processes, bench->board);
}

static void tear_down(struct bench *bench)
{
    crowd_stop(&bench->crowd);
    crowd_board_free(bench->board, sizeof *bench->board);
    for (unsigned i = 0; i < listeners; i++)
        if (bench->listeners[i])
            redisFree(bench->listeners[i]);
    stage_close(&bench->stage);
    samples_free(&bench->latencies);
    for (unsigned i = 0; i < MODES; i++)
        handover_sums_free(&modes[i].sums);
}

static int run(void)
{
    static struct bench bench;
    int status = set_up(&bench);
    if (status == 0)
        status = play_all(&bench);
    if (status == 0)
        tell_all(&bench);
    tear_down(&bench);
    return status;
}

const struct scenario scenario_handover = {
    "handover", "a lock that goes from process to process, and how long it lies idle in between", options, run};
