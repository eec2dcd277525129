/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs_ours.c - acquire and release of many names, by hilock.
 *
 * A lane is a lock handle, which has a name of its own or shares one with all others. It acquires and releases, and
 * begins again when the release is answered. As many commands are under way as there are lanes, so a turn of the loop
 * handles many replies, and not one. */
#include "pairs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct lane {
    struct pairs_ours *ours;
    hilock_lock *lock;
};

struct pairs_ours {
    struct loop loop;
    hilock_client *client;
    struct lane *lanes;
    unsigned inflight, busy; /* inflight: how many lanes there are; busy: how many of them are at work */
    uint64_t pairs;
    bool is_ending, is_hoard, has_failed; /* is_hoard: what is acquired is kept */
};

static void on_acquired(const struct hilock_result *result, void *user);

static void retire(struct pairs_ours *ours, const char *why)
{
    if (why && !ours->has_failed)
        fprintf(stderr, "hilock: %s\n", why);
    ours->has_failed = ours->has_failed || why;
    if (--ours->busy == 0)
        ours->loop.kind->stop(ours->loop.native);
}

static void on_released(const struct hilock_result *result, void *user)
{
    struct lane *lane = user;
    struct pairs_ours *ours = lane->ours;
    if (result->status != HILOCK_OK) {
        retire(ours, result->detail);
        return;
    }
    ours->pairs++;
    if (ours->is_ending)
        retire(ours, NULL);
    else if (hilock_acquire(lane->lock, HILOCK_FOREVER, on_acquired, lane) != HILOCK_OK)
        retire(ours, hilock_client_refusal(ours->client));
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct lane *lane = user;
    if (result->status != HILOCK_OK)
        retire(lane->ours, result->detail);
    else if (lane->ours->is_hoard)
        retire(lane->ours, NULL);
    else if (hilock_release(lane->lock, on_released, lane) != HILOCK_OK)
        retire(lane->ours, hilock_client_refusal(lane->ours->client));
}

static int open_lanes(struct pairs_ours *ours, const char *shared)
{
    ours->lanes = calloc(ours->inflight, sizeof *ours->lanes);
    for (unsigned i = 0; ours->lanes && i < ours->inflight; i++) {
        char name[PAIRS_NAME_SIZE];
        snprintf(name, sizeof name, "ours:%011u", i);
        ours->lanes[i].ours = ours;
        if (hilock_lock_create(&ours->lanes[i].lock, ours->client, shared ? shared : name,
                               HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored,
                                                   .holders_max = shared ? HILOCK_ANY_NUMBER : 0)) != HILOCK_OK)
            return -1;
    }
    return ours->lanes ? 0 : -1;
}

struct pairs_ours *pairs_ours_open(struct loop loop, const char *url, unsigned inflight, const char *shared)
{
    struct pairs_ours *ours = calloc(1, sizeof *ours);
    struct hilock_error error = {"out of memory"};
    if (!ours)
        return NULL;
    ours->loop = loop;
    ours->inflight = inflight;
    if (loop.kind->open(&ours->client, loop.native, HILOCK_CLIENT_OPTIONS(.url = url, .lease_ms = PAIRS_LEASE_MS),
                        &error) == HILOCK_OK &&
        open_lanes(ours, shared) == 0)
        return ours;
    fprintf(stderr, "hilock: %s\n", ours->client ? hilock_client_refusal(ours->client) : error.text);
    pairs_ours_close(ours);
    return NULL;
}

uint64_t pairs_ours_run(struct pairs_ours *ours, double seconds)
{
    ours->pairs = 0;
    ours->is_ending = false;
    ours->busy = ours->inflight;
    for (unsigned i = 0; i < ours->inflight; i++)
        if (hilock_acquire(ours->lanes[i].lock, HILOCK_FOREVER, on_acquired, &ours->lanes[i]) != HILOCK_OK)
            retire(ours, hilock_client_refusal(ours->client));
    if (ours->busy > 0)
        ours->loop.kind->run(ours->loop.native, seconds);
    ours->is_ending = true;
    while (ours->busy > 0)
        ours->loop.kind->run(ours->loop.native, 0);
    return ours->has_failed ? 0 : ours->pairs;
}

int pairs_ours_hold(struct pairs_ours *ours)
{
    ours->is_hoard = true;
    pairs_ours_run(ours, 0);
    return ours->has_failed ? -1 : 0;
}

static void on_closed(void *user)
{
    const struct pairs_ours *ours = user;
    ours->loop.kind->stop(ours->loop.native);
}

void pairs_ours_close(struct pairs_ours *ours)
{
    if (!ours)
        return;
    for (unsigned i = 0; ours->lanes && i < ours->inflight; i++)
        hilock_lock_free(ours->lanes[i].lock);
    if (ours->client && hilock_client_close(ours->client, 1000, on_closed, ours) == HILOCK_OK)
        ours->loop.kind->run(ours->loop.native, 0);
    free(ours->lanes);
    free(ours);
}
