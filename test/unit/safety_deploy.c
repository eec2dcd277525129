/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the locks live changes: who is believed, and what is done over again. */
#include "safety.h"
#include "sentinel_stage.h"

static void a_sentinel_that_was_away_leads_nobody_back(struct scene *s)
{
    struct stage stage;
    struct hand *a;
    stage_set(&stage, s);
    stage.places[2]->mood = NET_REFUSES;
    a = hand_new(stage_connect(&stage), "a", "stock", NULL);
    stage_fail_over(&stage, 2, 1, 0);
    run_ms(s, 100);
    stage.places[2]->mood = NET_LISTENS;
    run_ms(s, 20000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 100);
    TELLS(s, "a:OK");
    HOLDS(s, stage_is_at(stage.other, a));
}

static void a_master_that_is_read_only_is_left(struct scene *s)
{
    struct stage stage;
    struct hand *a;
    stage_set(&stage, s);
    a = hand_new(stage_connect(&stage), "a", "stock", NULL);
    stage_fail_over(&stage, 3, 0, 1);
    acquire(a, 2000);
    run_ms(s, 3000);
    TELLS(s, "a:OK");
    HOLDS(s, stage_is_at(stage.other, a));
}

static void a_server_that_is_no_master_is_not_asked(struct scene *s)
{
    struct stage stage;
    struct party *p;
    stage_set(&stage, s);
    s->store.is_replica = 1;
    p = scene_open(s, HILOCK_CLIENT_OPTIONS(.url = STAGE_URL));
    run_ms(s, 3000);
    HOLDS(s, !hilock_client_is_connected(p->client));
    stage_fail_over(&stage, 3, 0, 1);
    run_ms(s, 3000);
    HOLDS(s, hilock_client_is_connected(p->client));
}

static void a_release_that_was_lost_is_repeated(struct scene *s)
{
    struct stage stage;
    struct party *p;
    struct hand *a, *b;
    stage_set(&stage, s);
    p = stage_connect(&stage);
    a = held(p, "a", "stock", NULL);
    b = hand_new(p, "b", "stock", NULL);
    store_copy(stage.other, &s->store);
    release(a);
    run_ms(s, 10);
    stage_fail_over(&stage, 3, 1, 1);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 100);
    TELLS(s, "a:released b:OK");
}

const struct safety safety_deploy[] = {
    SAFETY(STALE_SENTINEL_BELIEVED, a_sentinel_that_was_away_leads_nobody_back),
    SAFETY(READONLY_IGNORED, a_master_that_is_read_only_is_left),
    SAFETY(ROLE_IGNORED, a_server_that_is_no_master_is_not_asked),
    SAFETY(LOST_RELEASES_IGNORED, a_release_that_was_lost_is_repeated),
    {NULL, {NULL, NULL}},
};
