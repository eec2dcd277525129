/* SPDX-License-Identifier: BSD-3-Clause */
/* storm.c - scenario storm: very many short waits for one name, and a pause of the server in the middle.
 *
 * A wait lasts about as long as it takes to serve everybody who waits. So most waits end without a grant, and each
 * such end is one request more. Half-way the private server is stopped (SIGSTOP) and continued, and then gets all
 * requests of the pause at once. A lock whose requests cost more the longer its queue is does not recover from that.
 * The load can go on until a second has 0.9 of the grants of a second before the pause.
 *
 * The report has the grants of each second; how long after the pause the first second with 0.9 of the former rate
 * began; the time of a PING on another connection; the processor time of a script before and after; and how many
 * places are in the queue one second after the end of the load. The time of a script by the clock is not reported,
 * because on a busy machine the server waits for a processor. */
#include "line.h"
#include "queue.h"
#include "samples.h"
#include "scenario.h"
#include "stage.h"
#include "store.h"
#include "storm.h"

#include <hiredis/hiredis.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PING_EVERY_MS = 10, STORE_PATIENCE_S = 60, EMPTY_PATIENCE_S = 60, STEPS_A_SECOND = 1000 / STORM_STEP_MS };

static unsigned clients = 1000, processes = 4, handles = 1, wait_least_ms = 400, wait_most_ms = 600, hold_ms = 2;
static unsigned pause_ms = 1500;
static double seconds = 60, recover_within_s;
static const char *kind = "mutex";

static const struct option_entry options[] = {
    {"clients", OPTION_COUNT, &clients, "in all", 1, 100000},
    {"processes", OPTION_COUNT, &processes, "that the clients live in", 1, CROWD_MAX},
    {"handles", OPTION_COUNT, &handles, "of each client", 1, 100000},
    {"kind", OPTION_TEXT, &kind, "mutex, fair, or mixed: each second handle is fair", 0, 0},
    {"wait-least-ms", OPTION_COUNT, &wait_least_ms, "for how long each waits", 1, 3600000},
    {"wait-most-ms", OPTION_COUNT, &wait_most_ms, "at most", 1, 3600000},
    {"hold-ms", OPTION_COUNT, &hold_ms, "for how long each holds", 0, 60000},
    {"seconds", OPTION_SECONDS, &seconds, "of load", 0, 0},
    {"recover-within", OPTION_SECONDS, &recover_within_s,
     "the load goes on for so long at most, until the grants are back", 0, 0},
    {"pause-ms", OPTION_COUNT, &pause_ms, "of the server, half-way; 0: none", 0, 60000},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

struct scripts { /* as the server counts: how many scripts have run, and how much processor time the server has used */
    uint64_t calls, us;
    bool is_known;
};

struct bench {
    struct stage stage;
    struct storm_board *board;
    struct crowd crowd;
    struct samples pings, pings_after; /* in microseconds, before the pause and after it */
    double paused_s, resumed_s, ended_s; /* times since the load began */
    struct scripts begun, paused, resumed, ended;
    long long left;    /* how many places are left a second after the load */
    double emptied_ms; /* since the end of the load; NaN: the queue was not empty within a minute */
};

static double now_s(const struct bench *bench)
{
    return (double)(crowd_now_ns() - bench->board->began_ns) / 1e9;
}

static struct scripts scripts_now(struct bench *bench)
{
    struct scripts scripts = {0, 0, false};
    scripts.is_known = commands_count_of(bench->stage.commands, "evalsha", &scripts.calls) == 0 &&
                       commands_server_us(bench->stage.commands, &scripts.us) == 0;
    return scripts;
}

static int ping(struct bench *bench, struct samples *pings)
{
    uint64_t asked_ns = crowd_now_ns();
    if (store_ask(bench->stage.store, "PING") < 0)
        return -1;
    return samples_add(pings, (double)(crowd_now_ns() - asked_ns) / 1e3);
}

static void pause_server(struct bench *bench)
{
    bench->paused = scripts_now(bench);
    bench->paused_s = now_s(bench);
    kill(bench->stage.server.pid, SIGSTOP);
    crowd_rest(pause_ms / 1e3);
    kill(bench->stage.server.pid, SIGCONT);
    bench->resumed_s = now_s(bench);
    bench->resumed = scripts_now(bench);
}

/* ---- grants ---- */

static double sum(const struct bench *bench, unsigned from, unsigned to)
{
    double grants = 0;
    for (unsigned i = from; i < to && i < STORM_STEPS_MAX; i++)
        grants += bench->board->grants[i];
    return grants;
}

static double rate(const struct bench *bench, double from_s, double to_s)
{
    unsigned from = (unsigned)(from_s * STEPS_A_SECOND), to = (unsigned)(to_s * STEPS_A_SECOND);
    return to > from ? sum(bench, from, to) * STEPS_A_SECOND / (to - from) : NAN;
}

/* Leaves out the first two seconds, in which all processes begin. */
static double healthy_rate(const struct bench *bench)
{
    double to_s = pause_ms ? bench->paused_s : bench->ended_s;
    return rate(bench, to_s > 4 ? 2 : to_s / 2, to_s);
}

static double rate_after(const struct bench *bench)
{
    double half_s = (bench->resumed_s + bench->ended_s) / 2;
    return rate(bench, bench->resumed_s + 2 < half_s ? bench->resumed_s + 2 : half_s, bench->ended_s);
}

/* Returns the time from the end of the pause to the first second with 0.9 of the rate before it; NaN: there was
 * none. */
static double recovered_ms(const struct bench *bench)
{
    unsigned first = (unsigned)ceil(bench->resumed_s * STEPS_A_SECOND);
    unsigned steps = (unsigned)(bench->ended_s * STEPS_A_SECOND);
    for (unsigned i = first; i + STEPS_A_SECOND <= steps; i++)
        if (sum(bench, i, i + STEPS_A_SECOND) >= 0.9 * healthy_rate(bench))
            return i * STORM_STEP_MS - bench->resumed_s * 1e3;
    return NAN;
}

/* ---- the load ---- */

static bool must_go_on(struct bench *bench, double now)
{
    bench->ended_s = now;
    return pause_ms && now < seconds + recover_within_s && isnan(recovered_ms(bench));
}

static int watch(struct bench *bench)
{
    bool has_paused = pause_ms == 0;
    for (double now = now_s(bench); now < seconds || must_go_on(bench, now); now = now_s(bench)) {
        if (!has_paused && now >= seconds / 2) {
            pause_server(bench);
            has_paused = true;
        }
        if (ping(bench, pause_ms && has_paused ? &bench->pings_after : &bench->pings) != 0)
            return -1;
        crowd_rest(PING_EVERY_MS / 1e3);
    }
    return 0;
}

static int await_empty(struct bench *bench)
{
    double ended_s = now_s(bench);
    bench->emptied_ms = NAN;
    if (crowd_order(&bench->crowd, STORM_END) != 0)
        return -1;
    crowd_rest(1);
    bench->left = queue_places(bench->stage.store, bench->board->name);
    for (long long left = bench->left; left >= 0; left = queue_places(bench->stage.store, bench->board->name)) {
        double span_s = now_s(bench) - ended_s;
        if (left == 0)
            bench->emptied_ms = span_s * 1e3;
        if (left == 0 || span_s > EMPTY_PATIENCE_S)
            return crowd_await(&bench->crowd);
        crowd_rest(PING_EVERY_MS / 1e3);
    }
    return -1;
}

static int play(struct bench *bench)
{
    struct storm_board *board = bench->board;
    bench->begun = scripts_now(bench);
    board->began_ns = crowd_now_ns();
    if (crowd_order(&bench->crowd, STORM_BEGIN) != 0 || crowd_await(&bench->crowd) != 0 || watch(bench) != 0)
        return -1;
    bench->ended_s = now_s(bench);
    bench->ended = scripts_now(bench);
    board->is_over = true;
    samples_sort(&bench->pings);
    samples_sort(&bench->pings_after);
    return await_empty(bench);
}

/* ---- figures ---- */

static double script_us(struct scripts before, struct scripts after)
{
    return before.is_known && after.is_known && after.calls > before.calls
               ? (double)(after.us - before.us) / (double)(after.calls - before.calls)
               : NAN;
}

static void list_grants(const struct bench *bench, char *ret_text, size_t size)
{
    unsigned whole = (unsigned)bench->ended_s;
    size_t at = 0;
    ret_text[0] = '\0';
    for (unsigned i = 0; i < whole && at + 12 < size; i++)
        at += (size_t)snprintf(ret_text + at, size - at, "%s%.0f", i ? " " : "",
                               sum(bench, i * STEPS_A_SECOND, (i + 1) * STEPS_A_SECOND));
}

static void tell_pings(const char *when, const struct samples *pings)
{
    printf("  PING %-14s %8.0f us p50, %.0f us p99, %.0f us at most of %zu\n", when, samples_at(pings, 0.5),
           samples_at(pings, 0.99), samples_at(pings, 1), pings->count);
}

static void tell(const struct bench *bench, const char *grants)
{
    const struct storm_board *board = bench->board;
    printf("%u clients x %u handles, %s, waits of %u to %u ms, hold %u ms; %g s, a pause of %u ms half-way\n", clients,
           handles, kind, wait_least_ms, wait_most_ms, hold_ms, seconds, pause_ms);
    printf("  grants of each second: %s\n", grants);
    printf("  grants              %8.1f /s", healthy_rate(bench));
    if (pause_ms)
        printf(" before the pause, %.1f /s after it; 0.9 of it from %.0f ms after its end on", rate_after(bench),
               recovered_ms(bench));
    printf("\n  waits that ended    %8u by their limit, %u while the server was silent, %u otherwise\n",
           board->timed_out, board->silent, board->refused);
    tell_pings("before", &bench->pings);
    if (pause_ms)
        tell_pings("after", &bench->pings_after);
    printf("  a script            %8.1f us", script_us(bench->begun, pause_ms ? bench->paused : bench->ended));
    if (pause_ms)
        printf(" before, %.1f us after", script_us(bench->resumed, bench->ended));
    printf("\n  places left         %8lld after 1 s; none after %.0f ms\n", bench->left, bench->emptied_ms);
}

static void tell_json(const struct bench *bench, const char *grants)
{
    struct json json = line_begin("storm");
    json_text(&json, "kind", kind);
    json_count(&json, "clients", clients);
    json_count(&json, "handles", handles);
    json_count(&json, "wait_least_ms", wait_least_ms);
    json_count(&json, "wait_most_ms", wait_most_ms);
    json_count(&json, "hold_ms", hold_ms);
    json_number(&json, "seconds", seconds);
    json_count(&json, "pause_ms", pause_ms);
    json_text(&json, "grants", grants);
    json_number(&json, "grants_per_s", healthy_rate(bench));
    json_number(&json, "grants_per_s_after", pause_ms ? rate_after(bench) : NAN);
    json_number(&json, "recovered_ms", pause_ms ? recovered_ms(bench) : NAN);
    json_count(&json, "timed_out", bench->board->timed_out);
    json_count(&json, "silent", bench->board->silent);
    json_count(&json, "refused", bench->board->refused);
    json_number(&json, "ping_p50_us", samples_at(&bench->pings, 0.5));
    json_number(&json, "ping_p99_us", samples_at(&bench->pings, 0.99));
    json_number(&json, "ping_after_p99_us", samples_at(&bench->pings_after, 0.99));
    json_number(&json, "ping_after_max_us", samples_at(&bench->pings_after, 1));
    json_number(&json, "script_us", script_us(bench->begun, pause_ms ? bench->paused : bench->ended));
    json_number(&json, "script_after_us", script_us(bench->resumed, bench->ended));
    json_count(&json, "places_left", (unsigned long long)bench->left);
    json_number(&json, "emptied_ms", bench->emptied_ms);
    line_end(&json);
}

/* ---- the run ---- */

static int read_kind(struct storm_board *board)
{
    bool is_mixed = strcmp(kind, "mixed") == 0, is_fair = strcmp(kind, "fair") == 0;
    board->kinds[0] = is_fair ? HILOCK_FAIR : HILOCK_MUTEX;
    board->kinds[1] = HILOCK_FAIR;
    board->kinds_count = is_mixed ? 2 : 1;
    if (is_mixed || is_fair || strcmp(kind, "mutex") == 0)
        return 0;
    fprintf(stderr, "hilock-bench: --kind %s: must be mutex, fair or mixed\n", kind);
    return -1;
}

static int set_up(struct bench *bench)
{
    const struct timeval patience = {STORE_PATIENCE_S, 0};
    struct storm_board *board = bench->board = crowd_board(sizeof *board);
    if (!board || read_kind(board) != 0)
        return -1;
    if (wait_least_ms > wait_most_ms || (options_url && pause_ms)) {
        fprintf(stderr, options_url && pause_ms
                            ? "hilock-bench: only a private server can be stopped: say --pause-ms 0\n"
                            : "hilock-bench: --wait-least-ms is above --wait-most-ms\n");
        return -1;
    }
    if (stage_open(&bench->stage) != 0 || redisSetTimeout(bench->stage.store, patience) != REDIS_OK)
        return -1;
    snprintf(board->url, sizeof board->url, "%s", bench->stage.server.url);
    snprintf(board->name, sizeof board->name, "bench:storm:%d", (int)getpid());
    board->clients = clients;
    board->handles = handles;
    board->wait_least_ms = wait_least_ms;
    board->wait_most_ms = wait_most_ms;
    board->hold_ms = hold_ms;
    return crowd_start(&bench->crowd, &storm_role, processes < clients ? processes : clients, board);
}

static void tear_down(struct bench *bench)
{
    crowd_stop(&bench->crowd);
    stage_close(&bench->stage);
    crowd_board_free(bench->board, sizeof *bench->board);
    samples_free(&bench->pings);
    samples_free(&bench->pings_after);
}

static int run(void)
{
    static struct bench bench;
    static char grants[3600 * 8];
    int status = set_up(&bench);
    if (status == 0)
        status = play(&bench);
    if (status == 0) {
        list_grants(&bench, grants, sizeof grants);
        tell(&bench, grants);
        if (options_has_json)
            tell_json(&bench, grants);
    }
    tear_down(&bench);
    return status;
}

const struct scenario scenario_storm = {
    "storm", "very many short waits for one name, and a pause of the server in the middle", options, run};
