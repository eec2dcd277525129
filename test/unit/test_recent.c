/* SPDX-License-Identifier: BSD-3-Clause */
/* What was released shortly before a server was lost is released again where another took over, and nothing else is. */
#include "cluster_stage.h"
#include "played.h"
#include "sentinel_stage.h"

/* The master goes for so long, five seconds after the release. */
static void release_and_go(struct fixture *s, struct handle *a, struct net_place *place, unsigned away_ms)
{
    release(a);
    run_ms(s, 5000);
    place->mood = NET_REFUSES;
    net_reset_at(&s->net, place);
    run_ms(s, away_ms);
}

A_PLAY(a_failover_that_takes_long_loses_no_release)
{
    struct stage stage;
    stage_set(&stage, s);
    struct handle *a = held(stage_connect(&stage), "a", "stock", NULL);
    store_copy(stage.other, &s->store);
    release_and_go(s, a, s->place, 8000);
    stage_fail_over(&stage, 3, 1, 0);
    run_ms(s, 100);
    TEXT(s, store_holder(stage.other, "stock"), "");
}

/* Neither its lease nor its place in the queue would last until then. */
A_PLAY(what_is_over_is_not_repeated)
{
    struct stage stage;
    stage_set(&stage, s);
    struct handle *a = held(stage_connect(&stage), "a", "stock", NULL);
    release_and_go(s, a, s->place, 100);
    s->place->mood = NET_LISTENS;
    run_ms(s, 70000);
    stage_fail_over(&stage, 3, 1, 0);
    run_ms(s, 100);
    SAME(s, store_count(stage.other, "mutex_release"), 0);
}
