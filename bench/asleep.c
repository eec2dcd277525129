/* SPDX-License-Identifier: BSD-3-Clause */
/* asleep.c - scenario asleep: how many requests a client sends that only waits, for very many names at once.
 *
 * Another program holds the names for longer than the run. Once each wait has a place in its queue, the server's count
 * of scripts is read every 100 ms. The mean is the cost of idle waiting; if the largest step is far above it, the
 * waiters send their requests at the same time. */
#include "crowd.h"
#include "line.h"
#include "samples.h"
#include "scenario.h"
#include "stage.h"

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEASE_MS = 3600000, STEP_MS = 100 };

static unsigned names = 10000, settle_ms = 40000;
static double seconds = 30;

static const struct option_entry options[] = {
    {"names", OPTION_COUNT, &names, "each waited for by one handle", 1, 1000000},
    {"settle-ms", OPTION_COUNT, &settle_ms, "from the last of the first answers to the first count", 0, 600000},
    {"seconds", OPTION_SECONDS, &seconds, "that are counted", 0, 0},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

struct bench {
    struct stage stage;
    struct event_base *base;
    struct event *tick;
    hilock_client *client;
    hilock_lock **locks;
    struct samples steps; /* scripts in each step, scaled to exactly 100 ms */
    uint64_t begun_ns, step_ns, begun_count, step_count;
    double ended_s;
    bool is_counting, has_failed;
};

static void name_of(char *ret_name, size_t size, unsigned i)
{
    snprintf(ret_name, size, "bench:asleep:%d:%u", (int)getpid(), i);
}

static int take_names(struct bench *bench)
{
    char name[64];
    for (unsigned i = 0; i < names; i++) {
        name_of(name, sizeof name, i);
        redisAppendCommand(bench->stage.store, "HSET %s somebody:1 1", name);
        redisAppendCommand(bench->stage.store, "PEXPIRE %s %d", name, LEASE_MS);
    }
    for (unsigned i = 0; i < 2 * names; i++) {
        redisReply *reply;
        if (redisGetReply(bench->stage.store, (void **)&reply) != REDIS_OK) {
            fprintf(stderr, "hilock-bench: %s\n", bench->stage.store->errstr);
            return -1;
        }
        freeReplyObject(reply);
    }
    return 0;
}

static void fail(struct bench *bench, const char *why)
{
    fprintf(stderr, "hilock-bench: %s\n", why);
    bench->has_failed = true;
    event_base_loopbreak(bench->base);
}

static void on_result(const struct hilock_result *result, void *user)
{
    if (result->status != HILOCK_CLOSED)
        fail(user, result->detail);
}

static int begin_waits(struct bench *bench)
{
    char name[64];
    for (unsigned i = 0; i < names; i++) {
        name_of(name, sizeof name, i);
        if (hilock_lock_create(&bench->locks[i], bench->client, name,
                               HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .on_lost = hilock_lost_ignored)) != HILOCK_OK ||
            hilock_acquire(bench->locks[i], HILOCK_FOREVER, on_result, bench) != HILOCK_OK) {
            fprintf(stderr, "hilock-bench: %s\n", hilock_client_refusal(bench->client));
            return -1;
        }
    }
    return 0;
}

static bool is_at_rest(struct bench *bench)
{
    struct hilock_stats stats = {.size = sizeof stats};
    hilock_client_stats(bench->client, &stats);
    return stats.nodes_up && stats.inflight == 0;
}

static void count(struct bench *bench, uint64_t now_ns)
{
    uint64_t scripts;
    if (commands_count_of(bench->stage.commands, "evalsha", &scripts) != 0 ||
        samples_add(&bench->steps, (double)(scripts - bench->step_count) * STEP_MS * 1e6 /
                                       (double)(now_ns - bench->step_ns)) != 0) {
        fail(bench, "cannot count");
        return;
    }
    bench->step_count = scripts;
    bench->step_ns = now_ns;
    bench->ended_s = (double)(now_ns - bench->begun_ns) / 1e9;
    if (bench->ended_s >= seconds)
        event_base_loopbreak(bench->base);
}

/* begun_ns: when the first rest began, until the counting begins */
static void on_tick(evutil_socket_t fd, short what, void *user)
{
    struct bench *bench = user;
    uint64_t now_ns = crowd_now_ns();
    (void)fd, (void)what;
    if (bench->is_counting) {
        count(bench, now_ns);
    } else if (bench->begun_ns == 0) {
        bench->begun_ns = is_at_rest(bench) ? now_ns : 0;
    } else if (now_ns - bench->begun_ns >= (uint64_t)settle_ms * 1000000) {
        bench->is_counting = true;
        bench->begun_ns = bench->step_ns = now_ns;
        if (commands_count_of(bench->stage.commands, "evalsha", &bench->begun_count) != 0)
            fail(bench, "cannot count");
        bench->step_count = bench->begun_count;
    }
}

static int play(struct bench *bench)
{
    const struct timeval step = {0, STEP_MS * 1000};
    if (take_names(bench) != 0 || begin_waits(bench) != 0 || evtimer_add(bench->tick, &step) != 0)
        return -1;
    event_base_dispatch(bench->base);
    samples_sort(&bench->steps);
    return bench->has_failed ? -1 : 0;
}

static void tell(const struct bench *bench)
{
    double mean = (double)(bench->step_count - bench->begun_count) / bench->ended_s;
    double most = samples_at(&bench->steps, 1);
    printf("%u names, a handle waits for each: %.1f scripts /s; in 100 ms %.1f in the mean, %.1f at most (%.2f x)\n",
           names, mean, mean * STEP_MS / 1000, most, most / (mean * STEP_MS / 1000));
    if (!options_has_json)
        return;
    struct json json = line_begin("asleep");
    json_count(&json, "names", names);
    json_number(&json, "seconds", seconds);
    json_number(&json, "scripts_per_s", mean);
    json_number(&json, "most_in_step", most);
    json_number(&json, "most_over_mean", most / (mean * STEP_MS / 1000));
    line_end(&json);
}

static int set_up(struct bench *bench)
{
    struct hilock_error error;
    if (stage_open(&bench->stage) != 0)
        return -1;
    bench->base = event_base_new();
    bench->tick = bench->base ? event_new(bench->base, -1, EV_PERSIST, on_tick, bench) : NULL;
    bench->locks = calloc(names, sizeof *bench->locks);
    if (!bench->tick || !bench->locks) {
        fprintf(stderr, "hilock-bench: out of memory\n");
        return -1;
    }
    if (hilock_client_open_libevent(&bench->client, bench->base,
                                    HILOCK_CLIENT_OPTIONS(.url = bench->stage.server.url, .waiters_max = names + 1),
                                    &error) == HILOCK_OK)
        return 0;
    fprintf(stderr, "hilock: %s\n", error.text);
    return -1;
}

static void tear_down(struct bench *bench)
{
    hilock_client_abandon(bench->client);
    for (unsigned i = 0; bench->locks && i < names; i++)
        hilock_lock_free(bench->locks[i]);
    free(bench->locks);
    if (bench->tick)
        event_free(bench->tick);
    if (bench->base)
        event_base_free(bench->base);
    stage_close(&bench->stage);
    samples_free(&bench->steps);
}

static int run(void)
{
    static struct bench bench;
    int status = set_up(&bench);
    if (status == 0)
        status = play(&bench);
    if (status == 0)
        tell(&bench);
    tear_down(&bench);
    return status;
}

const struct scenario scenario_asleep = {"asleep", "one client that waits for very many names: what it asks meanwhile",
                                         options, run};
