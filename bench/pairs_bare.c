/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs_bare.c - the yardstick: the same commands, by a bare hiredis loop.
 *
 * This is the cost for a program without a lock client. It calls redisAsyncCommandArgv() over hiredis' own libevent
 * adapter, with the very argv of hilock's acquire and release: hilock's own functions build them, with a fresh
 * holder each time. It checks the type of the reply and does nothing else: it has no deadline, timer, renewal or
 * retry. Lanes are the same as in pairs_ours.c. */
#include "pairs.h"

#include "bare.h"
#include "base/command.h"
#include "masters.h"
#include "store.h"

#include <event2/event.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct lane {
    struct pairs_bare *bare;
    unsigned master; /* the index of the master that has this lane's name */
    char name[PAIRS_NAME_SIZE];
    struct hl_target words;
};

struct pairs_bare {
    struct event_base *base;
    const struct hl_kind *kind;
    struct event *end;
    struct masters *masters;
    redisAsyncContext *stores[MASTERS_MAX];
    struct lane *lanes;
    unsigned inflight, busy;
    uint64_t pairs, holders;
    struct hl_acquire_params params;
    struct hl_release_params end_params;
    struct hl_command command;
    bool is_ending, has_failed;
};

static void on_acquired(redisAsyncContext *store, void *answer, void *user);

static void retire(struct pairs_bare *bare, const char *why)
{
    if (why && !bare->has_failed)
        fprintf(stderr, "bare loop: %s\n", why);
    bare->has_failed = bare->has_failed || why;
    if (--bare->busy == 0)
        event_base_loopbreak(bare->base);
}

static void send_command(struct lane *lane, redisCallbackFn *on_answer)
{
    struct pairs_bare *bare = lane->bare;
    struct hl_command *command = &bare->command;
    redisAsyncContext *store = bare->stores[lane->master];
    if (!store ||
        redisAsyncCommandArgv(store, on_answer, lane, command->argc, command->argv, command->lengths) != REDIS_OK)
        retire(bare, "cannot send");
}

static void acquire(struct lane *lane)
{
    lane->words.id = ++lane->bare->holders;
    lane->bare->kind->acquire(&lane->bare->command, &lane->words, &lane->bare->params);
    send_command(lane, on_acquired);
}

/* is_shared: it is the answer to a release that left others behind, which is below 0. */
static const char *fault_of(const redisReply *reply, bool is_shared)
{
    if (!reply)
        return "connection lost";
    if (reply->type == REDIS_REPLY_ERROR)
        return reply->str;
    if (reply->type == REDIS_REPLY_INTEGER && (is_shared ? reply->integer < 0 : reply->integer > 0))
        return NULL;
    return "unexpected reply";
}

static void on_released(redisAsyncContext *store, void *answer, void *user)
{
    struct lane *lane = user;
    const char *fault = fault_of(answer, lane->bare->kind == &hl_queued_mutex_share);
    (void)store;
    if (!fault)
        lane->bare->pairs++;
    if (fault || lane->bare->is_ending)
        retire(lane->bare, fault);
    else
        acquire(lane);
}

static void on_acquired(redisAsyncContext *store, void *answer, void *user)
{
    struct lane *lane = user;
    const char *fault = fault_of(answer, false);
    (void)store;
    if (fault) {
        retire(lane->bare, fault);
        return;
    }
    lane->bare->kind->release(&lane->bare->command, &lane->words, &lane->bare->end_params);
    send_command(lane, on_released);
}

static void on_end(evutil_socket_t fd, short what, void *user)
{
    struct pairs_bare *bare = user;
    (void)fd, (void)what;
    bare->is_ending = true;
}

static void on_disconnected(const redisAsyncContext *store, int status)
{
    (void)status;
    *(redisAsyncContext **)store->data = NULL; /* hiredis frees the context when this returns */
}

static void prepare_lanes(struct pairs_bare *bare, const char *shared)
{
    for (unsigned i = 0; i < bare->inflight; i++) {
        struct lane *lane = &bare->lanes[i];
        lane->bare = bare;
        if (shared)
            snprintf(lane->name, sizeof lane->name, "%s", shared);
        else
            snprintf(lane->name, sizeof lane->name, "bare:%011u", i);
        lane->master = masters_of(bare->masters, lane->name, strlen(lane->name));
        lane->words = (struct hl_target){.name = lane->name, .name_length = strlen(lane->name), .uuid = bare_uuid,
                                         .label = bare_label};
    }
}

/* In a cluster the messages of a lock use sharded channels of its slot. Nobody listens to them here. */
static int connect_all(struct pairs_bare *bare, char *error)
{
    bare->end_params = bare_release_params(masters_count(bare->masters) > 1);
    for (unsigned i = 0; i < masters_count(bare->masters); i++) {
        const char *url = masters_url(bare->masters, i);
        if (bare_load_scripts(url) != 0 || !(bare->stores[i] = store_connect_async(url, bare->base, error)))
            return -1;
        bare->stores[i]->data = &bare->stores[i];
        redisAsyncSetDisconnectCallback(bare->stores[i], on_disconnected);
    }
    return 0;
}

struct pairs_bare *pairs_bare_open(struct event_base *base, const char *url, unsigned inflight, const char *shared)
{
    struct pairs_bare *bare = calloc(1, sizeof *bare);
    char error[STORE_ERROR_SIZE] = "out of memory";
    if (!bare)
        return NULL;
    bare->base = base;
    bare->inflight = inflight;
    bare->kind = shared ? &hl_queued_mutex_share : &hl_queued_mutex;
    bare->lanes = calloc(inflight, sizeof *bare->lanes);
    bare->end = evtimer_new(base, on_end, bare);
    bare->masters = masters_open(url, error);
    if (bare->lanes && bare->end && bare->masters && connect_all(bare, error) == 0) {
        prepare_lanes(bare, shared);
        return bare;
    }
    fprintf(stderr, "bare loop: %s\n", error);
    pairs_bare_close(bare);
    return NULL;
}

uint64_t pairs_bare_run(struct pairs_bare *bare, double seconds)
{
    const struct timeval span = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)};
    bare->pairs = 0;
    bare->is_ending = false;
    bare->busy = bare->inflight;
    bare->params = bare_acquire_params(PAIRS_LEASE_MS, seconds);
    if (bare->kind == &hl_queued_mutex_share)
        bare_share(&bare->params);
    evtimer_add(bare->end, &span);
    for (unsigned i = 0; i < bare->inflight; i++)
        acquire(&bare->lanes[i]);
    while (bare->busy > 0)
        event_base_dispatch(bare->base);
    evtimer_del(bare->end);
    return bare->has_failed ? 0 : bare->pairs;
}

void pairs_bare_close(struct pairs_bare *bare)
{
    if (!bare)
        return;
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        if (bare->stores[i])
            redisAsyncFree(bare->stores[i]);
    masters_close(bare->masters);
    if (bare->end)
        event_free(bare->end);
    free(bare->lanes);
    free(bare);
}
