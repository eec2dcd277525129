/* SPDX-License-Identifier: BSD-3-Clause */
/* One server of a cluster is asked how old its word is, and then who has which slot: when it cannot tell, or is lost
 * amid that. */
#include "play.h"
#include "stage.h"

A_PLAY(a_user_without_the_right_to_epochs_is_told)
{
    cluster_set(s);
    PLAN(s, .on = "CLUSTER NODES", .times = PLAN_ALWAYS, .error = "NOPERM this user may not run 'cluster|nodes'");
    struct handle *a = cluster_handle(fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL)), "a", 0);
    acquire(a, 3000);
    TELLS_IN(s, 4000, "a:UNREACHABLE");
    HOLDS(s, strstr(a->detail, "returned no slot table: NOPERM this user may not run 'cluster|nodes'"));
}

A_PLAY(a_server_that_is_busy_is_asked_for_epochs_again)
{
    struct plan *busy;
    cluster_set(s);
    busy = PLAN(s, .on = "CLUSTER NODES", .times = 3, .error = "BUSY Redis is busy running a script.");
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL));
    acquire(cluster_handle(p, "a", 0), HILOCK_FOREVER);
    TELLS_IN(s, 2000, "a:OK");
    SAME(s, busy->met, 3);
    SAME(s, asked_all(s, "CLUSTER SLOTS"), asked_all(s, "CLUSTER NODES"));
    SAME(s, client_lines(p, "CLUSTER NODES"), 0);
}

/* The link is lost between the halves: one was answered, the other stands behind a release. The server stays away. */
A_PLAY(half_a_question_is_asked_of_another_when_its_server_is_lost)
{
    cluster_set(s);
    cluster_serve(s, cluster_slot(cluster_name(1, 0)), SIM_NOBODY);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = "redis+cluster://127.0.0.1", .inflight_max = 1));
    struct handle *a = held(p, "a", cluster_name(0, 0), NULL);
    struct plan *asked_half = PLAN(s, .on = "CLUSTER NODES", .holds = 1);
    acquire(cluster_handle(p, "b", 1), HILOCK_FOREVER);
    run_ms(s, 500);
    SAME(s, asked_half->met, 1);
    release(a);
    PLAN(s, .on = "mutex_release", .fate.resets_before = 1);
    cluster_serve(s, cluster_slot(cluster_name(1, 0)), 2);
    s->net.places[0].mood = NET_REFUSES;
    plan_let_go(&s->plans, asked_half);
    TELLS_IN(s, 2000, "b:OK");
    s->net.places[0].mood = NET_LISTENS;
}

/* The same addresses, another cluster: its config-epochs begin at the start. */
A_PLAY(a_cluster_that_was_set_up_anew_is_followed)
{
    cluster_set(s);
    for (int i = 0; i < 20; i++)
        cluster_end_move(s, cluster_slot(cluster_name(0, 1)), (unsigned)i % 2);
    struct handle *a = cluster_handle(cluster_connect(s), "a", 0);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    release(a);
    run_ms(s, 10);
    net_reset(&s->net, NULL, NET_ALL);
    cluster_set_anew(s, cluster_slot(hilock_lock_name(a->lock)), 2);
    run_ms(s, 5000);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 1000, "a:OK a:released a:OK");
    SAME(s, store_count(store_at(s, 2), "mutex_acquire"), 1);
    SAME(s, asked(s, "mutex_acquire"), 1); /* it did not have to say MOVED */
}
