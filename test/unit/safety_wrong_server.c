/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that lead elsewhere are left, whatever shows it. */
#include "safety.h"
#include "stage.h"

static struct client *by_name(struct fixture *s)
{
    fixture_server(s, "10.0.0.1:6379");
    fixture_server(s, "10.0.0.2:6379");
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis://locks.example"));
    p->loop.name = (struct world_name){.takes_us = 1000, .addresses = {"10.0.0.1"}};
    run_ms(s, 100);
    store_restart(store_at(s, 2), 1); /* another run */
    return p;
}

static void is_left(struct fixture *s, struct client *p, const char *error)
{
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 1), .error = error, .times = PLAN_ALWAYS);
    asking(p, "a", "stock", NULL);
    run_ms(s, 10); /* its link for subscriptions is there */
    p->loop.name.addresses[0] = "10.0.0.2";
    TELLS_IN(s, 10000, "a:OK");
}

SAFETY_GIVEN(UNREADY_WAITED_FOR, a_server_that_does_not_end_to_load_is_left, "a:OK", by_name(s))
{
    is_left(s, p, "LOADING Redis is loading the dataset in memory");
}

SAFETY_GIVEN(MASTERDOWN_WAITED_FOR, a_replica_whose_master_stays_down_is_left, "a:OK", by_name(s))
{
    is_left(s, p, "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.");
}

/* Also the link for requests that replicas confirm, and in the same moment: nothing has to compare it first. */
SAFETY_GIVEN(CONFIRM_LINK_LEFT_BEHIND, all_links_of_a_node_are_left, "counts_of(p).links_apart == 0", by_name(s))
{
    store_at(s, 1)->replicas = 1;
    asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.replicas = 1, .lease_ms = 9000));
    TELLS_IN(s, 10, "a:OK");
    store_copy(store_at(s, 2), store_at(s, 1));
    sim_store_set_replica(store_at(s, 1)->core, 1);
    p->loop.name.addresses[0] = "10.0.0.2";
    run_ms(s, 6000);
    SAME(s, counts_of(p).server_changes, 1);
    SAME(s, counts_of(p).links_apart, 0);
}

SAFETY_GIVEN(LINKS_APART_IGNORED, commands_and_subscriptions_are_at_one_server,
             "store_listeners(store_at(s, 2), 'redisson_lock__channel:{stock}') == 1", by_name(s))
{
    store_take(store_at(s, 1), "stock", "another", 60000);
    store_take(store_at(s, 2), "stock", "another", 60000);
    asking(p, "a", "stock", NULL);
    run_ms(s, 1000);
    SAME(s, store_listeners(store_at(s, 1), "redisson_lock__channel:{stock}"), 1);
    p->loop.name.addresses[0] = "10.0.0.2";
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 1000);
    SAME(s, store_listeners(store_at(s, 2), "redisson_lock__channel:{stock}"), 1);
    SAME(s, counts_of(p).links_apart, 1);
    HOLDS(s, client_lines(p, "its link for subscriptions leads to another server"));
}

/* In a cluster another server has the address now, and serves the same slots. */
SAFETY(MYSELF_NOT_READ, commands_and_subscriptions_are_at_one_server_of_a_cluster,
       "store_shard_listeners(new, channel) == 1")
{
    static const char channel[] = "redisson_lock__channel:{k}";
    struct client *p = cluster_begin(s);
    PLAN(s, .on = "INFO", .error = "NOPERM no", .times = PLAN_ALWAYS); /* that would tell it, too */
    struct store *old = store_at(s, cluster_slot("k") / (SIM_SLOTS / CLUSTER_MASTERS + 1)),
                 *new = fixture_server(s, "10.0.0.9:6379");
    struct sim_map map = *sim_store_map(old->core);
    store_take(old, "k", "another", 60000);
    asking(p, "a", "k", NULL);
    run_ms(s, 1000);
    SAME(s, store_shard_listeners(old, channel), 1);
    map.nodes[map.count] = map.nodes[map.self];
    map.nodes[map.count].master = map.count;
    for (unsigned slot = 0; slot < SIM_SLOTS; slot++)
        map.owners[slot] = map.owners[slot] == map.self + 1 ? (uint8_t)(map.count + 1) : map.owners[slot];
    unsigned place = map.self;
    map.self = map.count++;
    sim_store_join(new->core, &map);
    store_copy(new, old);
    s->net.places[place].store = new;
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 1000);
    SAME(s, store_shard_listeners(new, channel), 1);
    SAME(s, store_shard_listeners(old, channel), 0);
    SAME(s, counts_of(p).links_apart, 1);
}

SAFETY(MOVED_TO_ITSELF_BELIEVED, an_address_that_leads_to_another_server_is_reached_anew, "a:OK")
{
    struct client *p = cluster_begin(s);
    const char *name = cluster_name(1, 0);
    release_quietly(held(p, "b", name, NULL));
    run_ms(s, 5);
    struct store *old = store_at(s, 1), *new = fixture_server(s, "10.0.0.9:6379");
    struct sim_map map = *sim_store_map(old->core);
    sim_store_join(new->core, &map);
    store_restart(new, 1);
    /* it is a server without slots now, and names the address where the other one is */
    map.nodes[map.count] = map.nodes[1];
    map.nodes[map.count].master = map.count;
    map.self = map.count++;
    sim_store_join(old->core, &map);
    s->net.places[1].store = new;
    asking(p, "a", name, NULL);
    TELLS_IN(s, 200, "a:OK");
}

/* An outage does not end a wait. */
SAFETY(REDIRECTIONS_END_A_WAIT, servers_that_send_requests_to_each_other_end_no_wait,
       "nothing is reported")
{
    cluster_set(s);
    const char *name = cluster_name(1, 0);
    unsigned slot = cluster_slot(name);
    sim_store_give_slot(store_at(s, 1)->core, slot, 2);
    sim_store_give_slot(store_at(s, 2)->core, slot, 1);
    asking(cluster_connect(s), "a", name, NULL);
    TELLS_IN(s, 60000, "");
    cluster_serve(s, slot, 1);
    TELLS_IN(s, 5000, "a:OK");
}
