/* SPDX-License-Identifier: BSD-3-Clause */
/* One server of a cluster is asked how old its word is, and then who has which slot: when it cannot tell, or is lost
 * amid that. */
#include "cluster_stage.h"
#include "play.h"

static size_t executed(const struct cluster_stage *stage, const char *word)
{
    size_t count = 0;
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        count += store_count(stage->stores[i], word);
    return count;
}

static void serve(struct cluster_stage *stage, unsigned slot, unsigned owner)
{
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        sim_store_give_slot(stage->stores[i]->core, slot, owner);
}

/* A user without the right to config-epochs is still served, and each server's refusal is reported once. */
A_PLAY(a_user_without_the_right_to_epochs_is_told_once)
{
    struct cluster_stage stage;
    unsigned askers = 0;
    cluster_set(&stage, s);
    struct plan *refused = PLAN(s, .on = "CLUSTER NODES", .act = PLAN_REFUSE, .times = PLAN_ALWAYS,
                   .error = "NOPERM this user has no permissions to run the 'cluster|nodes' command");
    serve(&stage, cluster_slot(cluster_name(1, 0)), SIM_NOBODY);
    struct client *p = cluster_connect(&stage);
    acquire(cluster_handle(p, "a", 0), HILOCK_FOREVER);
    acquire(cluster_handle(p, "b", 1), HILOCK_FOREVER);
    TELLS_IN(s, 5000, "a:OK");
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        askers += store_count(stage.stores[i], "CLUSTER SLOTS") > 0;
    HOLDS(s, refused->met > (int)askers && refused->met == (int)executed(&stage, "CLUSTER SLOTS"));
    SAME(s, client_lines(p, "CLUSTER NODES refused: NOPERM this user"), askers);
}

/* What a busy server cannot tell for now is no answer without an age. */
A_PLAY(a_server_that_is_busy_is_asked_for_epochs_again)
{
    struct cluster_stage stage;
    struct plan *busy;
    cluster_set(&stage, s);
    busy = PLAN(s, .on = "CLUSTER NODES", .act = PLAN_REFUSE, .times = 3, .error = "BUSY Redis is busy running a script.");
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL));
    acquire(cluster_handle(p, "a", 0), HILOCK_FOREVER);
    TELLS_IN(s, 2000, "a:OK");
    SAME(s, busy->met, 3);
    SAME(s, executed(&stage, "CLUSTER SLOTS"), executed(&stage, "CLUSTER NODES"));
    SAME(s, client_lines(p, "CLUSTER NODES"), 0);
}

/* The link is lost between the halves: one was answered, the other stands behind a release. The server stays away. */
A_PLAY(half_a_question_is_asked_of_another_when_its_server_is_lost)
{
    struct cluster_stage stage;
    cluster_set(&stage, s);
    serve(&stage, cluster_slot(cluster_name(1, 0)), SIM_NOBODY);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = "redis+cluster://127.0.0.1", .inflight_max = 1));
    struct handle *a = held(p, "a", cluster_name(0, 0), NULL);
    struct plan *asked_half = PLAN(s, .on = "CLUSTER NODES", .act = PLAN_HOLD);
    acquire(cluster_handle(p, "b", 1), HILOCK_FOREVER);
    run_ms(s, 500);
    SAME(s, asked_half->met, 1);
    release(a);
    PLAN(s, .on = "mutex_release", .act = PLAN_RESET_BEFORE);
    serve(&stage, cluster_slot(cluster_name(1, 0)), 2);
    stage.places[0]->mood = NET_REFUSES;
    plan_let_go(&s->plans, asked_half);
    TELLS_IN(s, 2000, "b:OK");
    stage.places[0]->mood = NET_LISTENS;
}

/* The same addresses, another cluster: its config-epochs begin at the start. */
A_PLAY(a_cluster_that_was_set_up_anew_is_followed)
{
    struct cluster_stage stage;
    cluster_set(&stage, s);
    for (int i = 0; i < 20; i++)
        cluster_end_move(&stage, cluster_slot(cluster_name(0, 1)), (unsigned)i % 2);
    struct handle *a = cluster_handle(cluster_connect(&stage), "a", 0);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    release(a);
    run_ms(s, 10);
    net_reset(&s->net, NULL, NET_ALL);
    cluster_set_anew(&stage, cluster_slot(hilock_lock_name(a->lock)), 2);
    run_ms(s, 5000);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 1000, "a:OK a:released a:OK");
    SAME(s, store_count(stage.stores[2], "mutex_acquire"), 1);
    SAME(s, asked(s, "mutex_acquire"), 1); /* it did not have to say MOVED */
}
