/* SPDX-License-Identifier: BSD-3-Clause */
/* held.c - bytes per held, watched lock.
 *
 * The client is connected and has locked once before, so it has the memory that it needs only once. Then `count`
 * handles are made and acquired, a few at a time, until all are held (with names of 16 bytes, and renewal on, so
 * each has a timer). The loop turns until nothing is under way, and once more. The growth of allocated memory in the
 * whole process is divided by the number of handles. So the figure includes tables and the timer heap of libevent,
 * but not the buffers of requests that are over, and not the bench's own array, which was made before. */
#include "held.h"

#include "memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define REST_S 0.1

enum { AT_A_TIME = 64, NAME_SIZE = 17 };

struct hoard {
    struct loop loop;
    hilock_client *client;
    hilock_lock **locks;
    unsigned count, begun, held;
    bool has_failed;
};

static void on_held(const struct hilock_result *result, void *user);

static void fail(struct hoard *hoard, const char *why)
{
    fprintf(stderr, "held locks: %s\n", why);
    hoard->has_failed = true;
    hoard->loop.kind->stop(hoard->loop.native);
}

static void begin_next(struct hoard *hoard)
{
    char name[NAME_SIZE];
    hilock_lock **lock = &hoard->locks[hoard->begun];
    snprintf(name, sizeof name, "held:%011u", hoard->begun);
    hoard->begun++;
    if (hilock_lock_create(lock, hoard->client, name, HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)) !=
            HILOCK_OK ||
        hilock_acquire(*lock, HILOCK_FOREVER, on_held, hoard) != HILOCK_OK)
        fail(hoard, hilock_client_refusal(hoard->client));
}

static void on_held(const struct hilock_result *result, void *user)
{
    struct hoard *hoard = user;
    if (result->status != HILOCK_OK) {
        fail(hoard, result->detail);
        return;
    }
    hoard->held++;
    if (hoard->begun < hoard->count)
        begin_next(hoard);
    else if (hoard->held == hoard->count)
        hoard->loop.kind->stop(hoard->loop.native);
}

static int acquire_all(struct hoard *hoard)
{
    while (hoard->begun < hoard->count && hoard->begun < AT_A_TIME && !hoard->has_failed)
        begin_next(hoard);
    while (hoard->held < hoard->count && !hoard->has_failed)
        hoard->loop.kind->run(hoard->loop.native, 0);
    return hoard->has_failed ? -1 : 0;
}

static void rest(struct loop loop) { loop.kind->run(loop.native, REST_S); }

/* Releases all locks, and waits until the store has confirmed that. */
static void release_all(struct hoard *hoard)
{
    struct hilock_stats stats = {.size = sizeof stats};
    for (unsigned i = 0; i < hoard->begun; i++)
        hilock_lock_free(hoard->locks[i]);
    do {
        rest(hoard->loop);
        hilock_client_stats(hoard->client, &stats);
    } while (stats.inflight > 0 && !hoard->has_failed);
}

int held_measure(struct loop loop, hilock_client *client, unsigned count, struct held_cost *ret_cost)
{
    struct hoard hoard = {
        .loop = loop, .client = client, .count = count, .locks = calloc(count, sizeof(hilock_lock *))};
    struct memory before, after;
    int status;
    if (!hoard.locks)
        return -1;
    rest(loop);
    before = memory_now();
    status = acquire_all(&hoard);
    rest(loop);
    after = memory_now();
    release_all(&hoard);
    free(hoard.locks);
    ret_cost->bytes = (double)(after.requested - before.requested) / count;
    ret_cost->bytes_with_malloc = (double)(after.with_malloc - before.with_malloc) / count;
    return status;
}
