/* SPDX-License-Identifier: BSD-3-Clause */
/* succession.c - scenario succession: the holder of a lock and all waiters but the last are killed or stopped; how
 * long does it take until the last waiter, the living one, is granted the lock?
 *
 * One process holds, others wait, and the living one comes last. By SIGKILL or SIGSTOP either the holder and the
 * other waiters are struck, or only these waiters, and the holder releases. The measured time begins with the call
 * of that release, or when the lease of the holder ends at the store. It ends with the callback of the living one.
 * The waiters that are struck are k processes, or one process with k handles. The kind is FAIR, because with kind
 * MUTEX a process has one place however many handles it has. Each play has a name and processes of its own. It
 * strikes as soon as the store counts all places, and each play at another phase of the heartbeats and renewals than
 * the play before. Beside the longest time stands how late a thread was, at most, that did nothing meanwhile but sleep
 * for a millisecond again and again: on a busy machine a time may be that much longer than it is on an idle one. */
#include "line.h"
#include "queue.h"
#include "samples.h"
#include "scenario.h"
#include "stage.h"
#include "store.h"
#include "succession.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PHASES = 7, STRIKE_MS = 20, COUNTS_MAX = 32 };

static unsigned rounds = 20, lease_ms = 3000, settle_ms = 1000;
static const char *only, *shape, *waiters = "0,1,2,4,8,16,64", *kind = "fair";

static const struct option_entry options[] = {
    {"waiters", OPTION_TEXT, &waiters, "how many wait before the living: numbers with commas between", 0, 0},
    {"case", OPTION_TEXT, &only, "one case: killed, stopped, killed-waiters or stopped-waiters", 0, 0},
    {"shape", OPTION_TEXT, &shape, "one shape of those that wait: processes or handles", 0, 0},
    {"kind", OPTION_TEXT, &kind, "fair or mutex", 0, 0},
    {"lease-ms", OPTION_COUNT, &lease_ms, "of each hold", 300, 600000},
    {"settle-ms", OPTION_COUNT, &settle_ms, "from the last place in the queue to the strike, at least", 0, 60000},
    {"rounds", OPTION_COUNT, &rounds, "of all", 1, 1000},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

static const struct strike {
    const char *name;
    int signal;
    bool has_holder; /* the holder is struck, too */
} cases[] = {{"killed", SIGKILL, true},
             {"killed-waiters", SIGKILL, false},
             {"stopped", SIGSTOP, true},
             {"stopped-waiters", SIGSTOP, false}};
static const char *const shapes[] = {"processes", "handles"};
enum { CASES = sizeof cases / sizeof *cases, SHAPES = sizeof shapes / sizeof *shapes };

struct bench {
    struct stage stage;
    struct succession_board *board;
    unsigned plays;
    unsigned counts[COUNTS_MAX], counts_count;
    struct samples spans[CASES][SHAPES][COUNTS_MAX]; /* in milliseconds */
    double late_ms[CASES][SHAPES][COUNTS_MAX]; /* how late the sleeper was in the longest of these */
    pthread_t sleeper;
    _Atomic uint64_t free_ns, late_ns; /* since when the lock is free; how late the sleeper was since then, at most */
    _Atomic bool is_over;
};

struct play {
    struct crowd holder, waiters, living;
};

static void *sleep_again_and_again(void *user)
{
    struct bench *bench = user;
    while (!atomic_load(&bench->is_over)) {
        uint64_t due_ns = crowd_now_ns() + 1000000, now_ns;
        crowd_rest(1e-3);
        now_ns = crowd_now_ns();
        if (now_ns >= atomic_load(&bench->free_ns) && now_ns > due_ns + atomic_load(&bench->late_ns))
            atomic_store(&bench->late_ns, now_ns - due_ns);
    }
    return NULL;
}

static int await_places(struct bench *bench, unsigned count)
{
    return queue_await(bench->stage.store, bench->board->name, count);
}

static int start(struct bench *bench, struct crowd *crowd, unsigned count, unsigned handles, char order)
{
    bench->board->handles = handles;
    if (crowd_start(crowd, &succession_role, count, bench->board) != 0)
        return -1;
    return order == SUCCESSION_LIVE ? crowd_order(crowd, order)
                                    : crowd_order(crowd, order) != 0 || crowd_await(crowd) != 0 ? -1 : 0;
}

/* A process with k handles of kind MUTEX has one place in the queue. */
static unsigned places_of(const struct bench *bench, bool has_handles, unsigned count)
{
    return has_handles && bench->board->kind == HILOCK_MUTEX && count ? 1 : count;
}

static int set_the_scene(struct bench *bench, struct play *play, bool has_handles, unsigned count)
{
    struct succession_board *board = bench->board;
    snprintf(board->name, sizeof board->name, "bench:succession:%d:%u", (int)getpid(), bench->plays++);
    board->released_ns = board->granted_ns = 0;
    if (start(bench, &play->holder, 1, 1, SUCCESSION_HOLD) != 0)
        return -1;
    if (count && start(bench, &play->waiters, has_handles ? 1 : count, has_handles ? count : 1, SUCCESSION_WAIT) != 0)
        return -1;
    if (count && await_places(bench, places_of(bench, has_handles, count)) != 0)
        return -1;
    if (start(bench, &play->living, 1, 1, SUCCESSION_LIVE) != 0 ||
        await_places(bench, places_of(bench, has_handles, count) + 1) != 0)
        return -1;
    crowd_rest((settle_ms + bench->plays % PHASES * lease_ms / 3 / PHASES) / 1e3);
    return 0;
}

static void strike_all(const struct crowd *crowd, int signal)
{
    for (unsigned i = 0; i < crowd->count; i++)
        kill(crowd->pids[i], signal);
}

/* Returns the time at which the holder's release or lease ends; 0: a fault. When this returns, the server has read what
 * the struck processes had sent, and has noticed the end of those that were killed. */
static uint64_t strike(struct bench *bench, struct play *play, const struct strike *how)
{
    long long left_ms;
    strike_all(&play->waiters, how->signal);
    if (how->has_holder)
        strike_all(&play->holder, how->signal);
    crowd_rest(STRIKE_MS / 1e3);
    if (!how->has_holder)
        return crowd_order(&play->holder, SUCCESSION_RELEASE) == 0 && crowd_await(&play->holder) == 0
                   ? bench->board->released_ns
                   : 0;
    left_ms = store_ask(bench->stage.store, "PTTL %s", bench->board->name);
    return left_ms < 0 ? 0 : crowd_now_ns() + (uint64_t)left_ms * 1000000;
}

/* Ends the crowds, the latest one first, because later ones have copies of the sockets of earlier ones. */
static void end(struct play *play)
{
    crowd_stop(&play->living);
    strike_all(&play->waiters, SIGKILL);
    crowd_stop(&play->waiters);
    strike_all(&play->holder, SIGKILL);
    crowd_stop(&play->holder);
}

static int play_once(struct bench *bench, const struct strike *how, bool has_handles, unsigned count, double *ret_ms)
{
    struct play play = {.holder = {.count = 0}};
    uint64_t free_ns = set_the_scene(bench, &play, has_handles, count) == 0 ? strike(bench, &play, how) : 0;
    int status;
    atomic_store(&bench->free_ns, free_ns);
    atomic_store(&bench->late_ns, 0);
    status = free_ns && crowd_await(&play.living) == 0 ? 0 : -1;
    if (status == 0)
        *ret_ms = ((double)bench->board->granted_ns - (double)free_ns) / 1e6;
    end(&play);
    return status;
}

static bool is_wanted(const char *name, const char *wanted)
{
    return !wanted || strcmp(name, wanted) == 0;
}

/* Without waiters both shapes are the same. */
static bool is_played(unsigned shape_index, unsigned count)
{
    return is_wanted(shapes[shape_index], shape) && (count || shape_index == 0);
}

static int play_round(struct bench *bench)
{
    for (unsigned i = 0; i < CASES; i++)
        for (unsigned j = 0; j < SHAPES && is_wanted(cases[i].name, only); j++)
            for (unsigned k = 0; k < bench->counts_count; k++) {
                struct samples *spans = &bench->spans[i][j][k];
                double ms, most_ms;
                if (!is_played(j, bench->counts[k]))
                    continue;
                if (play_once(bench, &cases[i], j == 1, bench->counts[k], &ms) != 0 || samples_add(spans, ms) != 0)
                    return -1;
                samples_sort(spans);
                most_ms = samples_at(spans, 1);
                if (ms >= most_ms)
                    bench->late_ms[i][j][k] = (double)atomic_load(&bench->late_ns) / 1e6;
            }
    return 0;
}

static void tell_line(const struct bench *bench, unsigned i, unsigned j, unsigned k)
{
    const struct samples *spans = &bench->spans[i][j][k];
    printf("  %-16s %-10s %4u   %10.1f ms median, %10.1f ms at most of %zu, a sleeper %.1f ms late then\n",
           cases[i].name, shapes[j], bench->counts[k], samples_at(spans, 0.5), samples_at(spans, 1), spans->count,
           bench->late_ms[i][j][k]);
}

static void tell_json(const struct bench *bench, unsigned i, unsigned j, unsigned k)
{
    const struct samples *spans = &bench->spans[i][j][k];
    struct json json = line_begin("succession");
    json_text(&json, "case", cases[i].name);
    json_text(&json, "shape", shapes[j]);
    json_text(&json, "kind", kind);
    json_count(&json, "waiters", bench->counts[k]);
    json_count(&json, "lease_ms", lease_ms);
    json_count(&json, "settle_ms", settle_ms);
    json_count(&json, "rounds", rounds);
    json_number(&json, "median_ms", samples_at(spans, 0.5));
    json_number(&json, "least_ms", samples_at(spans, 0));
    json_number(&json, "most_ms", samples_at(spans, 1));
    json_number(&json, "late_ms", bench->late_ms[i][j][k]);
    line_end(&json);
}

static void tell_all(const struct bench *bench, void (*tell)(const struct bench *, unsigned, unsigned, unsigned))
{
    for (unsigned i = 0; i < CASES; i++)
        for (unsigned j = 0; j < SHAPES; j++)
            for (unsigned k = 0; k < bench->counts_count; k++)
                if (bench->spans[i][j][k].count)
                    tell(bench, i, j, k);
}

static int read_waiters(struct bench *bench)
{
    const char *text = waiters;
    for (;;) {
        char *end;
        unsigned long count = strtoul(text, &end, 10);
        if (end == text || *text == '-' || count >= CROWD_MAX || bench->counts_count == COUNTS_MAX ||
            (*end && *end != ',')) {
            fprintf(stderr, "hilock-bench: --waiters %s: must be numbers below %d with commas between\n", waiters,
                    CROWD_MAX);
            return -1;
        }
        bench->counts[bench->counts_count++] = (unsigned)count;
        if (!*end)
            return 0;
        text = end + 1;
    }
}

static bool is_known(const char *name, const char *option, bool is_found)
{
    if (!is_found)
        fprintf(stderr, "hilock-bench: --%s %s: see --help\n", option, name);
    return is_found;
}

static bool are_words_known(void)
{
    bool has_case = !only, has_shape = !shape;
    for (unsigned i = 0; i < CASES; i++)
        has_case = has_case || strcmp(cases[i].name, only) == 0;
    for (unsigned i = 0; i < SHAPES; i++)
        has_shape = has_shape || strcmp(shapes[i], shape) == 0;
    return is_known(only, "case", has_case) && is_known(shape, "shape", has_shape) &&
           is_known(kind, "kind", strcmp(kind, "fair") == 0 || strcmp(kind, "mutex") == 0);
}

static int set_up(struct bench *bench)
{
    atomic_store(&bench->is_over, true); /* the sleeper does not run yet */
    if (!are_words_known() || read_waiters(bench) != 0)
        return -1;
    if (stage_open(&bench->stage) != 0)
        return -1;
    bench->board = crowd_board(sizeof *bench->board);
    if (!bench->board)
        return -1;
    snprintf(bench->board->url, sizeof bench->board->url, "%s", bench->stage.server.url);
    bench->board->kind = strcmp(kind, "mutex") == 0 ? HILOCK_MUTEX : HILOCK_FAIR;
    bench->board->lease_ms = lease_ms;
    atomic_store(&bench->is_over, pthread_create(&bench->sleeper, NULL, sleep_again_and_again, bench) != 0);
    return atomic_load(&bench->is_over) ? -1 : 0;
}

static int run(void)
{
    static struct bench bench;
    int status = set_up(&bench);
    for (unsigned round = 0; round < rounds && status == 0; round++)
        status = play_round(&bench);
    if (status == 0) {
        printf("from a release, or the end of a lease of %u ms, to the living; %s, %u rounds\n", lease_ms, kind,
               rounds);
        tell_all(&bench, tell_line);
        if (options_has_json)
            tell_all(&bench, tell_json);
    }
    if (!atomic_exchange(&bench.is_over, true))
        pthread_join(bench.sleeper, NULL);
    for (unsigned i = 0; i < CASES * SHAPES * COUNTS_MAX; i++)
        samples_free(&bench.spans[i / SHAPES / COUNTS_MAX][i / COUNTS_MAX % SHAPES][i % COUNTS_MAX]);
    crowd_board_free(bench.board, sizeof *bench.board);
    stage_close(&bench.stage);
    return status;
}

const struct scenario scenario_succession = {
    "succession", "until a living waiter has a lock whose holder and waiters were killed or stopped", options, run};
