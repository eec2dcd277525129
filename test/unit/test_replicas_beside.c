/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants that replicas are to confirm, beside what else there is: kinds of lock, other handles in line, multis, deployments whose servers change. */
#include "cluster_stage.h"
#include "played.h"
#include "replicas_stage.h"
#include "sentinel_stage.h"

static const struct hilock_lock_options fair = {.size = sizeof fair, .kind = HILOCK_FAIR, .replicas = 1};

/* ---- kinds, lines, hand-overs ---- */

GIVEN(a_pushed_grant_is_written_by_who_gets_it, shop(s))
{
    struct handle *a = asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR)), *b;
    run_ms(s, 10);
    b = asking(p, "b", "stock", &fair);
    TELLS_AFTER(s, 20, "a:OK b:WAITING");
    release_quietly(a);
    TELLS_AFTER(s, 10, "b:OK");
    SAME(s, asked(s, "WAIT"), 1);
    SAME(s, b->at_us, asked_at_us(s, "WAIT", 0) + 5000 + s->net.back_us);
    BELIEVES(s, b, sent_at_us(s, "mutex_acquire", -1) + 30000000 - 307000);
}

GIVEN(a_FAIR_lock_that_is_not_confirmed_goes_to_the_next, shop(s))
{
    asking(p, "a", "stock", &fair);
    s->store.replicas_away = 1;
    run_ms(s, 10);
    struct handle *b = asking(p, "b", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    TELLS_AFTER(s, 1050, "b:WAITING b:OK a:WAITING");
    s->store.replicas_away = 0;
    run_ms(s, 200);
    fixture_hush(s);
    release_quietly(b);
    TELLS_AFTER(s, 20, "a:OK");
}

GIVEN(a_hold_is_handed_to_who_asks_for_no_more, shop(s))
{
    struct handle *a = asking(p, "a", "stock", &confirmed);
    run_ms(s, 10);
    asking(p, "b", "stock", &confirmed);
    asking(p, "c", "stock", NULL);
    run_ms(s, 10);
    fixture_hush(s);
    release_quietly(a);
    TELLS_AFTER(s, 1, "b:OK");
    SAME(s, asked(s, "WAIT"), 1);
    SAME(s, asked(s, "mutex_release"), 0);
}

GIVEN(who_stands_behind_is_told_that_it_is_held, shop(s))
{
    struct handle *b = handle_new(p, "b", "stock", NULL);
    asking(p, "a", "stock", &confirmed);
    s->store.replicas_away = 1;
    run_ms(s, 10);
    acquire(b, 500);
    TELLS_AFTER(s, 510, "b:TIMED_OUT");
    TEXT(s, b->detail, "\"stock\" is held by another handle of this client");
}

A_PLAY(all_parts_of_a_multi_are_confirmed)
{
    static const char *const names[] = {"one", "two", "three", NULL};
    struct handle *a = multi_new(shop(s), "a", names, HILOCK_LOCK_OPTIONS(.replicas = 1, .replica_timeout_ms = 200));
    acquire(a, HILOCK_TRY);
    TELLS_AFTER(s, 10, "a:OK");
    SAME(s, asked(s, "WAIT"), 1);
    release_quietly(a);
    run_ms(s, 10);
    s->store.replicas_away = 1;
    acquire(a, HILOCK_TRY);
    TELLS_AFTER(s, 250, "a:NOT_REPLICATED");
    for (int i = 0; names[i]; i++)
        TEXT(s, holder_of(s, names[i]), "");
    acquire(a, 60000);
    run_ms(s, 1000);
    s->store.replicas_away = 0;
    TELLS_AFTER(s, 3000, "a:OK");
}

/* ---- deployments ---- */

A_PLAY(a_slot_that_moved_is_waited_for_at_its_new_place)
{
    struct cluster_stage stage;
    unsigned slot = cluster_slot(cluster_name(1, 0));
    cluster_set(&stage, s);
    struct client *p = cluster_connect(&stage);
    for (int i = 0; i < CLUSTER_MASTERS; i++)
        stage.stores[i]->replicas = 1;
    struct handle *a = asking(p, "a", cluster_name(1, 0), &confirmed);
    run_ms(s, 100);
    release(a);
    run_ms(s, 10);
    cluster_begin_move(&stage, slot, 1, 2);
    cluster_end_move(&stage, slot, 2);
    acquire(a, HILOCK_TRY);
    TELLS_AFTER(s, 100, "a:OK a:released a:OK");
    SAME(s, store_count(stage.stores[1], "WAIT"), 1);
    SAME(s, store_count(stage.stores[2], "WAIT"), 1);
    release(a);
    TELLS_AFTER(s, 100, "a:released");
}

/* Only the third link is asked something: its node is to find out who serves by now. */
A_PLAY(a_server_that_stops_is_left_though_it_is_asked_over_the_third_link_alone)
{
    struct cluster_stage stage;
    cluster_set(&stage, s);
    struct client *p = cluster_connect(&stage);
    for (int i = 0; i < CLUSTER_MASTERS; i++)
        stage.stores[i]->replicas = 1;
    struct handle *a = asking(p, "a", cluster_name(1, 0), &confirmed);
    run_ms(s, 100);
    release(a);
    run_ms(s, 2000);
    world_freeze(&stage.stores[1]->lane);
    acquire(a, 12000);
    run_ms(s, 2500);
    cluster_take_over(&stage, 1, 2, 0);
    TELLS_AFTER(s, 1500, "a:OK a:released a:OK");
    SAME(s, store_count(stage.stores[2], "WAIT"), 1);
    world_thaw(&s->world, &stage.stores[1]->lane);
}

A_PLAY(links_that_nobody_needs_are_closed_in_a_cluster)
{
    struct cluster_stage stage;
    cluster_set(&stage, s);
    struct client *p = cluster_connect(&stage);
    stage.stores[1]->replicas = 1;
    struct handle *a = asking(p, "a", cluster_name(1, 0), NULL);
    run_ms(s, 100);
    release(a);
    run_ms(s, 200000);
    unsigned before = s->net.links;
    a = asking(p, "a", cluster_name(1, 0), &confirmed);
    run_ms(s, 100);
    SAME(s, s->net.links, before + 1);
    release(a);
    TELLS_AFTER(s, 200000, "a:OK a:released a:OK a:released");
    SAME(s, s->net.links, before);
    acquire(a, HILOCK_TRY);
    TELLS_AFTER(s, 100, "a:OK");
}

A_PLAY(a_failover_in_WAIT_asks_the_new_master)
{
    struct stage stage;
    stage_set(&stage, s);
    struct client *p = stage_connect(&stage);
    s->store.replicas = s->store.replicas_away = stage.other->replicas = 1;
    struct handle *a = asking(p, "a", "stock", &confirmed);
    run_ms(s, 100);
    SAME(s, asked(s, "WAIT"), 1);
    stage_fail_over(&stage, 3, 1, 0);
    TELLS_AFTER(s, 100, "a:OK");
    HOLDS(s, stage_is_at(stage.other, a));
    SAME(s, store_count(stage.other, "WAIT"), 1);
}

A_PLAY(a_master_that_is_read_only_is_left_over_the_third_link)
{
    struct stage stage;
    stage_set(&stage, s);
    struct client *p = stage_connect(&stage);
    s->store.replicas = stage.other->replicas = 1;
    struct handle *a = asking(p, "a", "other", &confirmed);
    TELLS_AFTER(s, 100, "a:OK");
    a = handle_new(p, "a", "stock", &confirmed);
    stage_fail_over(&stage, 3, 0, 1);
    acquire(a, 2000);
    run_ms(s, 3000);
    HOLDS(s, is_held(a) && stage_is_at(stage.other, a));
}
