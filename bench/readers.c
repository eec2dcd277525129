/* SPDX-License-Identifier: BSD-3-Clause */
/* readers.c - scenario readers: names that several handles hold together.
 *
 *   join     a handle joins and leaves a name that 1, 10 or 1000 others share, beside a bare hiredis loop that sends
 *            the same commands (pairs_compare.c)
 *   let-in   1000 readers wait behind a writer: from its release to the last grant, beside the time until the last of
 *            as many messages has come that one script publishes to the same processes. These two take turns
 *   writer   64 readers hold, release and ask again at once, and a writer wants the name in between: its waits
 *   permits  64 handles want a name that 5 may share, hold it, release and ask again at once: how many hold it, on
 *            average, and how many commands a grant costs */
#include "pairs.h"
#include "queue.h"
#include "readers.h"
#include "samples.h"
#include "scenario.h"
#include "stage.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned processes = 8, clients = 0, readers = 1000, busy = 64, permits = 5, hold_ms = 20, rounds = 7;
static unsigned inflight = 1, share_local_ms = 0;
static double seconds = 3, join_seconds = 0.3;
static const char *only;

static const struct option_entry options[] = {
    {"only", OPTION_TEXT, &only, "one part: join, let-in, writer or permits", 0, 0},
    {"processes", OPTION_COUNT, &processes, "that have the handles", 1, CROWD_MAX - 1},
    {"clients", OPTION_COUNT, &clients, "of each process, for its handles in turn; 0: one for each handle", 0, 1000},
    {"share-local-ms", OPTION_COUNT, &share_local_ms, "let-in, writer: an option of the readers", 0, 10000},
    {"readers", OPTION_COUNT, &readers, "join: that share the name at most; let-in: that wait", 1, 10000},
    {"inflight", OPTION_COUNT, &inflight, "join: pairs at work at a time", 1, 1000},
    {"join-seconds", OPTION_SECONDS, &join_seconds, "join: of each loop in each round", 0, 0},
    {"busy", OPTION_COUNT, &busy, "writer, permits: handles in all", 1, 10000},
    {"permits", OPTION_COUNT, &permits, "permits: so many may hold at a time", 2, 10000},
    {"hold-ms", OPTION_COUNT, &hold_ms, "writer, permits: for how long each holds", 1, 60000},
    {"seconds", OPTION_SECONDS, &seconds, "writer, permits: of each round", 0, 0},
    {"rounds", OPTION_COUNT, &rounds, "of each part", 1, 1000},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

struct bench {
    struct stage stage;
    struct readers_board *board;
    struct crowd crowd;
    unsigned crowds;
};

static int order(struct bench *bench, char what)
{
    return crowd_order(&bench->crowd, what) != 0 || crowd_await(&bench->crowd) != 0 ? -1 : 0;
}

/* A new crowd has a name of its own. */
static int start(struct bench *bench, unsigned handles, uint32_t holders_max)
{
    struct readers_board *board = bench->board;
    snprintf(board->name, sizeof board->name, "bench:readers:%d:%u", (int)getpid(), bench->crowds++);
    board->handles = (handles + processes - 1) / processes;
    board->clients = clients && clients < board->handles ? clients : board->handles;
    board->holders_max = holders_max;
    board->share_local_ms = share_local_ms;
    board->hold_us = hold_ms * 1000;
    return crowd_start(&bench->crowd, &readers_role, processes + 1, board);
}

/* ---- join ---- */

static void tell_join(const struct pairs_play *play, const struct pairs_figures *figures)
{
    printf("  join %5u  %10.0f joins and leaves/s, bare %.0f; ratio %.3f (%.3f..%.3f); client CPU %.1f us, bare %.1f; "
           "server CPU %.1f us; %.2f commands\n",
           play->sharers, figures->ours_per_s, figures->bare_per_s, figures->ratio.median, figures->ratio.least,
           figures->ratio.most, figures->ours_us, figures->bare_us, figures->server_us, figures->commands);
    if (options_has_json) {
        struct json json = line_begin("readers");
        json_text(&json, "part", "join");
        json_count(&json, "sharers", play->sharers);
        pairs_tell_json(&json, play, figures);
        line_end(&json);
    }
}

static int run_join(struct bench *bench)
{
    const unsigned counts[] = {1, 10, readers};
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct pairs_play play = {bench->stage.server.url, &loop_libevent, inflight, rounds, join_seconds, counts[i]};
        struct pairs_figures figures;
        if (pairs_compare(&play, &figures) != 0)
            return -1;
        tell_join(&play, &figures);
    }
    return 0;
}

/* ---- let-in ---- */

static int time_of(struct bench *bench, char what, double *ret_ms)
{
    bench->board->last_ns = 0;
    if (order(bench, what) != 0)
        return -1;
    *ret_ms = (double)(bench->board->last_ns - bench->board->began_ns) / 1e6;
    return 0;
}

static int let_in(struct bench *bench, double *ret_ms, double *ret_messages_ms)
{
    if (time_of(bench, READERS_MESSAGES, ret_messages_ms) != 0 || order(bench, READERS_WRITE) != 0 ||
        order(bench, READERS_WAIT) != 0 ||
        queue_await(bench->stage.store, bench->board->name, bench->board->handles * processes) != 0)
        return -1;
    return time_of(bench, READERS_LET_IN, ret_ms) != 0 || order(bench, READERS_LEAVE) != 0 ? -1 : 0;
}

static void tell_let_in(const struct bench *bench, const struct samples *times, const struct samples *messages,
                        const struct samples *ratios)
{
    unsigned count = bench->board->handles * processes;
    printf("  let-in %4u of %u clients %9.2f ms from the release to the last grant (%.2f..%.2f); as many messages of a "
           "script %.2f ms (%.2f..%.2f); ratio %.2f (%.2f..%.2f)\n",
           count, bench->board->clients * processes, samples_at(times, 0.5), samples_at(times, 0),
           samples_at(times, 1), samples_at(messages, 0.5),
           samples_at(messages, 0), samples_at(messages, 1), samples_at(ratios, 0.5), samples_at(ratios, 0),
           samples_at(ratios, 1));
    if (options_has_json) {
        struct json json = line_begin("readers");
        json_text(&json, "part", "let-in");
        json_count(&json, "processes", processes);
        json_count(&json, "clients", bench->board->clients * processes);
        json_count(&json, "readers", count);
        json_count(&json, "share_local_ms", bench->board->share_local_ms);
        json_count(&json, "rounds", rounds);
        json_number(&json, "let_in_ms", samples_at(times, 0.5));
        json_number(&json, "messages_ms", samples_at(messages, 0.5));
        json_number(&json, "ratio_median", samples_at(ratios, 0.5));
        json_number(&json, "ratio_min", samples_at(ratios, 0));
        json_number(&json, "ratio_max", samples_at(ratios, 1));
        line_end(&json);
    }
}

/* The first round is not counted: clients connect, and subscribe. */
static int run_let_in(struct bench *bench)
{
    struct samples times = {0}, messages = {0}, ratios = {0};
    int status = start(bench, readers, HILOCK_ANY_NUMBER);
    for (unsigned round = 0; status == 0 && round <= rounds; round++) {
        double ms, messages_ms;
        status = let_in(bench, &ms, &messages_ms);
        if (status == 0 && round > 0)
            status = samples_add(&times, ms) != 0 || samples_add(&messages, messages_ms) != 0 ||
                             samples_add(&ratios, ms / messages_ms) != 0
                         ? -1
                         : 0;
    }
    crowd_stop(&bench->crowd);
    samples_sort(&times);
    samples_sort(&messages);
    samples_sort(&ratios);
    if (status == 0)
        tell_let_in(bench, &times, &messages, &ratios);
    samples_free(&times);
    samples_free(&messages);
    samples_free(&ratios);
    return status;
}

/* ---- writer, permits ---- */

struct sums {
    struct samples waits, writer_waits, holds; /* in milliseconds; holds: of the sharers */
    uint64_t grants, grants_all, commands;
    double held_s, span_s;
};

/* Of a hold the part counts that lies in the stretch, and of waits those that end in it. */
static int add(struct sums *sums, const struct readers_board *board, uint64_t began_ns, uint64_t ended_ns)
{
    for (unsigned i = 0; i < board->grants; i++) {
        const struct readers_grant *grant = &board->grant[i];
        uint64_t from_ns = grant->granted_ns > began_ns ? grant->granted_ns : began_ns;
        uint64_t until_ns = grant->releasing_ns < ended_ns ? grant->releasing_ns : ended_ns;
        if (until_ns > from_ns)
            sums->held_s += (double)(until_ns - from_ns) / 1e9;
        if (grant->granted_ns < began_ns || grant->granted_ns >= ended_ns)
            continue;
        if (samples_add(grant->is_writer ? &sums->writer_waits : &sums->waits,
                        (double)(grant->granted_ns - grant->asked_ns) / 1e6) != 0)
            return -1;
        if (!grant->is_writer &&
            samples_add(&sums->holds, (double)(grant->releasing_ns - grant->granted_ns) / 1e6) != 0)
            return -1;
        sums->grants++;
    }
    sums->grants_all += board->grants_all;
    sums->span_s += (double)(ended_ns - began_ns) / 1e9;
    return 0;
}

static void free_sums(struct sums *sums)
{
    samples_free(&sums->waits);
    samples_free(&sums->writer_waits);
    samples_free(&sums->holds);
}

static int play_busy(struct bench *bench, struct sums *sums)
{
    struct readers_board *board = bench->board;
    uint64_t before, after, began_ns, ended_ns;
    board->grants = board->grants_all = 0;
    board->is_over = false;
    if (commands_count(bench->stage.commands, &before) != 0 || crowd_order(&bench->crowd, READERS_BUSY) != 0)
        return -1;
    crowd_rest(2 * hold_ms / 1e3); /* until all hold or wait */
    began_ns = crowd_now_ns();
    crowd_rest(seconds);
    ended_ns = crowd_now_ns();
    board->is_over = true;
    if (crowd_await(&bench->crowd) != 0 || commands_count(bench->stage.commands, &after) != 0)
        return -1;
    if (board->grants >= READERS_GRANTS_MAX) {
        fprintf(stderr, "hilock-bench: more than %d grants in a round: make it shorter by --seconds\n",
                READERS_GRANTS_MAX);
        return -1;
    }
    sums->commands += after - before;
    return add(sums, board, began_ns, ended_ns);
}

static int run_busy(struct bench *bench, uint32_t holders_max, bool has_writer, struct sums *ret_sums)
{
    int status = start(bench, busy, holders_max);
    bench->board->has_writer = has_writer;
    for (unsigned round = 0; status == 0 && round < rounds; round++)
        status = play_busy(bench, ret_sums);
    crowd_stop(&bench->crowd);
    samples_sort(&ret_sums->waits);
    samples_sort(&ret_sums->writer_waits);
    samples_sort(&ret_sums->holds);
    return status;
}

static struct json busy_json(const char *part, const struct bench *bench, const struct sums *sums)
{
    struct json json = line_begin("readers");
    json_text(&json, "part", part);
    json_count(&json, "processes", processes);
    json_count(&json, "clients", bench->board->clients * processes);
    json_count(&json, "handles", bench->board->handles * processes);
    json_count(&json, "hold_ms", hold_ms);
    json_number(&json, "seconds", seconds);
    json_count(&json, "rounds", rounds);
    json_number(&json, "grants_per_s", (double)sums->grants / sums->span_s);
    json_number(&json, "commands_per_grant", (double)sums->commands / (double)sums->grants_all);
    return json;
}

static int run_writer(struct bench *bench)
{
    struct sums sums = {.grants = 0};
    const struct samples *waits = &sums.writer_waits;
    int status = run_busy(bench, HILOCK_ANY_NUMBER, true, &sums);
    if (status == 0)
        printf("  writer %4u %9.2f ms it waits, p50, %.2f p99, %.2f at most of %zu: %.2f holds at most; readers held "
               "%.2f ms p50, %.2f at most; %.0f grants/s, %.2f commands a grant\n",
               bench->board->handles * processes, samples_at(waits, 0.5), samples_at(waits, 0.99),
               samples_at(waits, 1), waits->count, samples_at(waits, 1) / hold_ms, samples_at(&sums.holds, 0.5),
               samples_at(&sums.holds, 1), (double)sums.grants / sums.span_s,
               (double)sums.commands / (double)sums.grants_all);
    if (status == 0 && options_has_json) {
        struct json json = busy_json("writer", bench, &sums);
        json_count(&json, "share_local_ms", bench->board->share_local_ms);
        json_count(&json, "writers_grants", waits->count);
        json_number(&json, "wait_p50_ms", samples_at(waits, 0.5));
        json_number(&json, "wait_p99_ms", samples_at(waits, 0.99));
        json_number(&json, "wait_max_ms", samples_at(waits, 1));
        json_number(&json, "wait_max_holds", samples_at(waits, 1) / hold_ms);
        json_number(&json, "hold_p50_ms", samples_at(&sums.holds, 0.5));
        json_number(&json, "hold_max_ms", samples_at(&sums.holds, 1));
        line_end(&json);
    }
    free_sums(&sums);
    return status;
}

static int run_permits(struct bench *bench)
{
    struct sums sums = {.grants = 0};
    int status = run_busy(bench, permits, false, &sums);
    if (status == 0)
        printf("  permits %u of %u handles: %.2f in use, %.3f of all; %.0f grants/s, %.2f commands a grant; wait "
               "%.1f ms p50, %.1f p99, %.1f at most\n",
               permits, bench->board->handles * processes, sums.held_s / sums.span_s,
               sums.held_s / sums.span_s / permits, (double)sums.grants / sums.span_s,
               (double)sums.commands / (double)sums.grants_all, samples_at(&sums.waits, 0.5),
               samples_at(&sums.waits, 0.99), samples_at(&sums.waits, 1));
    if (status == 0 && options_has_json) {
        struct json json = busy_json("permits", bench, &sums);
        json_count(&json, "permits", permits);
        json_number(&json, "permits_in_use", sums.held_s / sums.span_s);
        json_number(&json, "share_in_use", sums.held_s / sums.span_s / permits);
        json_number(&json, "wait_p50_ms", samples_at(&sums.waits, 0.5));
        json_number(&json, "wait_p99_ms", samples_at(&sums.waits, 0.99));
        json_number(&json, "wait_max_ms", samples_at(&sums.waits, 1));
        line_end(&json);
    }
    free_sums(&sums);
    return status;
}

/* ---- the scenario ---- */

static const struct part {
    const char *name;
    int (*run)(struct bench *bench);
} parts[] = {{"join", run_join}, {"let-in", run_let_in}, {"writer", run_writer}, {"permits", run_permits}};
enum { PARTS = sizeof parts / sizeof *parts };

static bool is_wanted(const struct part *part) { return !only || strcmp(only, part->name) == 0; }

static bool is_any_wanted(void)
{
    for (unsigned i = 0; i < PARTS; i++)
        if (is_wanted(&parts[i]))
            return true;
    fprintf(stderr, "hilock-bench: --only %s: must be join, let-in, writer or permits\n", only);
    return false;
}

static int set_up(struct bench *bench)
{
    bench->board = crowd_board(sizeof *bench->board);
    if (!bench->board || stage_open(&bench->stage) != 0)
        return -1;
    snprintf(bench->board->url, sizeof bench->board->url, "%s", bench->stage.server.url);
    return 0;
}

static int run(void)
{
    static struct bench bench;
    int status = is_any_wanted() ? set_up(&bench) : -1;
    if (status == 0)
        printf("%u processes; hold %u ms; %u rounds\n", processes, hold_ms, rounds);
    for (unsigned i = 0; i < PARTS && status == 0; i++)
        if (is_wanted(&parts[i]))
            status = parts[i].run(&bench);
    crowd_board_free(bench.board, sizeof *bench.board);
    stage_close(&bench.stage);
    return status;
}

const struct scenario scenario_readers = {
    "readers", "names that several handles hold together: readers, a writer among them, and permits", options, run};
