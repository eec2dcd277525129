/* SPDX-License-Identifier: BSD-3-Clause */
/* One server of a cluster is asked how old its word is, and then who has which slot: when it cannot tell, or is lost
 * amid that. */
#include "play.h"
#include "stage.h"

static unsigned links_of(const struct store *store)
{
    const struct store_peer *peer;
    unsigned count = 0;
    TAILQ_FOREACH(peer, &store->peers, entry)
        count++;
    return count;
}

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

/* Makes the client ask the next server that is up, which is the other one of 0 and 2. */
static void asks_the_next(struct client *p)
{
    struct fixture *s = p->fixture;
    PLAN(s, .on = "mutex_acquire", .at = &s->store, .error = "CLUSTERDOWN The cluster is down");
    struct handle *a = asking(p, "x", cluster_name(0, 1), NULL);
    run_ms(s, 500);
    release_quietly(a);
    unheard_ms(s, 100);
}

/* A client that is connected to servers 0 and 2, and has asked 0 for the slots. */
static struct client *beside_one(struct fixture *s)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = "redis+cluster://127.0.0.1"));
    held(p, "y", cluster_name(0, 2), NULL);
    asking(p, "z", cluster_name(2, 2), NULL);
    unheard_ms(s, 100);
    SAME(s, client_lines(p, "the cluster"), 0); /* all is well */
    return p;
}

/* Server 0 says that server 1 has the slot, by a new config-epoch. Server 2, which had it, has not heard of that. */
A_PLAY(who_lost_a_slot_by_a_new_epoch_gets_it_back_by_no_old_one)
{
    const char *name = cluster_name(2, 0);
    cluster_set(s);
    struct client *p = beside_one(s);
    asks_the_next(p);
    for (unsigned i = 0; i < 2; i++) {
        sim_store_set_epoch(store_at(s, i)->core, 1, 9);
        sim_store_give_slot(store_at(s, i)->core, cluster_slot(name), 1);
    }
    asks_the_next(p);
    SAME(s, asked(s, "CLUSTER SLOTS"), 2);
    SAME(s, links_of(store_at(s, 1)), 0);
    asks_the_next(p);
    SAME(s, links_of(store_at(s, 1)), 1); /* it is asked, too, where two contradict each other */
    asking(p, "a", name, NULL);
    TELLS_IN(s, 10, "a:OK");
    HOLDS(s, is_at(store_at(s, 1), asking(p, "b", name, NULL)));
}

static void date_two_alike(struct sim_map *map)
{
    map->nodes[0].epoch = map->nodes[1].epoch = 2;
    map->nodes[2].epoch = 3;
}

/* Server 1 has it from server 2, by MOVED, and does not tell its own epoch. Server 0 believes that the slot is its own, by
 * an epoch that is older than that of server 2. */
A_PLAY(a_slot_by_MOVED_is_as_new_as_the_epoch_of_who_had_it)
{
    const char *name = cluster_name(2, 0);
    cluster_set(s);
    cluster_change(s, date_two_alike);
    struct client *p = beside_one(s);
    struct plan *told = PLAN(s, .on = "CLUSTER NODES", .at = store_at(s, 1), .times = PLAN_ALWAYS, .error = "LOADING");
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        sim_store_give_slot(store_at(s, i)->core, cluster_slot(name), i == 0 ? 0 : 1);
    struct handle *a = asking(p, "a", name, NULL);
    unheard_ms(s, 1000);
    HOLDS(s, is_at(store_at(s, 1), a));
    asks_the_next(p);
    asks_the_next(p);
    SAME(s, asked(s, "CLUSTER SLOTS"), 2);
    int before = told->met;
    unheard_ms(s, 1000);
    SAME(s, told->met, before + 1); /* whoever is next is asked after such an answer */
    release(a);
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 100, "a:released a:OK");
    HOLDS(s, is_at(store_at(s, 1), a));
}

static void date_the_second_last(struct sim_map *map) { map->nodes[1].epoch = 9; }

/* Server 1, whose epoch is the newest, has it by MOVED. Server 0 has not heard of that, and no other tells. */
A_PLAY(a_slot_by_MOVED_makes_no_server_older)
{
    const char *name = cluster_name(2, 0);
    cluster_set(s);
    cluster_change(s, date_the_second_last);
    struct client *p = beside_one(s);
    for (unsigned i = 1; i < CLUSTER_MASTERS; i++)
        PLAN(s, .on = "CLUSTER NODES", .at = store_at(s, i), .times = PLAN_ALWAYS, .error = "LOADING");
    for (unsigned i = 1; i < CLUSTER_MASTERS; i++)
        sim_store_give_slot(store_at(s, i)->core, cluster_slot(name), 1);
    struct handle *a = asking(p, "a", name, NULL);
    unheard_ms(s, 1000);
    asks_the_next(p);
    asks_the_next(p);
    SAME(s, asked(s, "CLUSTER SLOTS"), 2);
    release(a);
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 100, "a:released a:OK");
    SAME(s, counts_of(p).redirects, 1);
}

/* Nobody names a server for that slot, once MOVED has named server 1 for it. */
A_PLAY(a_slot_that_an_answer_leaves_out_stays_where_it_is)
{
    const char *name = cluster_name(2, 0);
    cluster_set(s);
    struct client *p = beside_one(s);
    PLAN(s, .on = "CLUSTER NODES", .at = store_at(s, 1), .times = PLAN_ALWAYS, .error = "LOADING");
    sim_store_give_slot(s->store.core, cluster_slot(name), SIM_NOBODY);
    sim_store_give_slot(store_at(s, 1)->core, cluster_slot(name), 1);
    sim_store_give_slot(store_at(s, 2)->core, cluster_slot(name), 1);
    struct handle *a = asking(p, "a", name, NULL);
    TELLS_IN(s, 10, "a:OK");
    sim_store_give_slot(store_at(s, 2)->core, cluster_slot(name), SIM_NOBODY);
    for (int i = 0; i < 3; i++)
        asks_the_next(p);
    HOLDS(s, asked(s, "CLUSTER SLOTS") > 1 && store_count(store_at(s, 2), "CLUSTER SLOTS") > 0);
    size_t asked_before = store_count(store_at(s, 2), NULL);
    release(a);
    TELLS_IN(s, 10, "a:released");
    SAME(s, store_count(store_at(s, 2), NULL), asked_before);
}

/* Its handshake does not end. */
A_PLAY(a_server_that_is_not_up_yet_is_not_asked_for_slots)
{
    cluster_set(s);
    struct client *p = beside_one(s);
    struct handle *a = held(p, "a", cluster_name(0, 0), HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    PLAN(s, .on = "INFO", .at = store_at(s, 1), .fate.answer_is_lost = 1, .times = PLAN_ALWAYS);
    asking(p, "b", cluster_name(1, 0), NULL);
    run_ms(s, 10);
    s->is_tampered = 1;
    world_freeze(&s->store.lane);
    store_copy(store_at(s, 2), &s->store);
    cluster_take_over(s, 0, 2, 0);
    run_ms(s, 1);
    peek(a);
    TELLS_IN(s, 1500, "a:peek OK");
    world_thaw(&s->world, &s->store.lane);
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

/* ---- more servers than there is room for ---- */

static struct hl_reply *many(int hosts)
{
    struct hl_reply *all = say_array(0);
    for (int i = 0; i < hosts; i++) {
        const char *host = formatted("10.%d.%d.1", i / 250, i % 250);
        all = say_longer(all, say_array(3, say_integer(i), say_integer(i), say_array(2, say_string(host), say_integer(6379))));
    }
    return all;
}

/* More servers than there is room for: the first of them count, the client lives, and finds the cluster again by the
 * names in the url. */
A_PLAY(a_topology_without_end_is_bounded_and_outlived)
{
    cluster_set(s);
    PLAN(s, .on = "CLUSTER SLOTS", .fate.refusal = many(3000));
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis+cluster://127.0.0.1"));
    run_ms(s, 100);
    HOLDS(s, hilock_client_is_connected(p->client));
    HOLDS(s, s->memory.bytes < 16000000);
    acquire(cluster_handle(p, "a", 2), HILOCK_FOREVER);
    net_reset(&s->net, NULL, NET_ALL);
    TELLS_IN(s, 60000, "a:OK");
}

static const char *name_in(unsigned slot)
{
    const char *name;
    unsigned i = 0;
    do
        name = formatted("n%u", i++);
    while (cluster_slot(name) != slot);
    return name;
}

/* Those that there was room for serve what they are said to serve, and go on when more are named. */
A_PLAY(of_a_topology_without_end_the_first_servers_count)
{
    static const char *const hosts[] = {"10.0.0.1:6379", "10.0.1.1:6379"};
    struct net_place *places[2];
    cluster_set(s);
    for (unsigned i = 0; i < 2; i++) {
        places[i] = net_listen(&s->net, hosts[i], store_at(s, 2));
        sim_store_give_slot(store_at(s, 2)->core, i, 2);
    }
    PLAN(s, .on = "CLUSTER SLOTS", .fate.refusal = many(3000));
    PLAN(s, .on = "CLUSTER SLOTS", .times = PLAN_ALWAYS,
         .fate.refusal = say_array(1, say_array(3, say_integer(16000), say_integer(16000), say_array(2, say_string("10.9.9.9"), say_integer(6379)))));
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = "redis+cluster://127.0.0.1"));
    struct handle *a = handle_new(p, "a", name_in(0), NULL);
    PLAN(s, .on = "mutex_acquire", .after = 1, .error = "CLUSTERDOWN The cluster is down"); /* so the slots are asked for */
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 20, "a:OK");
    SAME(s, places[0]->tried, 2); /* for subscriptions, too */
    release(a);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 1000, "a:released a:OK");
    asking(p, "b", name_in(1), NULL);
    TELLS_IN(s, 20, "b:OK");
    SAME(s, places[1]->tried, 2);
}
