/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of the locks changes: which one is believed, and what is repeated. */
#include "safety.h"
#include "stage.h"

SAFETY(STALE_SENTINEL_BELIEVED, a_sentinel_that_was_away_leads_nobody_back, "a:OK")
{
    sentinels_set(s);
    s->net.places[FIRST_SENTINEL + 2].mood = NET_REFUSES;
    struct handle *a = handle_new(sentinels_connect(s), "a", "stock", NULL);
    sentinels_fail_over(s, 2, 1, 0);
    run_ms(s, 100);
    s->net.places[FIRST_SENTINEL + 2].mood = NET_LISTENS;
    run_ms(s, 20000);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 100, "a:OK");
    HOLDS(s, is_at(replica_of(s), a));
}

SAFETY(READONLY_IGNORED, a_master_that_is_read_only_is_left, "a:OK")
{
    struct handle *a = handle_new(sentinels_begin(s), "a", "stock", NULL);
    sentinels_fail_over(s, 3, 0, 1);
    acquire(a, 2000);
    TELLS_IN(s, 3000, "a:OK");
    HOLDS(s, is_at(replica_of(s), a));
}

SAFETY(ROLE_IGNORED, a_server_that_is_no_master_is_not_asked, "!hilock_client_is_connected(p->client)")
{
    sentinels_set(s);
    sim_store_set_replica(s->store.core, 1);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = SENTINEL_URL));
    run_ms(s, 3000);
    HOLDS(s, !hilock_client_is_connected(p->client));
    sentinels_fail_over(s, 3, 0, 1);
    run_ms(s, 3000);
    HOLDS(s, hilock_client_is_connected(p->client));
}

/* The replica never gets it. */
static struct handle *release_that_is_lost(struct fixture *s)
{
    struct handle *a = held(sentinels_begin(s), "a", "stock", NULL);
    store_copy(replica_of(s), &s->store);
    release(a);
    run_ms(s, 10);
    return a;
}

/* The other one took over without the release, then this one again, and no sentinel reported the first switch. */
SAFETY(RETURN_UNNOTICED, a_release_that_was_lost_is_repeated_where_it_was_acknowledged, "a:released b:OK")
{
    struct handle *b = handle_new(release_that_is_lost(s)->client, "b", "stock", NULL);
    store_copy(&s->store, replica_of(s));
    store_switch(sentinel_at(s, 0), "127.0.0.1", 6379, 3);
    run_ms(s, 100);
    acquire(b, HILOCK_FOREVER);
    TELLS_IN(s, 10, "a:released b:OK");
}

/* It has too few replicas to write when it takes over. */
ALSO(LOST_RELEASES_IGNORED, a_lost_release_is_repeated_until_the_new_master_takes_it, "nothing is reported")
SAFETY(LOST_RELEASES_SAID_ONCE, a_lost_release_is_repeated_until_the_new_master_takes_it, "nothing is reported")
{
    struct handle *a = release_that_is_lost(s);
    struct plan *refused;
    refused = PLAN(s, .on = "mutex_release", .at = replica_of(s), .times = PLAN_ALWAYS,
                   .error = "NOREPLICAS Not enough good replicas to write.");
    s->memory.is_out = s->memory.spares_links = 1;
    sentinels_fail_over(s, 3, 1, 1);
    run_ms(s, 500);
    s->memory.is_out = 0;
    net_reset(&s->net, NULL, NET_ALL); /* there was no memory for it: it is said when a link comes up again */
    run_ms(s, 2000);
    HOLDS(s, is_at(replica_of(s), a));
    plan_end(refused);
    TELLS_IN(s, 500, "a:released");
    TEXT(s, store_holder(replica_of(s), "stock"), "");
    HOLDS(s, refused->met > 1);
}

/* The link is lost already when the process, which stood still, asks over it; the next master is under no guard. */
SAFETY(GUARD_UNANSWERED, what_the_guard_refused_is_asked_for_at_the_next_master, "a:OK")
{
    sentinels_set(s);
    sim_store_set_started(replica_of(s)->core, 1);
    store_restart(&s->store, 1);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = SENTINEL_URL, .restart_guard_ms = 30000));
    struct handle *a = handle_new(p, "a", "stock", NULL);
    world_freeze(&p->loop.lane);
    net_reset_at(&s->net, s->place->store, NET_ALL);
    run_ms(s, 1);
    acquire(a, HILOCK_FOREVER);
    sentinels_fail_over(s, 3, 1, 0);
    run_ms(s, 10);
    world_thaw(&s->world, &p->loop.lane);
    TELLS_IN(s, 400, "a:OK");
    HOLDS(s, is_at(replica_of(s), a));
}

/* ---- a cluster ---- */

/* All of its keys are at the new place, or none was made yet: an ASK is followed once, and there it runs. */
SAFETY(ASK_WITHOUT_ASKING, an_ask_is_followed_behind_ASKING, "a:OK a:released")
{
    unsigned slot = cluster_slot(cluster_name(1, 0));
    struct client *p = cluster_begin(s);
    struct handle *a = cluster_handle(p, "a", 1);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 100);
    cluster_begin_move(s, slot, 1, 2);
    cluster_move_key(s, hilock_lock_name(a->lock), 1, 2);
    release(a);
    TELLS_IN(s, 100, "a:OK a:released");
    SAME(s, store_count(store_at(s, 2), "ASKING"), 1);
    SAME(s, client_lines(p, "ASKING"), 0);
}

SAFETY(MOVES_UNNOTICED, what_another_server_has_now_is_asked_for_there, "a->event.reason == HILOCK_REASON_TAKEN")
{
    struct client *p = cluster_begin(s);
    held(p, "x", cluster_name(2, 0), NULL);
    struct handle *a = handle_new(p, "a", cluster_name(1, 0), NULL);
    struct handle *b = handle_new(p, "b", cluster_name(1, 1), NULL);
    store_take(store_at(s, 1), hilock_lock_name(b->lock), "another", 600000);
    acquire(a, HILOCK_FOREVER);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 100);
    s->net.places[1].mood = NET_REFUSES;
    net_reset(&s->net, NULL, NET_ALL);
    cluster_take_over(s, 1, 2, 0);
    run_ms(s, 4000);
    SAME(s, a->event.reason, HILOCK_REASON_TAKEN);
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_HELD);
}

/* a has the lock at server 1, which took over from server 2, whose epoch was higher than its own. Then nobody answers but server 2,
 * which goes on as if nothing had been, and server 0, which has not heard yet. */
SAFETY(OLD_EPOCH_BELIEVED, a_server_that_was_replaced_gets_nothing_back_by_anybodys_word, "a:released")
{
    struct handle *a = cluster_handle(cluster_begin(s), "a", 2);
    const struct sim_map old = *sim_store_map(store_at(s, 0)->core);
    s->net.places[2].mood = s->net.places[0].mood = NET_REFUSES;
    net_reset(&s->net, NULL, NET_ALL);
    cluster_take_over(s, 2, 1, 0);
    acquire(a, HILOCK_TRY); /* with no channel there */
    TELLS_IN(s, 3000, "a:OK");
    sim_store_join(store_at(s, 0)->core, &old);
    s->net.places[1].mood = NET_REFUSES;
    s->net.places[2].mood = s->net.places[0].mood = NET_LISTENS;
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 900);
    s->net.places[1].mood = NET_LISTENS;
    HOLDS(s, s->net.places[2].tried > 2 && store_count(store_at(s, 0), "CLUSTER SLOTS") > 0);
    run_ms(s, 4000);
    release(a);
    TELLS_IN(s, 1000, "a:released");
    SAME(s, store_count(store_at(s, 2), "mutex_release"), 0);
}

/* It has the one at the first server, and asks for the other, when the first one's slots go to the third. */
SAFETY(MULTI_UNVERIFIED_AFTER_MOVE, a_multi_is_not_granted_with_a_name_that_has_moved,
       "hilock_lock_state(m->lock) == HILOCK_STATE_WAITING")
{
    static const char *names[3];
    cluster_set(s);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL, .command_timeout_ms = 10000));
    names[0] = cluster_name(0, 0);
    names[1] = cluster_name(1, 0);
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        held(p, "x", cluster_name(i, 3), NULL);
    struct handle *m = multi_new(p, "m", names, NULL);
    struct plan *slow = PLAN(s, .on = "mutex_acquire", .at = store_at(s, 1), .holds = 1);
    acquire(m, HILOCK_FOREVER);
    run_ms(s, 100);
    SAME(s, slow->met, 1);
    store_take(store_at(s, 2), names[0], "another", 600000);
    /* What it asked for before is not answered yet. */
    PLAN(s, .on = "renew", .at = store_at(s, 2), .holds = 1, .times = PLAN_ALWAYS);
    cluster_take_over(s, 0, 2, 1);
    const char *same_slot = formatted("{%s}", names[0]);
    asking(p, "y", same_slot, NULL); /* it finds out, with any server being asked for the other slots */
    unheard_ms(s, 2000);
    plan_let_go(&s->plans, slow);
    run_ms(s, 100);
    HOLDS(s, hilock_lock_state(m->lock) == HILOCK_STATE_WAITING);
}

/* It is stopped with a renewal in its handles, and goes on with it when another has its slots: that is not read any more. */
SAFETY(SILENCE_UNNOTICED, a_silent_server_is_asked_after, "store_count(store_at(s, 2), 'renew') == 1")
{
    cluster_set(s);
    struct handle *a = asking(cluster_connect(s), "a", cluster_name(1, 0), HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    run_ms(s, 1900);
    world_freeze(&store_at(s, 1)->lane);
    store_copy(store_at(s, 2), store_at(s, 1));
    cluster_take_over(s, 1, 2, 0);
    run_ms(s, 1500);
    SAME(s, store_count(store_at(s, 2), "renew"), 1);
    world_thaw(&s->world, &store_at(s, 1)->lane);
    run_ms(s, 100);
    SAME(s, store_count(store_at(s, 1), "renew"), 0);
    TELLS(s, "a:OK");
    BELIEVES(s, a, store_line(store_at(s, 2), "renew", -1)->at_us - s->net.there_us + 6000000 - 60000 - 7000);
}

/* Waiters have asked, and sleep on the answer: the message would come from a server that has stopped. */
SAFETY(SILENCE_UNASKED, a_silent_server_is_noticed_by_who_only_waits, "b:OK")
{
    struct handle *b = cluster_handle(cluster_begin(s), "b", 1);
    store_take(store_at(s, 1), hilock_lock_name(b->lock), "another", 600000);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 6000);
    for (unsigned requests = s->net.requests; s->net.requests == requests;)
        run_us(s, 100); /* a heartbeat: the next one is 2.4 s away at least */
    run_ms(s, 1);
    TELLS(s, "b:WAITING");
    world_freeze(&store_at(s, 1)->lane);
    cluster_take_over(s, 1, 2, 0);
    TELLS_IN(s, 2200, "b:OK");
    SAME(s, store_count(store_at(s, 2), "mutex_acquire"), 1);
    world_thaw(&s->world, &store_at(s, 1)->lane);
}

/* Another server had its slots meanwhile, without the release, and the client heard of neither change. */
SAFETY(SLOTS_BACK_UNNOTICED, a_server_that_has_its_slots_back_is_told_of_releases_again, "nothing is reported")
{
    cluster_set(s);
    cluster_take_over(s, 2, 0, 1); /* a replica from the beginning */
    struct handle *a = cluster_handle(cluster_connect(s), "a", 1);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    store_copy(store_at(s, 2), store_at(s, 1));
    release(a);
    run_ms(s, 10);
    cluster_take_over(s, 1, 2, 1);
    store_copy(store_at(s, 1), store_at(s, 2));
    cluster_take_over(s, 2, 1, 1);
    net_reset_at(&s->net, s->net.places[1].store, NET_ALL);
    run_ms(s, 2000);
    TEXT(s, store_holder(store_at(s, 1), hilock_lock_name(a->lock)), "");
}

/* It took over from the server to which that slot had moved. The client asks this one next, which has not heard of that. */
SAFETY(UNDATED_OWNER_OUSTED, a_server_that_has_a_slot_by_MOVED_keeps_it, "nothing is reported")
{
    cluster_set(s);
    cluster_take_over(s, 2, 0, 1); /* a replica from the beginning */
    struct client *p = cluster_connect(s);
    held(p, "x", cluster_name(1, 0), NULL);
    struct handle *a = held(p, "a", cluster_name(0, 0), NULL);
    release(a);
    run_ms(s, 10);
    cluster_move(s, hilock_lock_name(a->lock), 0, 1);
    store_copy(store_at(s, 2), store_at(s, 1));
    cluster_take_over(s, 1, 2, 0);
    size_t before = store_count(store_at(s, 1), "CLUSTER SLOTS");
    PLAN(s, .on = "CLUSTER NODES", .at = store_at(s, 0), .times = PLAN_ALWAYS, .error = "LOADING");
    acquire(a, HILOCK_TRY);
    run_ms(s, 1000);
    SAME(s, store_count(store_at(s, 1), "CLUSTER SLOTS"), before + 1);
    release(a);
    run_ms(s, 1000);
    TEXT(s, store_holder(store_at(s, 2), hilock_lock_name(a->lock)), "");
    SAME(s, store_count(store_at(s, 1), "mutex_release"), 0);
}
