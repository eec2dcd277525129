/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that lead elsewhere: noticed, left, and the right server found; within bounds when there is none. */
#include "play.h"
#include "stage.h"

static unsigned links_to(const struct store *store)
{
    const struct store_peer *peer;
    unsigned count = 0;
    TAILQ_FOREACH(peer, &store->peers, entry)
        count++;
    return count;
}

struct pair { struct store *old, *new; struct net_place *old_place, *new_place; };

/* Two servers, of which only the first is in the name. */
static struct pair pair_set(struct fixture *s)
{
    struct pair pair = {fixture_server(s, "10.0.0.1:6379"), fixture_server(s, "10.0.0.2:6379"), NULL, NULL};
    pair.old_place = &s->net.places[1];
    pair.new_place = &s->net.places[2];
    run_ms(s, 7);
    store_restart(pair.new, 1); /* another run */
    return pair;
}

static struct client *by_name(struct fixture *s, const char *first, const char *second, const char *third)
{
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis://locks.example"));
    p->loop.name = (struct world_name){.takes_us = 1000, .addresses = {first, second, third}};
    run_ms(s, 500);
    fixture_hush(s);
    return p;
}

static void leads_to(struct client *p, const char *address) { p->loop.name = (struct world_name){.takes_us = 1000, .addresses = {address}}; }

static void demote(struct pair *pair)
{
    store_copy(pair->new, pair->old);
    sim_store_set_replica(pair->old->core, 1);
}

A_PLAY(a_name_that_moved_takes_holds_and_waiters_along)
{
    struct pair pair = pair_set(s);
    struct client *p = by_name(s, "10.0.0.1", NULL, NULL), *q = by_name(s, "10.0.0.1", NULL, NULL);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    asking(q, "b", "stock", NULL);
    TELLS_IN(s, 100, "b:WAITING");
    run_ms(s, 4000);
    demote(&pair);
    leads_to(p, "10.0.0.2");
    leads_to(q, "10.0.0.2");
    p->tells = 1;
    run_ms(s, 6000); /* two renewals */
    TELLS(s, "down MOVED up");
    TEXT(s, p->event_node, "locks.example:6379");
    HOLDS(s, strstr(p->log, "locks.example:6379 now leads to another server: holds are verified there"));
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 5000);
    SAME(s, links_to(pair.old), 0);
    SAME(s, links_to(pair.new), 4);
    SAME(s, counts_of(p).server_changes, 1);
    SAME(s, store_count(pair.old, "renew"), 2); /* one that was good, one that showed it */
    release(a);
    TELLS_IN(s, 20, "b:OK a:released");
}

/* Of several addresses the first is a replica. */
A_PLAY(the_next_address_is_tried)
{
    struct pair pair = pair_set(s);
    sim_store_set_replica(pair.old->core, 1);
    struct client *p = by_name(s, "10.0.0.1", "10.0.0.2", "10.0.0.9");
    struct handle *a = handle_new(p, "a", "stock", NULL);
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 5, "a:OK");
    SAME(s, links_to(pair.old), 0);
    SAME(s, links_to(pair.new), 2); /* subscriptions go where commands go */
    SAME(s, pair.old_place->tried, 1);
    SAME(s, counts_of(p).links_apart, 0);
    net_reset(&s->net, &p->loop, NET_ALL);
    run_ms(s, 200);
    SAME(s, links_to(pair.new), 2);
    SAME(s, pair.old_place->tried, 1);
    demote(&(struct pair){.old = pair.new, .new = pair.old});
    sim_store_set_replica(pair.old->core, 0);
    release(a);
    TELLS_IN(s, 500, "a:released");
    SAME(s, links_to(pair.old), 2);
}

/* Before that the first address was a replica, and now the second is. */
A_PLAY(links_that_were_left_before_a_good_one_do_not_count)
{
    struct pair pair = pair_set(s);
    sim_store_set_replica(pair.old->core, 1);
    struct client *p = by_name(s, "10.0.0.1", "10.0.0.2", NULL);
    struct handle *a = held(p, "a", "stock", NULL);
    release_quietly(a);
    run_ms(s, 100);
    demote(&(struct pair){.old = pair.new, .new = pair.old});
    sim_store_set_replica(pair.old->core, 0);
    net_reset(&s->net, &p->loop, NET_ALL);
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 500, "a:OK");
}

/* The name lists its addresses in another order each time. */
A_PLAY(an_address_that_was_left_is_not_begun_with)
{
    struct pair pair = pair_set(s);
    struct client *p = by_name(s, "10.0.0.1", "10.0.0.2", NULL);
    struct handle *a = held(p, "a", "stock", NULL);
    release_quietly(a);
    run_ms(s, 10);
    demote(&pair);
    unsigned tried = pair.old_place->tried;
    p->loop.name = (struct world_name){.takes_us = 1000, .addresses = {"10.0.0.2", "10.0.0.1"}};
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 500, "a:OK");
    SAME(s, pair.old_place->tried, tried);
    SAME(s, links_to(pair.new), 2);
}

/* It is sent again once for each address that may be another server. */
WITH_CLIENT(a_write_that_is_refused_as_READONLY_is_sent_again_within_bounds)
{
    struct plan *refused = PLAN(s, .on = "mutex_acquire", .error = "READONLY You can't write against a read only replica.",
                                .times = PLAN_ALWAYS);
    acquire(handle_new(p, "a", "stock", NULL), HILOCK_TRY);
    TELLS_IN(s, 500, "a:UNWRITABLE");
    SAME(s, refused->met, 2);
}

/* Its link for commands would have stayed for as long as it works. */
A_PLAY(a_stream_that_reaches_another_server_takes_the_commands_along)
{
    struct pair pair = pair_set(s);
    struct client *p = by_name(s, "10.0.0.1", NULL, NULL);
    handle_new(p, "x", "x", NULL); /* begins its subscription link */
    run_ms(s, 100);
    SAME(s, links_to(pair.old), 2);
    leads_to(p, "10.0.0.2");
    net_reset(&s->net, NULL, NET_STREAMS);
    run_ms(s, 500);
    SAME(s, links_to(pair.old), 0);
    SAME(s, links_to(pair.new), 2);
    SAME(s, counts_of(p).links_apart, 1);
    HOLDS(s, client_lines(p, "its link for commands leads to another server"));
}

/* A user who may not ask INFO: the first write shows it. */
A_PLAY(without_the_right_to_INFO_a_write_shows_it)
{
    struct pair pair = pair_set(s);
    sim_store_set_replica(pair.old->core, 1);
    PLAN(s, .on = "INFO", .error = "NOPERM no", .times = PLAN_ALWAYS);
    struct client *p = by_name(s, "10.0.0.1", "10.0.0.2", NULL);
    struct handle *a = handle_new(p, "a", "stock", NULL);
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 500, "a:OK");
    SAME(s, store_count(pair.old, "mutex_acquire"), 1);
    SAME(s, links_to(pair.new), 2);
}

WITH_CLIENT(a_server_that_loads_for_five_seconds_is_left)
{
    struct handle *a = handle_new(p, "a", "stock", NULL); /* begins its subscription link */
    PLAN(s, .on = "mutex_acquire", .error = "LOADING Redis is loading the dataset in memory", .times = PLAN_ALWAYS);
    run_ms(s, 10);
    uint64_t begun_us = fixture_us(s);
    unsigned tried = s->place->tried;
    acquire(a, HILOCK_TRY);
    run_to(s, begun_us + 4999999);
    acquire(a, HILOCK_TRY);
    run_us(s, 1);
    acquire(handle_new(p, "b", "other", NULL), HILOCK_TRY);
    run_us(s, 199);
    SAME(s, s->net.links, 2);
    run_us(s, 1);
    SAME(s, s->net.links, 0);
    run_ms(s, 100);
    SAME(s, s->place->tried, tried + 2);
    TELLS(s, "a:UNWRITABLE a:UNWRITABLE b:UNWRITABLE");
}

/* Only a server that goes on loading is left. */
WITH_CLIENT(a_server_that_refuses_for_long_is_not_left)
{
    PLAN(s, .on = "mutex_acquire", .error = "OOM command not allowed when used memory > 'maxmemory'.", .times = PLAN_ALWAYS);
    acquiring(handle_new(p, "a", "stock", NULL), 20000);
    run_ms(s, 100); /* both links are there */
    unsigned tried = s->place->tried;
    TELLS_IN(s, 20001, "a:UNWRITABLE");
    SAME(s, s->place->tried, tried);
}

A_PLAY(where_every_address_is_a_replica_a_try_ends_and_a_wait_goes_on)
{
    struct pair pair = pair_set(s);
    sim_store_set_replica(pair.old->core, 1);
    sim_store_set_replica(pair.new->core, 1);
    struct client *p = by_name(s, "10.0.0.1", "10.0.0.2", NULL);
    struct handle *a = handle_new(p, "a", "stock", NULL), *b = asking(p, "b", "other", NULL);
    acquire(a, 3000);
    TELLS_IN(s, 3000, "a:UNWRITABLE");
    HOLDS(s, strstr(a->detail, "not a master: its role is slave"));
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 3000, "a:UNWRITABLE");
    run_ms(s, 60000);
    HOLDS(s, pair.old_place->tried + pair.new_place->tried < 160); /* two links */
    sim_store_set_replica(pair.new->core, 0);
    TELLS_IN(s, 5000, "b:OK");
    HOLDS(s, is_held(b));
}

/* A replica at a plain address stays what it was, and so does what is told of it. */
A_PLAY(a_replica_without_a_name_is_UNWRITABLE)
{
    sim_store_set_replica(s->store.core, 1);
    struct client *p = fixture_open(s, NULL);
    struct handle *a = handle_new(p, "a", "stock", NULL);
    acquire(a, 1000);
    TELLS_IN(s, 1000, "a:UNWRITABLE");
    run_ms(s, 60000);
    HOLDS(s, s->place->tried < 80);
    sim_store_set_replica(s->store.core, 0);
    acquire(a, 5000);
    TELLS_IN(s, 5000, "a:OK");
}

/* One attempt at its only address has shown it. */
A_PLAY(a_try_at_a_replica_ends_with_the_first_attempt)
{
    sim_store_set_replica(s->store.core, 1);
    acquire(handle_new(fixture_open(s, NULL), "a", "stock", NULL), HILOCK_TRY);
    TELLS_IN(s, 5, "a:UNWRITABLE");
}

/* A link that worked for more than ten seconds was good, though it led to the wrong server in the end. */
A_PLAY(links_that_were_left_soon_are_made_again_as_slowly_as_before)
{
    for (unsigned is_longer = 0; is_longer < 2; is_longer++) {
        s->place->mood = NET_REFUSES;
        struct client *p = fixture_open(s, NULL);
        run_ms(s, 3000);
        s->place->mood = NET_LISTENS;
        while (!asked(s, "CLIENT"))
            run_us(s, 100);
        uint64_t begun_us = asked_at_us(s, "CLIENT", 0) + s->net.back_us;
        PLAN(s, .on = "mutex_acquire", .error = "READONLY You can't write against a read only replica.");
        struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.wake = HILOCK_WAKE_POLL));
        run_to(s, begun_us + 10000000 + is_longer - s->net.there_us - s->net.back_us);
        acquire(a, HILOCK_FOREVER);
        TELLS_IN(s, 60, is_longer ? "a:OK" : "");
        TELLS_IN(s, 5000, is_longer ? "" : "a:OK");
        client_abandon(p);
        store_clear(&s->store);
        store_forget(&s->store);
    }
}

/* It was away when the others were left, so it had no part in that, and is tried again as soon as after any good link. */
WITH_CLIENT(a_link_that_was_away_when_others_were_left_is_not_blamed)
{
    struct handle *a = handle_new(p, "a", "stock", NULL); /* begins its subscription link */
    run_ms(s, 10);
    s->place->mood = NET_REFUSES;
    net_reset(&s->net, NULL, NET_STREAMS);
    run_ms(s, 3000);
    s->place->mood = NET_LISTENS;
    PLAN(s, .on = "mutex_acquire", .error = "READONLY You can't write against a read only replica.");
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 4000, "a:OK");
    SAME(s, links_to(&s->store), 2);
    net_reset(&s->net, NULL, NET_STREAMS);
    run_ms(s, 60);
    SAME(s, links_to(&s->store), 2);
}

/* A switch in front of two servers that leads to them in turn: pauses grow, and it is told. */
A_PLAY(links_that_lead_to_two_servers_in_turn_are_not_made_without_a_pause)
{
    struct pair pair = pair_set(s);
    struct client *p = by_name(s, "10.0.0.1", NULL, NULL);
    handle_new(p, "a", "stock", NULL);
    for (unsigned i = 0; i < 60000; i++) {
        pair.old_place->store = pair.old_place->tried % 2 ? pair.old : pair.new;
        run_ms(s, 1);
    }
    HOLDS(s, pair.old_place->tried < 150);
    pair.old_place->store = pair.new;
    net_reset(&s->net, &p->loop, NET_ALL);
    run_ms(s, 5000);
    SAME(s, links_to(pair.new), 2);
}

A_PLAY(a_server_that_closes_idle_links_is_back_soon)
{
    struct client *p = the_client(s);
    struct handle *a = handle_new(p, "a", "stock", NULL);
    run_ms(s, 500);
    for (unsigned i = 0; i < 20; i++) {
        net_reset(&s->net, &p->loop, NET_ALL);
        run_ms(s, 300);
    }
    net_reset(&s->net, &p->loop, NET_ALL);
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 60, "a:OK");
}

/* ---- a cluster ---- */

/* Another server is at the address of one now, and has its keys; the old one knows that address alone. */
A_PLAY(a_server_of_a_cluster_that_was_replaced_behind_its_address_is_left)
{
    struct client *p = cluster_begin(s);
    const char *name = cluster_name(1, 0);
    struct handle *a = held(p, "a", name, HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    struct sim_map map = *sim_store_map(store_at(s, 1)->core);
    struct store *new = fixture_server(s, "10.0.0.9:6379"), *old = store_at(s, 1);
    run_ms(s, 3);
    store_copy(new, old);
    store_restart(new, 1);
    map.self = map.count;
    map.nodes[map.count] = map.nodes[1];
    map.nodes[map.count].master = map.count;
    map.nodes[map.count].epoch = 9;
    map.count++;
    for (unsigned slot = 0; slot < SIM_SLOTS; slot++)
        map.owners[slot] = map.owners[slot] == 2 ? (uint8_t)map.count : map.owners[slot];
    sim_store_join(new->core, &map);
    map.self = 1;
    sim_store_join(old->core, &map);
    s->net.places[1].store = new;
    run_ms(s, 5000);
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 5000);
    SAME(s, links_to(old), 0);
    HOLDS(s, store_count(old, "renew") < 3);
    struct handle *b = asking(p, "b", cluster_name(1, 1), NULL);
    TELLS_IN(s, 100, "b:OK");
    HOLDS(s, is_held(b) && links_to(new) == 2);
}

/* An outage does not end a wait. */
A_PLAY(servers_of_a_cluster_that_send_requests_to_each_other_end_no_wait)
{
    cluster_set(s);
    const char *name = cluster_name(1, 0);
    unsigned slot = cluster_slot(name);
    sim_store_give_slot(store_at(s, 1)->core, slot, 2);
    sim_store_give_slot(store_at(s, 2)->core, slot, 1);
    struct client *p = cluster_connect(s);
    struct handle *a = asking(p, "a", name, NULL), *b = handle_new(p, "b", cluster_name(1, 0), NULL);
    TELLS_IN(s, 60000, "");
    HOLDS(s, !is_held(a));
    acquire(b, HILOCK_TRY);
    run_ms(s, 60000);
    TELLS(s, "b:UNWRITABLE");
    HOLDS(s, strstr(b->detail, ": 100 redirections, the last: MOVED "));
    cluster_serve(s, slot, 1);
    TELLS_IN(s, 5000, "a:OK");
}
