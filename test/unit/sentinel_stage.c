/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinel_stage - see sentinel_stage.h. */
#include "sentinel_stage.h"

#include <stdio.h>
#include <string.h>

void stage_set(struct stage *stage, struct fixture *fixture)
{
    char where[32];
    *stage = (struct stage){.fixture = fixture};
    stage->other = fixture_server(fixture, STAGE_OTHER ":6379");
    sim_store_set_replica(stage->other->core, 1);
    for (int i = 0; i < STAGE_SENTINELS; i++) {
        snprintf(where, sizeof where, "10.0.0.1%d:26379", i + 1);
        stage->sentinels[i] = fixture_server(fixture, where);
        store_knows(stage->sentinels[i], "127.0.0.1", 6379, 1);
        stage->places[i] = &fixture->net.places[fixture->net.places_count - 1];
    }
}

struct client *stage_connect(struct stage *stage)
{
    struct client *client = fixture_connect(stage->fixture, HILOCK_CLIENT_OPTIONS(.url = STAGE_URL));
    run_ms(stage->fixture, 10); /* subscribed */
    return client;
}

struct client *stage_begin(struct stage *stage, struct fixture *fixture)
{
    stage_set(stage, fixture);
    return stage_connect(stage);
}

void stage_fail_over(struct stage *stage, unsigned sentinels, int is_told, int is_demoted)
{
    sim_store_set_replica(stage->other->core, 0);
    sim_store_set_replica(stage->fixture->store.core, is_demoted);
    for (unsigned i = 0; i < sentinels; i++) {
        if (is_told)
            store_switch(stage->sentinels[i], STAGE_OTHER, 6379, 2);
        else
            store_knows(stage->sentinels[i], STAGE_OTHER, 6379, 2);
    }
}

int stage_is_at(struct store *store, const struct handle *handle)
{
    return strncmp(store_holder(store, hilock_lock_name(handle->lock)), handle->client->uuid, 36) == 0;
}
