/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the locks live changes: who is believed, and what is done over again. */
#include <stdio.h>

#include "cluster_stage.h"
#include "safety.h"
#include "sentinel_stage.h"

static void a_sentinel_that_was_away_leads_nobody_back(struct scene *s)
{
    struct stage stage;
    struct hand *a;
    stage_set(&stage, s);
    stage.places[2]->mood = NET_REFUSES;
    a = hand_new(stage_connect(&stage), "a", "stock", NULL);
    stage_fail_over(&stage, 2, 1, 0);
    run_ms(s, 100);
    stage.places[2]->mood = NET_LISTENS;
    run_ms(s, 20000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 100);
    TELLS(s, "a:OK");
    HOLDS(s, stage_is_at(stage.other, a));
}

/* It comes back with what it knew, and its link is lost before it has told how old that is. */
static void a_sentinel_that_told_no_epoch_leads_nobody_back(struct scene *s)
{
    struct stage stage;
    struct party *p;
    stage_set(&stage, s);
    stage.places[2]->mood = NET_REFUSES;
    p = scene_connect(s, HILOCK_CLIENT_OPTIONS(.url = STAGE_URL, .inflight_max = 1));
    run_ms(s, 10);
    stage_fail_over(&stage, 2, 1, 0);
    run_ms(s, 1000);
    p->tells = 1;
    stage.places[2]->mood = NET_LISTENS;
    PLAN(s, .on = "SENTINEL", .at = stage.sentinels[2], .act = PLAN_RESET_BEFORE);
    run_ms(s, 20000);
    HOLDS(s, store_count(stage.sentinels[2], "SENTINEL") > 2);
    TELLS(s, "");
    HOLDS(s, stage_is_at(stage.other, held(p, "a", "stock", NULL)));
}

static void a_master_that_is_read_only_is_left(struct scene *s)
{
    struct stage stage;
    struct hand *a;
    stage_set(&stage, s);
    a = hand_new(stage_connect(&stage), "a", "stock", NULL);
    stage_fail_over(&stage, 3, 0, 1);
    acquire(a, 2000);
    run_ms(s, 3000);
    TELLS(s, "a:OK");
    HOLDS(s, stage_is_at(stage.other, a));
}

static void a_server_that_is_no_master_is_not_asked(struct scene *s)
{
    struct stage stage;
    struct party *p;
    stage_set(&stage, s);
    sim_store_set_replica(s->store.core, 1);
    p = scene_open(s, HILOCK_CLIENT_OPTIONS(.url = STAGE_URL));
    run_ms(s, 3000);
    HOLDS(s, !hilock_client_is_connected(p->client));
    stage_fail_over(&stage, 3, 0, 1);
    run_ms(s, 3000);
    HOLDS(s, hilock_client_is_connected(p->client));
}

static void a_release_that_was_lost_is_repeated(struct scene *s)
{
    struct stage stage;
    struct party *p;
    struct hand *a, *b;
    stage_set(&stage, s);
    p = stage_connect(&stage);
    a = held(p, "a", "stock", NULL);
    b = hand_new(p, "b", "stock", NULL);
    store_copy(stage.other, &s->store);
    release(a);
    run_ms(s, 10);
    stage_fail_over(&stage, 3, 1, 1);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 100);
    TELLS(s, "a:released b:OK");
}

/* It has too few replicas to write when it takes over. */
static void a_lost_release_is_repeated_until_the_new_master_takes_it(struct scene *s)
{
    struct stage stage;
    struct party *p;
    struct hand *a;
    struct plan *refused;
    stage_set(&stage, s);
    p = stage_connect(&stage);
    a = held(p, "a", "stock", NULL);
    store_copy(stage.other, &s->store);
    release(a);
    run_ms(s, 10);
    refused = PLAN(s, .on = "mutex_release", .at = stage.other, .times = PLAN_ALWAYS, .act = PLAN_REFUSE, .error = "NOREPLICAS Not enough good replicas to write.");
    stage_fail_over(&stage, 3, 1, 1);
    run_ms(s, 2000);
    HOLDS(s, stage_is_at(stage.other, a));
    plan_end(refused);
    run_ms(s, 500);
    TELLS(s, "a:released");
    TEXT(s, store_holder(stage.other, "stock"), "");
    SAME(s, refused->met, 10);
}

/* The link is lost already when the process, which stood still, asks over it; the next master is under no guard. */
static void what_the_guard_refused_is_asked_for_at_the_next_master(struct scene *s)
{
    struct stage stage;
    struct party *p;
    struct hand *a;
    stage_set(&stage, s);
    sim_store_set_started(stage.other->core, 1);
    store_restart(&s->store, 1);
    p = scene_connect(s, HILOCK_CLIENT_OPTIONS(.url = STAGE_URL, .restart_guard_ms = 30000));
    a = hand_new(p, "a", "stock", NULL);
    world_freeze(&p->loop.lane);
    net_reset_at(&s->net, s->place);
    run_ms(s, 1);
    acquire(a, HILOCK_FOREVER);
    stage_fail_over(&stage, 3, 1, 0);
    run_ms(s, 10);
    world_thaw(&s->world, &p->loop.lane);
    run_ms(s, 400);
    TELLS(s, "a:OK");
    HOLDS(s, stage_is_at(stage.other, a));
}

/* ---- a cluster ---- */

static struct hand *hand_at(struct party *p, const char *tag, unsigned at) { return hand_new(p, tag, cluster_name(at, 0), NULL); }

/* All of its keys are at the new place, or none was made yet: an ASK is followed once, and there it runs. */
static void an_ask_is_followed_behind_ASKING(struct scene *s)
{
    struct cluster_stage stage;
    struct party *p;
    struct hand *a;
    unsigned slot = cluster_slot(cluster_name(1, 0));
    cluster_set(&stage, s);
    p = cluster_connect(&stage);
    a = hand_at(p, "a", 1);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 100);
    cluster_begin_move(&stage, slot, 1, 2);
    cluster_move_key(&stage, hilock_lock_name(a->lock), 1, 2);
    release(a);
    run_ms(s, 100);
    TELLS(s, "a:OK a:released");
    SAME(s, store_count(stage.stores[2], "ASKING"), 1);
}

static void what_another_server_has_now_is_asked_for_there(struct scene *s)
{
    struct cluster_stage stage;
    struct hand *a, *b;
    struct party *p;
    cluster_set(&stage, s);
    p = cluster_connect(&stage);
    a = hand_new(p, "a", cluster_name(1, 0), NULL);
    b = hand_new(p, "b", cluster_name(1, 1), NULL);
    store_take(stage.stores[1], hilock_lock_name(b->lock), "another", 600000);
    acquire(a, HILOCK_FOREVER);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 100);
    stage.places[1]->mood = NET_REFUSES;
    net_reset(&s->net, NULL, NET_ALL);
    cluster_take_over(&stage, 1, 2, 0);
    run_ms(s, 4000);
    SAME(s, a->event.reason, HILOCK_LOST_TAKEN);
    SAME(s, hilock_lock_state(b->lock), HILOCK_HELD);
}

/* It was stopped, another took over, and it goes on as if nothing had been. */
static void a_server_that_was_away_gets_nothing_back_by_its_own_word(struct scene *s)
{
    struct cluster_stage stage;
    struct hand *a;
    cluster_set(&stage, s);
    a = hand_at(cluster_connect(&stage), "a", 0);
    stage.places[0]->mood = NET_REFUSES;
    net_reset(&s->net, NULL, NET_ALL);
    cluster_take_over(&stage, 0, 1, 0);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 3000);
    TELLS(s, "a:OK");
    stage.places[0]->mood = NET_LISTENS;
    stage.places[1]->mood = stage.places[2]->mood = NET_REFUSES;
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 900); /* it is the only one to be asked who has what */
    stage.places[1]->mood = stage.places[2]->mood = NET_LISTENS;
    HOLDS(s, stage.places[0]->tried > 2);
    run_ms(s, 4000);
    release(a);
    run_ms(s, 1000);
    TELLS(s, "a:released");
    SAME(s, store_count(stage.stores[0], "mutex_release"), 0);
}

static void a_subscription_that_is_taken_back_is_made_elsewhere(struct scene *s)
{
    struct cluster_stage stage;
    struct hand *b;
    char channel[64];
    unsigned slot = cluster_slot(cluster_name(1, 0));
    cluster_set(&stage, s);
    b = hand_at(cluster_connect(&stage), "b", 1);
    store_take(stage.stores[1], hilock_lock_name(b->lock), "another", 600000);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 100);
    cluster_begin_move(&stage, slot, 1, 2);
    cluster_move_key(&stage, hilock_lock_name(b->lock), 1, 2);
    cluster_end_move(&stage, slot, 2);
    run_ms(s, 2000);
    store_delete(stage.stores[2], hilock_lock_name(b->lock));
    snprintf(channel, sizeof channel, "redisson_lock__channel:{%s}", hilock_lock_name(b->lock));
    store_publish_to_shard(stage.stores[2], channel, "0");
    run_ms(s, 1);
    TELLS(s, "b:WAITING b:OK");
}

/* It has the one at the first server, and asks for the other, when the first one's slots go to the third. */
static void a_multi_is_not_granted_with_a_name_that_has_moved(struct scene *s)
{
    static const char *names[3];
    struct cluster_stage stage;
    struct hand *m;
    struct plan *slow;
    struct party *p;
    static char first[HILOCK_NAME_MAX + 1], second[HILOCK_NAME_MAX + 1];
    char same_slot[HILOCK_NAME_MAX + 4];
    cluster_set(&stage, s);
    p = scene_connect(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL, .command_timeout_ms = 10000));
    snprintf(first, sizeof first, "%s", cluster_name(0, 0));
    snprintf(second, sizeof second, "%s", cluster_name(1, 0));
    names[0] = first;
    names[1] = second;
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        held(p, "x", cluster_name(i, 3), NULL);
    m = multi_new(p, "m", names, NULL);
    slow = PLAN(s, .on = "mutex_acquire", .at = stage.stores[1], .act = PLAN_HOLD);
    acquire(m, HILOCK_FOREVER);
    run_ms(s, 100);
    SAME(s, slow->met, 1);
    store_take(stage.stores[2], first, "another", 600000);
    cluster_take_over(&stage, 0, 2, 1);
    snprintf(same_slot, sizeof same_slot, "{%s}", first);
    acquire(hand_new(p, "y", same_slot, NULL), HILOCK_FOREVER); /* it finds out, whoever is asked for the other slots */
    run_ms(s, 2000);
    scene_hush(s);
    plan_let_go(&s->plans, slow);
    run_ms(s, 100);
    HOLDS(s, hilock_lock_state(m->lock) == HILOCK_WAITING);
}

/* It is stopped with a renewal in its hands, and goes on with it when another has its slots: that is not read any more. */
static void a_silent_server_is_asked_after(struct scene *s)
{
    struct cluster_stage stage;
    struct hand *a;
    cluster_set(&stage, s);
    a = hand_new(cluster_connect(&stage), "a", cluster_name(1, 0), HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 1900);
    world_freeze(&stage.stores[1]->lane);
    store_copy(stage.stores[2], stage.stores[1]);
    cluster_take_over(&stage, 1, 2, 0);
    run_ms(s, 1500);
    SAME(s, store_count(stage.stores[2], "renew"), 1);
    world_thaw(&s->world, &stage.stores[1]->lane);
    run_ms(s, 100);
    SAME(s, store_count(stage.stores[1], "renew"), 0);
    TELLS(s, "a:OK");
    BELIEVES(s, a, store_line(stage.stores[2], "renew", -1)->at_us - s->net.there_us + 6000000 - 60000 - 7000);
}

/* Whoever waits has asked, and sleeps on the answer: the message would come from a server that has stopped. */
static void a_silent_server_is_noticed_by_who_only_waits(struct scene *s)
{
    struct cluster_stage stage;
    struct hand *b;
    cluster_set(&stage, s);
    b = hand_at(cluster_connect(&stage), "b", 1);
    store_take(stage.stores[1], hilock_lock_name(b->lock), "another", 600000);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 6000);
    TELLS(s, "b:WAITING");
    world_freeze(&stage.stores[1]->lane);
    cluster_take_over(&stage, 1, 2, 0);
    run_ms(s, 2200);
    TELLS(s, "b:OK");
    SAME(s, store_count(stage.stores[2], "mutex_acquire"), 1);
    world_thaw(&s->world, &stage.stores[1]->lane);
}

const struct safety safety_deploy[] = {
    SAFETY(STALE_SENTINEL_BELIEVED, a_sentinel_that_was_away_leads_nobody_back),
    SAFETY(SILENCE_IS_UNDATED, a_sentinel_that_told_no_epoch_leads_nobody_back),
    SAFETY(READONLY_IGNORED, a_master_that_is_read_only_is_left),
    SAFETY(ROLE_IGNORED, a_server_that_is_no_master_is_not_asked),
    SAFETY(LOST_RELEASES_IGNORED, a_release_that_was_lost_is_repeated),
    SAFETY(LOST_RELEASES_SAID_ONCE, a_lost_release_is_repeated_until_the_new_master_takes_it),
    SAFETY(GUARD_UNANSWERED, what_the_guard_refused_is_asked_for_at_the_next_master),
    SAFETY(MULTI_ADRIFT_BY_MOVE, a_multi_is_not_granted_with_a_name_that_has_moved),
    SAFETY(ASK_WITHOUT_ASKING, an_ask_is_followed_behind_ASKING),
    SAFETY(MOVES_UNNOTICED, what_another_server_has_now_is_asked_for_there),
    SAFETY(STALE_OWNER_BELIEVED, a_server_that_was_away_gets_nothing_back_by_its_own_word),
    SAFETY(TAKEN_BACK_UNHEARD, a_subscription_that_is_taken_back_is_made_elsewhere),
    SAFETY(SILENCE_UNNOTICED, a_silent_server_is_asked_after),
    SAFETY(SILENCE_UNASKED, a_silent_server_is_noticed_by_who_only_waits),
    {NULL, {NULL, NULL}},
};
