/* SPDX-License-Identifier: BSD-3-Clause */
/* A cluster: each key at the server of its slot, found, followed, and asked for no more often than needed; and hostile servers. */
#include "base/words.h"
#include "play.h"
#include "stage.h"

static unsigned links_to(struct fixture *s, unsigned at)
{
    const struct store_peer *peer;
    unsigned count = 0;
    TAILQ_FOREACH(peer, &store_at(s, at)->peers, entry)
        count++;
    return count;
}

GIVEN(there_are_no_links_to_servers_that_nobody_needs, cluster_begin(s))
{
    acquire(cluster_handle(p, "b", 0), HILOCK_FOREVER); /* renewed there, all the time */
    struct handle *a = cluster_handle(p, "a", 2);
    run_ms(s, 1);
    SAME(s, links_to(s, 2), 1); /* subscriptions: it is likely to wait there */
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    SAME(s, links_to(s, 2), 2);
    release(a);
    run_ms(s, 200000);
    SAME(s, links_to(s, 2), 0);
    SAME(s, links_to(s, 1), 0);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    SAME(s, links_to(s, 2), 1);
    TELLS(s, "b:OK a:OK a:released a:OK");
    SAME(s, counts_of(p).nodes, 2);
    SAME(s, counts_of(p).nodes_up, 2);
}

/* What a server is asked as a link begins: a replica of a cluster answers MOVED, and a third link repeats nothing. */
GIVEN(no_link_asks_for_more_than_it_needs, cluster_begin(s))
{
    s->store.replicas = 1;
    held(p, "a", cluster_name(0, 0), NULL);
    asking(p, "b", cluster_name(0, 1), &confirmed);
    TELLS_IN(s, 100, "b:OK");
    SAME(s, links_to(s, 0), 3);
    SAME(s, asked_for(s, "INFO replication"), 0);
    SAME(s, asked_for(s, "INFO server"), 2);
    SAME(s, asked_for(s, "INFO memory"), 1);
    SAME(s, asked_for(s, "PUBSUB SHARDNUMSUB 0"), 1);
    SAME(s, asked(s, "PUBSUB"), 1);
    SAME(s, asked(s, "ROLE"), 0);
    SAME(s, asked_for(s, "CLUSTER NODES"), 1 + 3);
}

/* The answer to its keep-alive is on the way when it is looked after. */
A_PLAY(a_link_that_is_only_kept_alive_is_closed)
{
    cluster_set(s);
    uint64_t begun_us = fixture_us(s);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL, .keepalive_ms = 20000));
    struct handle *a = held(p, "a", cluster_name(2, 0), NULL);
    held(p, "b", cluster_name(1, 0), NULL); /* else it were the last link of all */
    run_to(s, begun_us + 20000000 - 700);
    release_quietly(a); /* after that it is asked for the time alone, each time 200 us later than the last */
    run_to(s, begun_us + 80000000 - 1);
    SAME(s, links_to(s, 2), 2);
    run_us(s, 2);
    SAME(s, links_to(s, 2), 0);
}

/* It may come back one day, but nobody asks it before it has slots. */
GIVEN(a_server_that_lost_all_its_slots_is_told_of_and_left_alone, cluster_begin(s))
{
    store_at(s, 1)->replicas = 1;
    struct handle *a = held(p, "a", cluster_name(1, 0), NULL), *b = asking(p, "b", cluster_name(1, 1), &confirmed);
    run_ms(s, 10);
    release_quietly(a);
    release_quietly(b);
    unheard_ms(s, 10);
    SAME(s, links_to(s, 1), 3);
    p->tells = 1;
    cluster_take_over(s, 1, 2, 1);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 1000, "down up a:OK failover down"); /* the server that was only asked for the slots rests meanwhile */
    unsigned tried = s->net.places[1].tried;
    TELLS_IN(s, 5000, "");
    SAME(s, links_to(s, 1), 0);
    SAME(s, s->net.places[1].tried, tried);
    SAME(s, counts_of(p).failovers, 1);
    SAME(s, counts_of(p).redirects, 1);
}

/* For a long time no server tells which one has the slots of the server that is away. */
static void others_are_asked_while_it_is_away(struct fixture *s, struct handle *a)
{
    run_ms(s, 30000);
    store_copy(store_at(s, 2), store_at(s, 1));
    cluster_take_over(s, 1, 2, 0);
    run_ms(s, 600);
    SAME(s, store_count(store_at(s, 2), "renew"), 1);
    HOLDS(s, is_held(a));
}

/* Nothing but silence shows that it stopped. */
GIVEN(while_a_server_with_slots_is_silent_others_are_asked_for_its_slots, cluster_begin(s))
{
    struct handle *a = held(p, "a", cluster_name(1, 0), HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    world_freeze(&store_at(s, 1)->lane);
    others_are_asked_while_it_is_away(s, a);
    world_thaw(&s->world, &store_at(s, 1)->lane);
}

/* Its address swallows what it is sent: an attempt to connect takes long. */
GIVEN(while_a_server_with_slots_cannot_be_reached_others_are_asked_for_its_slots,
      (cluster_set(s), fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL, .connect_timeout_ms = 60000))))
{
    struct handle *a = held(p, "a", cluster_name(1, 0), HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    s->net.places[1].mood = NET_IS_SILENT;
    net_reset_at(&s->net, store_at(s, 1), NET_ALL);
    others_are_asked_while_it_is_away(s, a);
}

/* It is a replica by now, or the wrong server: its links are made again. */
GIVEN(a_server_of_a_cluster_that_is_read_only_is_left, cluster_begin(s))
{
    struct handle *a = held(p, "a", cluster_name(1, 0), NULL);
    unsigned tried = s->net.places[1].tried;
    PLAN(s, .on = "mutex_release", .error = "READONLY You can't write against a read only replica.");
    release(a);
    TELLS_IN(s, 500, "a:released");
    SAME(s, s->net.places[1].tried, tried + 2);
}

/* One lock of the slot is at the next server already, and another is where it was. */
GIVEN(a_slot_that_is_about_to_move_stays_until_it_has_moved, cluster_begin(s))
{
    const char *name = cluster_name(1, 0);
    struct handle *a = held(p, "a", name, NULL), *b = held(p, "b", formatted("{%s}", name), NULL);
    cluster_begin_move(s, cluster_slot(name), 1, 2);
    cluster_move_key(s, name, 1, 2);
    release(a);
    TELLS_IN(s, 100, "a:released");
    release(b);
    TELLS_IN(s, 100, "b:released");
    SAME(s, counts_of(p).redirects, 1);
}

/* A link that was last used a minute ago is closed when it is looked after next. */
A_PLAY(a_link_that_was_used_within_a_minute_is_kept)
{
    cluster_set(s);
    uint64_t begun_us = fixture_us(s);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL, .keepalive_ms = 20000));
    store_at(s, 1)->replicas = 1;
    struct handle *a = held(p, "a", cluster_name(2, 0), NULL), *b = handle_new(p, "b", cluster_name(1, 0), &confirmed);
    acquire(b, HILOCK_TRY);
    run_ms(s, 10);
    release_quietly(b);
    run_to(s, begun_us + 20000000);
    release_quietly(a);
    acquire(b, HILOCK_TRY);
    run_ms(s, 59999);
    TELLS(s, "b:OK b:OK");
    run_ms(s, 2);
    SAME(s, links_to(s, 2), 2);
    SAME(s, links_to(s, 1), 3);
    run_ms(s, 20000);
    SAME(s, links_to(s, 2), 0);
    SAME(s, links_to(s, 1), 2);
}

/* Token and lock are on different sides, or on none: the acquire is not executed, and asked again until the move is over. */
A_PLAY(a_try_outlives_the_time_of_a_move)
{
    unsigned slot = cluster_slot(cluster_name(1, 0));
    struct client *p = cluster_begin(s);
    struct handle *a = cluster_handle(p, "a", 1);
    cluster_begin_move(s, slot, 1, 2);
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 500, "");
    HOLDS(s, store_count(store_at(s, 2), "ASKING") > 3 && store_count(store_at(s, 2), "ASKING") < 120);
    cluster_end_move(s, slot, 2);
    TELLS_IN(s, 100, "a:OK");
}

HAVING(a_cluster_that_is_down_is_asked_within_bounds, cluster_handle(cluster_begin(s), "a", 0))
{
    struct plan *down = PLAN(s, .on = "mutex_acquire", .error = "CLUSTERDOWN The cluster is down", .times = PLAN_ALWAYS);
    acquire(a, 10000);
    TELLS_IN(s, 10100, "a:UNWRITABLE");
    HOLDS(s, down->met > 50 && down->met < 450);
    HOLDS(s, strstr(a->detail, "CLUSTERDOWN"));
    HOLDS(s, asked_all(s, "CLUSTER SLOTS") > 10 && asked_all(s, "CLUSTER SLOTS") < 60);
}

HAVING(two_who_send_each_other_are_left_within_bounds, cluster_handle(cluster_begin(s), "a", 1))
{
    sim_store_give_slot(store_at(s, 1)->core, cluster_slot(hilock_lock_name(a->lock)), 2);
    sim_store_give_slot(store_at(s, 2)->core, cluster_slot(hilock_lock_name(a->lock)), 1);
    acquire(a, 10000);
    run_ms(s, 1000);
    HOLDS(s, store_count(store_at(s, 1), "mutex_acquire") + store_count(store_at(s, 2), "mutex_acquire") < 300);
    sim_store_give_slot(store_at(s, 1)->core, cluster_slot(hilock_lock_name(a->lock)), 1);
    TELLS_IN(s, 1000, "a:OK");
}

/* The race that puts a stream out of step without the fence: its SUNSUBSCRIBE is answered by the server's own push, and by MOVED. */
A_PLAY(a_slot_that_goes_while_it_is_left_breaks_no_stream)
{
    unsigned slot = cluster_slot(cluster_name(1, 0));
    struct client *p = cluster_begin(s);
    struct handle *a = cluster_handle(p, "a", 1);
    store_take(store_at(s, 1), hilock_lock_name(a->lock), "another", 600000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    cancel(a);
    struct plan *late = PLAN(s, .on = "SUNSUBSCRIBE", .fate.there_us = 5000);
    while (!late->met)
        run_us(s, 100);
    unsigned tried = s->net.places[1].tried;
    cluster_end_move(s, slot, 2);
    run_ms(s, 100);
    SAME(s, s->net.places[1].tried, tried);
    p->tells = 1;
    run_ms(s, 1000);
    HOLDS(s, !strstr(p->log, "unexpected reply: no command asked for it"));
    TELLS(s, "a:WAITING a:CANCELLED");
}

/* Or one that had been left when its slot went. */
GIVEN(a_channel_that_nobody_knows_may_go, cluster_begin(s))
{
    struct hl_reply *said = say_array(3, say_string("sunsubscribe"), say_string("another channel"), say_integer(1));
    store_take(store_at(s, 1), cluster_name(1, 0), "another", 600000);
    asking(p, "a", cluster_name(1, 0), NULL);
    run_ms(s, 10);
    unsigned tried = s->net.places[1].tried;
    net_say(&s->net, &p->loop, NET_STREAMS, said);
    run_ms(s, 200);
    SAME(s, s->net.places[1].tried, tried);
    say_free(said);
}

/* The answer to that is on its way when another slot leaves. */
GIVEN(a_slot_that_goes_while_another_is_left_is_followed, cluster_begin(s))
{
    const char *left = cluster_name(1, 0), *gone = cluster_name(1, 1);
    store_take(store_at(s, 1), left, "another", 600000);
    store_take(store_at(s, 1), gone, "another", 600000);
    struct handle *a = asking(p, "a", left, NULL);
    asking(p, "b", gone, NULL);
    run_ms(s, 10);
    cancel(a);
    struct plan *late = PLAN(s, .on = "SUNSUBSCRIBE", .fate.there_us = 5000);
    while (!late->met)
        run_us(s, 100);
    cluster_move(s, gone, 1, 2);
    run_ms(s, 300);
    SAME(s, store_shard_listeners(store_at(s, 2), formatted("redisson_lock__channel:{%s}", gone)), 1);
}

static void forget_host(struct sim_map *map) { *map->nodes[map->self].address.host = '\0'; }

A_PLAY(servers_that_are_named_by_no_host_are_where_they_were_reached)
{
    cluster_set(s);
    cluster_change(s, forget_host);
    struct handle *a = cluster_handle(cluster_connect(s), "a", 0);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 3000);
    HOLDS(s, strncmp(store_holder(&s->store, hilock_lock_name(a->lock)), a->client->uuid, 36) == 0 || a->result.status == HILOCK_OK);
}

/* It ends every wait, also one without an end. */
GIVEN(a_server_that_is_no_cluster_is_reported_once,
      fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis+cluster://127.0.0.1", .log_level = HILOCK_LOG_WARN)))
{
    struct handle *a = handle_new(p, "a", "stock", NULL);
    p->tells = 1;
    acquire(a, 500);
    asking(p, "b", "other", NULL);
    TELLS_IN(s, 20000, "up a:SERVER b:SERVER down");
    TEXT(s, a->detail, "127.0.0.1:6379: it is not in a cluster: begin the url with redis for a single server");
    HOLDS(s, strstr(p->event_detail, "the cluster: 127.0.0.1:6379: it is not in a cluster: "));
    SAME(s, client_lines(p, "the cluster: 127.0.0.1:6379: it is not in a cluster: "), 1);
    HOLDS(s, asked(s, "CLUSTER NODES") > 20 && asked(s, "CLUSTER NODES") < 100);
}

/* Whichever is tried first. */
A_PLAY(a_host_of_the_url_that_is_away_leads_to_the_others)
{
    cluster_set(s);
    for (unsigned i = 0; i < 8; i++) {
        s->net.places[i % 2].mood = NET_REFUSES;
        struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL));
        run_ms(s, 1000);
        HOLDS(s, hilock_client_is_connected(p->client));
        client_abandon(p);
        s->net.places[i % 2].mood = NET_LISTENS;
    }
}

/* Any number of attempts would meet the same. */
A_PLAY(where_no_host_of_the_url_is_a_server_every_wait_ends)
{
    cluster_set(s);
    s->net.places[0].stranger = s->net.places[1].stranger = hl_words_http;
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL));
    struct handle *a = asking(p, "a", "stock", NULL);
    HOLDS(s, run_until_told(s, 1000));
    TELLS(s, "a:PROTOCOL");
    SAME(s, s->net.places[0].tried + s->net.places[1].tried, 2);
    HOLDS(s, strstr(a->detail, "it answers as an HTTP server"));
    s->net.places[0].stranger = NULL;
    run_ms(s, 2000);
    acquire(a, 5000);
    TELLS_IN(s, 5000, "a:OK");
}

GIVEN(who_waits_is_told_when_its_server_refuses_the_login, cluster_begin(s))
{
    store_take(store_at(s, 1), cluster_name(1, 0), "another", 600000);
    asking(p, "a", cluster_name(1, 0), NULL);
    TELLS_IN(s, 100, "a:WAITING");
    PLAN(s, .on = "CLIENT", .at = store_at(s, 1), .error = "NOAUTH Authentication required.", .times = PLAN_ALWAYS);
    net_reset_at(&s->net, store_at(s, 1), NET_ALL);
    TELLS_IN(s, 500, "a:DENIED");
}

/* The server that was asked has lost sight of a part of the cluster. */
A_PLAY(a_slot_that_one_server_gives_to_nobody_is_asked_for_at_another)
{
    cluster_set(s);
    sim_store_give_slot(s->store.core, cluster_slot(cluster_name(1, 0)), SIM_NOBODY);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = "redis+cluster://127.0.0.1"));
    asking(p, "a", cluster_name(1, 0), NULL);
    TELLS_IN(s, 3000, "a:OK");
    SAME(s, client_lines(p, formatted("127.0.0.1:6379 names no server for 1 hash slots, the first is %u: locks there have to wait",
                                      cluster_slot(cluster_name(1, 0)))), 1);
    SAME(s, client_lines(p, "the cluster: connected"), 1);
}

/* What another lock of its slot found out. */
GIVEN(a_hold_is_verified_as_soon_as_its_slot_is_known_to_have_moved, cluster_begin(s))
{
    const char *name = cluster_name(1, 0), *other = formatted("{%s}", name);
    held(p, "a", name, NULL);
    held(p, "b", cluster_name(2, 0), NULL); /* the next server is connected */
    cluster_move(s, name, 1, 2);
    asking(p, "c", other, NULL);
    TELLS_IN(s, 5, "c:OK");
    SAME(s, store_count(store_at(s, 2), "renew"), 1);
}

/* Whichever is tried first: one of them is another server by now. */
A_PLAY(a_url_that_names_a_server_of_no_cluster_leads_to_the_others)
{
    struct client *p;
    cluster_set(s);
    PLAN(s, .on = "CLUSTER SLOTS", .at = &s->store, .error = "ERR This instance has cluster support disabled", .times = PLAN_ALWAYS);
    for (int i = 0; i < 10; i++) {
        p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL));
        run_ms(s, 1000);
        HOLDS(s, hilock_client_is_connected(p->client));
        SAME(s, client_lines(p, "returned no slot table"), 0);
        client_abandon(p);
    }
}

/* Nobody served it when the table was made, and nothing else is asked. */
A_PLAY(a_slot_that_was_missing_is_asked_for_until_somebody_serves_it)
{
    cluster_set(s);
    cluster_serve(s, cluster_slot(cluster_name(1, 0)), SIM_NOBODY);
    struct client *p = cluster_connect(s);
    run_ms(s, 1000);
    SAME(s, asked(s, "CLUSTER SLOTS") + store_count(store_at(s, 1), "CLUSTER SLOTS"), 1);
    struct handle *a = cluster_handle(p, "a", 1);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 1500);
    SAME(s, client_lines(p, formatted("for 1 hash slots, the first is %u", cluster_slot(cluster_name(1, 0)))), 1);
    fixture_hush(s);
    cluster_serve(s, cluster_slot(cluster_name(1, 0)), 2);
    TELLS_IN(s, 1000, "a:OK");
    SAME(s, client_lines(p, "the cluster: connected"), 1);
}

static void date_alike(struct sim_map *map)
{
    for (unsigned i = 0; i < map->count; i++)
        map->nodes[i].epoch = 7;
}

/* As in a cluster that was set up by hand, or is taken for one. Two slots have moved; the first error shows it of both. */
A_PLAY(what_has_moved_between_servers_of_one_epoch_is_believed)
{
    cluster_set(s);
    cluster_change(s, date_alike);
    struct client *p = cluster_connect(s);
    const char *one = cluster_name(0, 0), *two = cluster_name(0, 1);
    cluster_serve(s, cluster_slot(one), 1);
    cluster_serve(s, cluster_slot(two), 1);
    asking(p, "a", one, NULL);
    run_ms(s, 1000);
    store_forget(&s->store);
    asking(p, "b", two, NULL);
    TELLS_IN(s, 10, "a:OK b:OK");
    SAME(s, asked(s, "mutex_acquire"), 0);
    SAME(s, counts_of(p).disconnects, 0);
}

static void forget_own_host(struct sim_map *map) { map->nodes[map->self].address.host[0] = '\0'; }

/* A server that was never told its own address answers without it. */
A_PLAY(a_server_that_names_no_host_for_itself_is_where_it_was_asked)
{
    cluster_set(s);
    cluster_change(s, forget_own_host);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = "redis+cluster://127.0.0.1"));
    for (unsigned at = 0; at < CLUSTER_MASTERS; at++)
        asking(p, "a", cluster_name(at, 0), NULL);
    TELLS_IN(s, 100, "a:OK a:OK a:OK");
}

/* It has nothing to do with the place of a key. */
GIVEN(another_error_of_a_server_is_the_answer, cluster_begin(s))
{
    PLAN(s, .on = "mutex_acquire", .error = "ERR whatever");
    acquire(cluster_handle(p, "a", 0), HILOCK_FOREVER);
    TELLS_IN(s, 5, "a:SERVER");
}

/* The request itself is answered by the server that has the slot. */
GIVEN(a_refused_ASKING_is_reported, cluster_begin(s))
{
    const char *name = cluster_name(0, 0);
    cluster_begin_move(s, cluster_slot(name), 0, 1);
    PLAN(s, .on = "ASKING", .error = "NOPERM User x has no permissions to run the 'asking' command");
    asking(p, "a", name, NULL);
    run_ms(s, 50);
    HOLDS(s, client_lines(p, "ASKING"));
}

/* No attempt follows at a node that nobody uses; so none could take the refusal back. */
A_PLAY(a_node_that_comes_to_rest_forgets_the_refused_login)
{
    cluster_set(s);
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        sim_store_set_password(store_at(s, i)->core, FIXTURE_SECRET);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL, .password = FIXTURE_SECRET));
    struct handle *a = held(p, "a", cluster_name(1, 0), NULL);
    held(p, "b", cluster_name(0, 0), NULL); /* else it were the last link of all */
    release_quietly(a);
    struct plan *refused = PLAN(s, .on = "AUTH", .at = store_at(s, 1), .error = "WRONGPASS", .times = PLAN_ALWAYS);
    net_reset(&s->net, NULL, NET_ALL);
    unheard_ms(s, 100000);
    HOLDS(s, refused->met);
    SAME(s, links_to(s, 1), 0);
    plan_end(refused);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 1000, "a:OK");
}
