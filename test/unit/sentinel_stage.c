/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinel_stage - see sentinel_stage.h. */
#include "sentinel_stage.h"

#include <stdio.h>
#include <string.h>

void stage_set(struct stage *stage, struct scene *scene)
{
    char where[32];
    *stage = (struct stage){.scene = scene};
    stage->other = scene_server(scene, STAGE_OTHER ":6379");
    sim_store_set_replica(stage->other->core, 1);
    for (int i = 0; i < STAGE_SENTINELS; i++) {
        snprintf(where, sizeof where, "10.0.0.1%d:26379", i + 1);
        stage->sentinels[i] = scene_server(scene, where);
        store_knows(stage->sentinels[i], "127.0.0.1", 6379, 1);
        stage->places[i] = &scene->net.places[scene->net.places_count - 1];
    }
}

struct party *stage_connect(struct stage *stage)
{
    struct party *party = scene_connect(stage->scene, HILOCK_CLIENT_OPTIONS(.url = STAGE_URL));
    run_ms(stage->scene, 10); /* subscribed */
    return party;
}

void stage_fail_over(struct stage *stage, unsigned sentinels, int is_told, int is_demoted)
{
    sim_store_set_replica(stage->other->core, 0);
    sim_store_set_replica(stage->scene->store.core, is_demoted);
    for (unsigned i = 0; i < sentinels; i++) {
        if (is_told)
            store_switch(stage->sentinels[i], STAGE_OTHER, 6379, 2);
        else
            store_knows(stage->sentinels[i], STAGE_OTHER, 6379, 2);
    }
}

int stage_is_at(struct store *store, const struct hand *hand)
{
    return strncmp(store_holder(store, hilock_lock_name(hand->lock)), hand->party->uuid, 36) == 0;
}
