/* SPDX-License-Identifier: BSD-3-Clause */
/* played - see played.h. */
#include "played.h"

int played_tells(struct fixture *fixture, uint64_t span_ms, const char *story, const char *file, int line)
{
    run_ms(fixture, span_ms);
    return fixture_tells(fixture, story, file, line);
}

struct handle *acquiring(struct handle *handle, uint32_t wait_ms)
{
    SAME(handle->fixture, acquire(handle, wait_ms), HILOCK_OK);
    return handle;
}

struct handle *lone(struct fixture *fixture) { return handle_new(fixture_connect(fixture, NULL), "a", "stock", NULL); }

int is_held(const struct handle *handle) { return hilock_lock_state(handle->lock) == HILOCK_STATE_HELD; }

struct hilock_stats stats_of(const struct client *client)
{
    struct hilock_stats stats = {.size = sizeof stats};
    hilock_client_stats(client->client, &stats);
    return stats;
}

void server_goes(struct fixture *fixture)
{
    fixture->place->mood = NET_REFUSES;
    net_reset(&fixture->net, NULL, NET_ALL);
}

void server_is_back(struct fixture *fixture) { fixture->place->mood = NET_LISTENS; }
