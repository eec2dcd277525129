/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that runs out, at a real server: each play is played once for every allocation in it that may fail, those of
 * hiredis, libevent and libc included. Every refusal says so, every answer comes, nothing crashes, hangs or leaks, and
 * nothing is left at the server beyond its lease. Plays in which only hilock allocates: unit/torture, the simulator's strain `memory`.
 *
 * A play says what must come of each call. That holds to the letter while memory lasts; where it did not, a call may be
 * refused instead (NO_MEMORY), and what has an end of its own may end without an answer (UNREACHABLE, UNKNOWN). A wait
 * for ever still gets its answer, because one failure is healed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../wanted.h"
#include "famine.h"
#include "support/fixture.h"

struct play {
    struct fixture *fixture;
    const char *url;
    struct client client;
    struct handle **handles; /* made by handle_new; freed by the end at the latest */
    unsigned handles_count;
    long blocks;             /* of the client's allocator, not given back */
    int is_abandoned;        /* holds were left to run out */
};

struct torture {
    const char *name;
    void (*play)(struct play *play);
    const char *user;        /* of the URL, "name:password@"; NULL: none */
    int is_by_name;          /* localhost, to be resolved; else the unix socket */
};

/* A lost acquire keeps its client from leaving for as long as a command may take. */
enum { HANDLES_MAX = 256, LEASE_MS = 60000, QUEUE_MS = 90000, COMMAND_MS = 80 };

static struct fixture fixture; /* of all plays */
static struct { const char *name; uint64_t at; } now; /* for readers of a failure */

/* The calls of a play. have: asked for, for ever, and granted. give: released, and answered so. has: it holds now.
 * answered: turns until it is, and it is that. */

static void is_refused_well(const struct play *play, hilock_status status)
{
    if (status != HILOCK_NO_MEMORY || !famine_has_struck())
        check_fail("refused: %s, %s", hilock_status_name(status), hilock_client_refusal(play->client.hilock));
    CHECK(strstr(hilock_client_refusal(play->client.hilock), "memory"));
}

/* A machine that stands still for so long is as good as a server that is silent. */
static void is_well(const struct told *what, hilock_status status, int may_be_silent)
{
    int was_silent = famine_has_struck() || what->waited_ms >= COMMAND_MS;
    if (what->status == status)
        return;
    if (status == HILOCK_TIMED_OUT && what->status == HILOCK_UNREACHABLE)
        return; /* waits are so short that on a busy machine they may end before any answer */
    if (may_be_silent && was_silent && (what->status == HILOCK_UNREACHABLE || what->status == HILOCK_UNKNOWN))
        return;
    if (may_be_silent && was_silent && what->status == HILOCK_OK && status == HILOCK_LOST)
        return; /* a release that was repeated cannot know */
    check_fail("%s instead of %s: %s", hilock_status_name(what->status), hilock_status_name(status), what->detail);
}

/* Until that event came, if it waits or holds. */
struct wanted { const struct handle *handle; const struct told *what; };

static int is_told_or_idle(void *arg)
{
    const struct wanted *wanted = arg;
    return wanted->what->count || hilock_lock_state(wanted->handle->lock) == HILOCK_STATE_IDLE;
}

static void told(struct play *play, struct handle *handle, const struct told *what, const char *name)
{
    client_until(&play->client, is_told_or_idle, &(struct wanted){handle, what}, name);
    CHECK(what->count || famine_has_struck());
}

/* ---- handles ---- */

static struct handle *handle_new(struct play *play, const char *name, const struct hilock_lock_options *options)
{
    struct handle *handle;
    hilock_status status;
    famine_pause();
    CHECK(play->handles_count < HANDLES_MAX);
    handle = play->handles[play->handles_count++] = calloc(1, sizeof *handle);
    CHECK(handle != NULL);
    famine_resume();
    status = handle_try_open(handle, &play->client, name, options);
    if (status != HILOCK_OK)
        is_refused_well(play, status);
    CHECK((status == HILOCK_OK) == (handle->lock != NULL));
    return handle;
}

static int has(const struct handle *handle) { return hilock_lock_state(handle->lock) == HILOCK_STATE_HELD; }

static void ask(struct play *play, struct handle *handle, uint32_t wait_ms)
{
    hilock_status status;
    if (!handle->lock || has(handle))
        return;
    status = handle_try_ask(handle, wait_ms);
    if (status != HILOCK_OK)
        is_refused_well(play, status);
    CHECK(hilock_lock_state(handle->lock) == (status == HILOCK_OK ? HILOCK_STATE_WAITING : HILOCK_STATE_IDLE));
}

static void answered(struct handle *handle, hilock_status status)
{
    if (hilock_lock_state(handle->lock) != HILOCK_STATE_WAITING)
        return;
    handle_until(handle, &handle->acquired, handle->acquired.count + 1, "the answer to acquire");
    is_well(&handle->acquired, status, status != HILOCK_OK);
}

static void have(struct play *play, struct handle *handle)
{
    ask(play, handle, HILOCK_FOREVER);
    answered(handle, HILOCK_OK);
}

/* With any memory. */
static void give(struct handle *handle)
{
    if (!has(handle))
        return;
    (void)handle_give(handle);
    is_well(&handle->released, HILOCK_OK, 1);
}

/* ---- the store ---- */

static void at_store(struct play *play, const char *command, ...)
{
    va_list list;
    redisReply *reply;
    famine_pause();
    va_start(list, command);
    reply = redisvCommand(play->fixture->redis->context, command, list);
    va_end(list);
    CHECK(reply && reply->type != REDIS_REPLY_ERROR);
    freeReplyObject(reply);
    famine_resume();
}

static void foreign_holds(struct play *play, const char *name)
{
    at_store(play, "HSET %s another:1 1", name);
    at_store(play, "PEXPIRE %s %d", name, LEASE_MS);
}

static void foreign_leaves(struct play *play, const char *name)
{
    at_store(play, "DEL %s", name);
    at_store(play, "PUBLISH redisson_lock__channel:{%s} 0", name);
}

static void cut_all(struct play *play) { at_store(play, "CLIENT KILL SKIPME yes USER %s", strstr(play->url, "torture") ? "torture" : "default"); }

/* ---- one play ---- */

static void *count_new(size_t bytes, void *blocks)
{
    void *memory = malloc(bytes);
    *(long *)blocks += memory != NULL;
    return memory;
}

static void *count_more(void *memory, size_t bytes, void *blocks)
{
    void *more = realloc(memory, bytes);
    *(long *)blocks += !memory && more;
    return more;
}

static void count_free(void *memory, void *blocks)
{
    *(long *)blocks -= memory != NULL;
    free(memory);
}

static int open_client(struct play *play)
{
    const struct hilock_allocator counting = {count_new, count_more, count_free, &play->blocks};
    struct hilock_error error = {"?"};
    hilock_status status = client_try(&play->client, HILOCK_CLIENT_OPTIONS(.url = play->url, .allocator = &counting, .retry_max_ms = 2, .command_timeout_ms = COMMAND_MS), &error);
    if (status == HILOCK_OK)
        return 1;
    CHECK(status == HILOCK_NO_MEMORY && famine_has_struck() && strstr(error.text, "memory"));
    CHECK(!play->client.hilock);
    return 0;
}

static int nobody_is_there(void *redis) { return redis_clients(redis) == 0; }

/* A hold whose release could not be sent is left to its lease; nothing lasts longer. */
static void check_store(const struct play *play)
{
    static const char longest[] = "local n = 0 for _, k in ipairs(redis.call('KEYS', '*')) do if string.sub(k, 1, 12) ~= 'hilock:token' then "
                                  "local t = redis.call('PTTL', k) if t < 0 then return -1 end if t > n then n = t end end end return n";
    struct redis *redis = play->fixture->redis;
    long long left_ms;
    check_until(nobody_is_there, redis, "the clients' connections to end");
    left_ms = redis_integer(redis, "EVAL %s 0", longest);
    CHECK(left_ms >= 0 && left_ms <= (play->is_abandoned ? QUEUE_MS : LEASE_MS));
    CHECK(left_ms == 0 || famine_has_struck() || play->is_abandoned);
    redis_do(redis, "FLUSHALL");
}

static void end(struct play *play)
{
    if (play->is_abandoned)
        hilock_client_abandon(play->client.hilock), play->client.hilock = NULL;
    client_close(&play->client);
    for (unsigned i = 0; i < play->handles_count; i++)
        handle_free(play->handles[i]);
    famine_end();
    for (unsigned i = 0; i < play->handles_count; i++)
        free(play->handles[i]);
    free(play->handles);
    if (play->blocks)
        check_fail("%ld blocks of memory were not given back", play->blocks);
    check_store(play);
}

/* 1: the chosen allocation was there to fail. */
static int play_once(const struct torture *torture, uint64_t at)
{
    struct play play = {.fixture = &fixture};
    char url[160];
    if (torture->is_by_name)
        snprintf(url, sizeof url, "redis://%slocalhost:%d", torture->user ? torture->user : "", fixture.server->port);
    else
        snprintf(url, sizeof url, "unix://%s%s", torture->user ? torture->user : "", fixture.server->socket);
    now.name = torture->name;
    now.at = at;
    play.url = url;
    play.handles = calloc(HANDLES_MAX, sizeof(struct handle *));
    CHECK(play.handles != NULL);
    client_prepare(&play.client);
    famine_begin(at);
    if (open_client(&play))
        torture->play(&play);
    end(&play);
    return famine_has_struck();
}

static void show(void)
{
    famine_end();
    if (!now.name)
        return;
    fprintf(stderr, "in \"%s\", when allocation %llu failed:\n", now.name, (unsigned long long)now.at);
    famine_show();
}

static void torture_run(void **state)
{
    const struct torture *torture = *state;
    const char *only = getenv("TORTURE_AT");
    uint64_t at = only ? strtoull(only, NULL, 10) : wanted_first();
    if (now.name)
        check_fail("an earlier play failed, and left its client behind");
    CHECK(!play_once(torture, 0) && famine_asked() > 0); /* nobody stands between the libraries and famine.c */
    while (play_once(torture, at) && !only)
        at += wanted_stride();
    now.name = NULL;
}

/* ---- plays ---- */

static void pair(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL);
    have(p, a);
    give(a);
}

static void wait_and_wake(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL);
    foreign_holds(p, "stock");
    ask(p, a, HILOCK_FOREVER);
    told(p, a, &a->waiting, "WAITING");
    foreign_leaves(p, "stock");
    answered(a, HILOCK_OK);
    give(a);
}

/* The links end under a hold and a wait; the hold is asked for again and stays, the wait listens again. */
static void reconnect(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL), *b = handle_new(p, "other", NULL);
    have(p, a);
    foreign_holds(p, "other");
    ask(p, b, HILOCK_FOREVER);
    told(p, b, &b->waiting, "WAITING");
    cut_all(p);
    foreign_leaves(p, "other");
    answered(b, HILOCK_OK);
    CHECK(a->lost.count == 0);
    give(a);
    give(b);
}

/* With what holds and what waits still there. */
static void leave(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL), *b = handle_new(p, "stock", NULL), *c = handle_new(p, "other", NULL);
    have(p, a);
    foreign_holds(p, "other");
    ask(p, b, HILOCK_FOREVER);
    ask(p, c, HILOCK_FOREVER);
    told(p, c, &c->waiting, "WAITING");
    foreign_leaves(p, "other");
}

static void abandon(struct play *p)
{
    leave(p);
    p->is_abandoned = 1;
}

static void before_the_connection(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL), *b = handle_new(p, "stock", NULL);
    ask(p, a, HILOCK_FOREVER);
    ask(p, b, HILOCK_TRY);
    handle_free(b);
    handle_free(a);
}

/* Waited for by polling, and given back over a new link. */
static void simple(struct play *p)
{
    struct handle *a = handle_new(p, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 20000, .kind = HILOCK_SIMPLE, .poll_min_ms = 1, .poll_jitter_ms = 1));
    at_store(p, "SET stock another PX 20000");
    ask(p, a, HILOCK_FOREVER);
    told(p, a, &a->waiting, "WAITING");
    at_store(p, "DEL stock");
    answered(a, HILOCK_OK);
    cut_all(p);
    give(a);
}

#define PLAY(text, ...) {.name = (text), .play = __VA_ARGS__}
static const struct torture tortures[] = {
    PLAY("pair, by name, logged in", pair, .user = "torture:secret@", .is_by_name = 1),
    PLAY("wait and wake", wait_and_wake),
    PLAY("reconnect", reconnect),
    PLAY("leave", leave),
    PLAY("abandon", abandon),
    PLAY("SIMPLE", simple),
    PLAY("before the connection", before_the_connection),
};

static int start_server(void **state)
{
    (void)state;
    fixture.server = server_start_with_port(NULL);
    fixture.redis = redis_open(fixture.server);
    redis_do(fixture.redis, "ACL SETUSER torture on >secret ~* &* +@all");
    atexit(show);
    return 0;
}

static int end_server(void **state)
{
    (void)state;
    redis_close(fixture.redis);
    server_end(fixture.server);
    return 0;
}

int main(void)
{
    struct CMUnitTest tests[sizeof tortures / sizeof *tortures];
    const char *only = getenv("TORTURE");
    size_t count = 0;
    for (size_t i = 0; i < sizeof tortures / sizeof *tortures; i++)
        if (!only || strcmp(only, tortures[i].name) == 0)
            tests[count++] = (struct CMUnitTest){tortures[i].name, torture_run, NULL, NULL, (void *)(uintptr_t)&tortures[i]};
    return _cmocka_run_group_tests("torture", tests, count, start_server, end_server);
}
