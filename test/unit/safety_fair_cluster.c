/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue at a store that moves, or that another server takes over: what may be believed of its pushes, and what is left behind. */
#include "base/slot.h"
#include "safety.h"
#include "stage.h"

/* The servers' clocks differ. The heartbeat that the grant names went to the first of them, and the push is late. */
SAFETY(FAIR_BELIEVES_ELSEWHERE, a_push_about_another_server_is_confirmed_first,
       "(int64_t)hilock_lock_remaining_ms(b->lock) <= store_left_ms(store_at(s, 0), name)")
{
    const char *name = cluster_name(1, 0);
    cluster_set(s);
    struct client *q = cluster_connect(s);
    waits(q, "o", cluster_name(0, 0));
    struct handle *a = waits(cluster_connect(s), "a", name);
    struct handle *b = waits(q, "b", name);
    s->is_tampered = 1; /* a clock is set */
    world_clock_step(&store_at(s, 0)->clock, 80000);
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 0), .fate.there_us = 1500000);
    cluster_move(s, name, 1, 0);
    run_ms(s, 500);
    release_quietly(a);
    run_us(s, 150);
    frozen_ms(q, 100);
    run_ms(s, 1);
    HOLDS(s, (int64_t)hilock_lock_remaining_ms(b->lock) <= store_left_ms(store_at(s, 0), name));
    TELLS_IN(s, 1500, "b:OK");
}

ALSO(TAKEN_BACK_UNHEARD, the_channel_goes_where_its_slot_goes, "b:OK")
SAFETY(FAIR_CHANNEL_STAYS, the_channel_goes_where_its_slot_goes, "b:OK")
{
    const char *name = cluster_name(1, 0);
    cluster_set(s);
    struct handle *a = waits(cluster_connect(s), "a", name);
    waits(cluster_connect(s), "b", name);
    cluster_move(s, name, 1, 2);
    run_ms(s, 1000);
    release_quietly(a);
    TELLS_IN(s, 1, "b:OK");
    SAME(s, store_count(store_at(s, 1), "mutex_release"), 0);
}

/* The script that would take it out of the queue may not run before the move is over. */
SAFETY(FAIR_HALF_RELEASED, who_gives_up_amid_a_move_leaves_the_queue_after_it, "waiters_of(a) == 0")
{
    const char *name = cluster_name(1, 0);
    cluster_set(s);
    const char *token = formatted("hilock:token:{%s}", name);
    struct handle *a = waits(cluster_connect(s), "a", name);
    struct handle *b = waits(cluster_connect(s), "b", name);
    cluster_begin_move(s, cluster_slot(name), 1, 2);
    cluster_move_key(s, token, 1, 2);
    cancel(b);
    TELLS_IN(s, 500, "b:CANCELLED");
    cluster_move_lock(s, name, 1, 2);
    cluster_end_move(s, cluster_slot(name), 2);
    run_ms(s, 3000);
    SAME(s, waiters_of(a), 0);
}

/* A replica of 1 takes over that knows nothing of the grant: there `a` stands in the queue still. */
static struct handle *forgotten_by_a_failover(struct fixture *s, const char *name)
{
    store_take(store_at(s, 1), name, "x:9", 5000);
    struct handle *a = waits(cluster_connect(s), "a", name);
    run_ms(s, 1000);
    store_copy(store_at(s, 2), store_at(s, 1));
    TELLS_IN(s, 5000, "a:OK");
    s->is_tampered = 1;
    cluster_take_over(s, 1, 2, 1);
    return a;
}

/* What takes it out of the queue may not run before the move is over. */
ALSO(FAIR_FORGOTTEN_KEPT, who_held_leaves_that_queue_amid_a_move_too, "waiters_of(a) == 0")
SAFETY(FAIR_HALF_RELEASED, who_held_leaves_that_queue_amid_a_move_too, "waiters_of(a) == 0")
{
    const char *name = cluster_name(1, 0);
    cluster_set(s);
    const char *token = formatted("hilock:token:{%s}", name);
    struct handle *a = forgotten_by_a_failover(s, name);
    cluster_begin_move(s, cluster_slot(name), 2, 0);
    cluster_move_key(s, token, 2, 0);
    TELLS_IN(s, 11000, "a:LOST TAKEN");
    cluster_move_lock(s, name, 2, 0);
    cluster_end_move(s, cluster_slot(name), 0);
    run_ms(s, 5000);
    SAME(s, waiters_of(a), 0);
}

/* It is granted and notified, by hand. */
static void grant(struct fixture *s, unsigned at, const struct client *p, const char *name)
{
    char tag[HL_SLOT_TAG + 1];
    hl_slot_tag(cluster_slot(name), tag);
    const char *holder = formatted("%s:1", p->uuid);
    const char *channel = formatted("hilock:grant:%s:{%s}", p->uuid, tag);
    store_take(store_at(s, at), name, holder, 3000);
    const char *text = push_text(p, name, 1, 1, 5, store_token(store_at(s, at), name, holder));
    SAME(s, store_publish_to_shard(store_at(s, at), channel, text), 1);
}

/* The new server has the queue, and the holder, as they were before. */
SAFETY(FAIR_FORGOTTEN_KEPT, a_grant_that_a_failover_forgot_leaves_no_place_behind, "waiters_of(b) == 0")
{
    const char *name = cluster_name(1, 0);
    cluster_set(s);
    store_grant(store_at(s, 1), name, "x:9", 600000);
    struct client *p = cluster_connect(s);
    struct handle *b = waits(p, "b", name);
    store_copy(store_at(s, 2), store_at(s, 1));
    grant(s, 1, p, name);
    TELLS_IN(s, 1, "b:OK");
    cluster_take_over(s, 1, 2, 1);
    TELLS_IN(s, 1500, "b:LOST TAKEN");
    SAME(s, waiters_of(b), 0);
}
