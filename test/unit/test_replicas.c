/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants that replicas must confirm: when they are reported, what happens if too few confirm, what all of it costs the
 * others, and beside what else there is: kinds of lock, other handles in line, multis, servers that change. */
#include "cluster_stage.h"
#include "play.h"
#include "replicas_stage.h"
#include "sentinel_stage.h"

/* ---- reports ---- */

A_PLAY(it_is_told_when_replicas_have_it)
{
    struct handle *a = asking(shop(s), "a", "stock", &confirmed);
    TELLS_IN(s, 6, "a:OK");
    SAME(s, a->at_us, asked_at_us(s, "WAIT", 0) + 5000 + s->net.back_us);
    BELIEVES(s, a, sent_at_us(s, "mutex_acquire", 0) + 30000000 - 307000);
    TEXT(s, store_line(&s->store, "WAIT", 0)->text, "WAIT 1 1000");
    SAME(s, store_line(&s->store, "WAIT", 0)->peer, store_line(&s->store, "mutex_acquire", 0)->peer);
    SAME(s, a->result.attempts, 1);
    release(a);
    TELLS_IN(s, 5, "a:released");
    HOLDS(s, store_line(&s->store, "mutex_release", 0)->peer != store_line(&s->store, "WAIT", 0)->peer);
}

/* At the end of a try; of a wait, though its WAIT is still out; and of one that ends between two attempts. */
A_PLAY(too_few_are_told_in_time_and_leave_nothing)
{
    struct handle *a = handle_new(shop(s), "a", "stock", &confirmed);
    s->store.replicas_away = 1;
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 999, "");
    TELLS_IN(s, 5, "a:NOT_REPLICATED");
    TEXT(s, a->detail, "0 of 1 replicas confirmed within 1000 ms; the grant was undone");
    TEXT(s, holder_of(s, "stock"), "");
    uint64_t begun_us = fixture_us(s);
    acquire(a, 400);
    TELLS_IN(s, 410, "a:NOT_REPLICATED");
    SAME(s, a->at_us, begun_us + 400000);
    TEXT(s, a->detail, "fewer than 1 replicas had confirmed when the wait of 400 ms ended; the grant was undone");
    TEXT(s, holder_of(s, "stock"), "");
    run_ms(s, 1000);
    acquire(a, 1020);
    TELLS_IN(s, 1100, "a:NOT_REPLICATED");
    TEXT(s, a->detail, "0 of 1 replicas confirmed within 1000 ms; the grant was undone");
}

A_PLAY(what_else_is_said_to_WAIT)
{
    const struct { struct plan plan; const char *story, *detail; } answers[] = {
        {{.act = PLAN_REFUSE, .error = "NOPERM User shop has no permissions to run the 'wait' command"}, "a:DENIED",
         "WAIT: +wait is missing"},
        {{.act = PLAN_REFUSE, .error = "UNBLOCKED force unblock from blocking operation, instance state changed"},
         "a:UNWRITABLE", "UNBLOCKED"},
        {{.act = PLAN_REFUSE, .error = "ERR WAIT cannot be used with replica instances. Please also note that ..."},
         "a:UNWRITABLE", "ERR WAIT"},
        {{.act = PLAN_INSTEAD, .reply = say_string("many")}, "a:PROTOCOL", ""},
        {{.act = PLAN_INSTEAD, .reply = say_integer(-1)}, "a:NOT_REPLICATED", ""},
    };
    struct handle *a = handle_new(shop(s), "a", "stock", &confirmed);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct plan *plan = plan_add(&s->plans, answers[i].plan);
        plan->on = "WAIT";
        acquire(a, HILOCK_TRY);
        TELLS_IN(s, 5, answers[i].story);
        HOLDS(s, strstr(a->detail, answers[i].detail));
        TEXT(s, holder_of(s, "stock"), "");
    }
}

/* The replica is slow: who waits for longer is confirmed though the WAIT that was for less time has found nothing. */
GIVEN(each_waits_for_as_long_as_it_asks_for, shop(s))
{
    s->store.replica_us = 200000;
    acquiring(handle_new(p, "short", "stock", HILOCK_LOCK_OPTIONS(.replicas = 1, .replica_timeout_ms = 100)),
              HILOCK_TRY);
    acquiring(handle_new(p, "long", "other", HILOCK_LOCK_OPTIONS(.replicas = 1, .replica_timeout_ms = 300)),
              HILOCK_TRY);
    TELLS_IN(s, 110, "short:NOT_REPLICATED");
    TELLS_IN(s, 400, "long:OK");
    SAME(s, asked(s, "WAIT"), 2);
}

/* ---- faults ---- */

A_PLAY(a_third_link_alone_that_is_away_is_told)
{
    struct handle *a = handle_new(shop(s), "a", "stock", &confirmed);
    s->place->mood = NET_REFUSES;
    acquire(a, 500);
    TELLS_IN(s, 600, "a:UNREACHABLE");
    HOLDS(s, strstr(a->detail, "Connection refused") != NULL);
    s->place->mood = NET_LISTENS;
    acquire(a, 5000);
    TELLS_IN(s, 5000, "a:OK");
}

GIVEN(who_stands_behind_is_told_that_it_is_held, shop(s))
{
    struct handle *b = handle_new(p, "b", "stock", NULL);
    asking(p, "a", "stock", &confirmed);
    s->store.replicas_away = 1;
    run_ms(s, 10);
    acquire(b, 500);
    TELLS_IN(s, 510, "b:TIMED_OUT");
    TEXT(s, b->detail, "\"stock\" is held by another handle of this client");
}

/* ---- deployments ---- */

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
    TELLS_IN(s, 1500, "a:OK a:released a:OK");
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
    TELLS_IN(s, 200000, "a:OK a:released a:OK a:released");
    SAME(s, s->net.links, before);
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 100, "a:OK");
}

A_PLAY(a_master_that_is_read_only_is_left_over_the_third_link)
{
    struct stage stage;
    stage_set(&stage, s);
    struct client *p = stage_connect(&stage);
    s->store.replicas = stage.other->replicas = 1;
    struct handle *a = asking(p, "a", "other", &confirmed);
    TELLS_IN(s, 100, "a:OK");
    a = handle_new(p, "a", "stock", &confirmed);
    stage_fail_over(&stage, 3, 0, 1);
    acquire(a, 2000);
    run_ms(s, 3000);
    HOLDS(s, is_held(a) && stage_is_at(stage.other, a));
}
