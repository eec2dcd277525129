/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind FAIR in a cluster: the queue is at the server of the lock's slot, and goes where that goes; grants are pushed on a channel of that server. */
#include "base/slot.h"
#include "play.h"
#include "stage.h"

static const char *channel_of(const struct handle *handle)
{
    static char channel[80];
    char tag[HL_SLOT_TAG + 1];
    hl_slot_tag(cluster_slot(hilock_lock_name(handle->lock)), tag);
    snprintf(channel, sizeof channel, "hilock:grant:%s:{%s}", handle->client->uuid, tag);
    return channel;
}

static size_t listeners(unsigned at, const struct handle *handle)
{
    return store_shard_listeners(store_at(handle->fixture, at), channel_of(handle));
}

static size_t asked_at(struct fixture *s, unsigned at, const char *word) { return store_count(store_at(s, at), word); }

/* a has it, b and c wait for it, each a client of its own; at server 1. */
struct three { struct client *p, *q, *r; struct handle *a, *b, *c; };

static struct three three_at(struct fixture *s, const char *name)
{
    struct three three = {cluster_connect(s), cluster_connect(s), cluster_connect(s), NULL, NULL, NULL};
    three.a = waits(three.p, "a", name);
    three.b = waits(three.q, "b", name);
    three.c = waits(three.r, "c", name);
    HOLDS(s, is_held(three.a));
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        store_forget(store_at(s, i));
    return three;
}

/* ---- the plain way ---- */

A_PLAY(a_slot_is_listened_to_once_for_all_its_locks)
{
    static const char *const names[] = {"one", "{one}:a", "{one}:b", "two", "{two}:a"};
    struct client *p = cluster_begin(s);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        waits(p, "h", names[i]);
    SAME(s, asked_all(s, "SSUBSCRIBE"), 2);
    SAME(s, asked_all(s, "SUBSCRIBE"), 0);
}

A_PLAY(a_channel_that_a_cluster_in_trouble_refuses_is_asked_for_again)
{
    static const char *const errors[] = {"CLUSTERDOWN The cluster is down", "MOVED 15495 10.0.0.3:6379", "ASK 15495 10.0.0.3:6379",
                                         "TRYAGAIN Multiple keys request during rehashing of slot"};
    cluster_set(s);
    struct client *p = cluster_connect(s);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        PLAN(s, .on = "SSUBSCRIBE", .error = errors[i]);
        waits(p, "a", formatted("n%zu", i));
        run_ms(s, 1000);
        SAME(s, client_lines(p, "refused"), 0);
        SAME(s, asked_all(s, "SSUBSCRIBE"), i + 1);
    }
}

A_PLAY(when_a_link_is_back_the_names_of_its_server_ask_alone)
{
    struct client *p = cluster_begin(s);
    for (unsigned i = 0; i < 2; i++) {
        store_grant(store_at(s, i), cluster_name(i, 0), "x:9", 60000);
        waits(p, "a", cluster_name(i, 0));
    }
    run_ms(s, 500);
    size_t here = store_count(store_at(s, 0), "mutex_acquire"), there = store_count(store_at(s, 1), "mutex_acquire");
    net_reset_at(&s->net, store_at(s, 0), NET_COMMANDS);
    run_ms(s, 500);
    HOLDS(s, store_count(store_at(s, 0), "mutex_acquire") > here);
    SAME(s, store_count(store_at(s, 1), "mutex_acquire"), there);
}

/* Names that were of use once leave nothing for long. */
A_PLAY(a_channel_that_nobody_uses_is_given_up)
{
    struct handle *h;
    cluster_set(s);
    struct client *p = cluster_connect(s);
    waits(cluster_connect(s), "x", "kept");
    waits(p, "y", "kept");
    for (unsigned i = 0; i < 200; i++) {
        h = waits(p, "h", formatted("used:%u", i));
        release_quietly(h);
        run_ms(s, 1000);
        handle_free(h);
    }
    HOLDS(s, asked_all(s, "SSUBSCRIBE") > 200);
    HOLDS(s, asked_all(s, "SUNSUBSCRIBE") > 130);
    h = waits(p, "y", "kept");
    SAME(s, listeners(0, h) + listeners(1, h) + listeners(2, h), 1);
}

/* It was of use a moment ago, and is again. */
A_PLAY(a_channel_that_is_used_again_and_again_is_kept)
{
    struct client *p = cluster_begin(s);
    for (unsigned i = 0; i < 20; i++) {
        struct handle *h = waits(p, "h", cluster_name(i % 2, (int)(i / 2 % 2)));
        release_quietly(h);
        run_ms(s, 10000);
        handle_free(h);
    }
    SAME(s, asked_all(s, "SSUBSCRIBE"), 4);
}

/* The link was closed meanwhile, because nobody waited there. */
GIVEN(a_channel_whose_link_has_rested_is_subscribed_again, cluster_begin(s))
{
    const char *name = cluster_name(1, 0);
    held(p, "x", cluster_name(0, 0), NULL);
    struct handle *h = waits(p, "h", name);
    release_quietly(h);
    run_ms(s, 100000);
    SAME(s, listeners(1, h), 0);
    store_grant(store_at(s, 1), name, "x:9", 60000);
    acquire(h, HILOCK_FOREVER);
    run_ms(s, 100);
    SAME(s, listeners(1, h), 1);
}

/* By the default user, say: the plain channels are taken, and the log has the right that is missing. */
A_PLAY(a_right_that_sharded_channels_need_is_named)
{
    cluster_set(s);
    PLAN(s, .on = "PUBSUB", .error = "NOPERM this user has no permissions", .times = PLAN_ALWAYS);
    struct client *p = cluster_connect(s);
    waits(p, "h", "one");
    SAME(s, asked_all(s, "SSUBSCRIBE"), 0);
    HOLDS(s, strstr(p->log, "PUBSUB SHARDNUMSUB refused: NOPERM"));
}

static void know_no_shards(struct sim_map *map) { map->has_no_shards = 1; }

/* PUBLISH reaches every server, and NUMSUB counts at one: who waits listens at the server of its slot. */
A_PLAY(an_older_server_has_plain_channels)
{
    cluster_set(s);
    cluster_change(s, know_no_shards);
    struct three three = three_at(s, cluster_name(1, 0));
    SAME(s, store_listeners(store_at(s, 1), channel_of(three.b)), 1);
    release(three.a);
    run_ms(s, 1);
    HOLDS(s, strstr(store_line(store_at(s, 1), "mutex_release", 0)->text, " 0 600000"));
    TELLS_IN(s, 10, "b:OK a:released");
}

/* ---- slots that move ---- */

/* Not all keys of the lock are on one side: neither script of its own runs, and it is freed by the one of a MUTEX. Once the slot has moved
 * it goes to the first that asks: the others cannot hear yet, and keep their places. */
A_PLAY(a_release_amid_the_move_frees_and_a_heartbeat_finds_it)
{
    const char *name = cluster_name(1, 0);
    cluster_set(s);
    struct three three = three_at(s, name);
    const char *queue = formatted("hilock:queue:{%s}", name);
    cluster_begin_move(s, cluster_slot(name), 1, 2);
    cluster_move_key(s, queue, 1, 2);
    release(three.a);
    TELLS_IN(s, 100, "a:released");
    SAME(s, asked_at(s, 1, "free"), 1);
    cluster_move_lock(s, name, 1, 2);
    cluster_end_move(s, cluster_slot(name), 2);
    run_ms(s, 1000);
    HOLDS(s, hilock_lock_state(three.b->lock) == HILOCK_STATE_HELD || hilock_lock_state(three.c->lock) == HILOCK_STATE_HELD);
    release_quietly(three.b);
    release_quietly(three.c);
    run_ms(s, 5);
    HOLDS(s, three.b->result.status == HILOCK_OK && three.c->result.status == HILOCK_OK);
}

/* Its channel there is on its way: what was granted meanwhile is found by the command link. */
A_PLAY(a_waiter_asks_at_the_next_server_though_it_does_not_listen_there_yet)
{
    const char *name = cluster_name(1, 0);
    cluster_set(s);
    struct three three = three_at(s, name);
    run_ms(s, 100);
    PLAN(s, .on = "SSUBSCRIBE", .at = store_at(s, 2), .holds = 1, .times = PLAN_ALWAYS);
    cluster_move(s, name, 1, 2);
    run_ms(s, 500);
    SAME(s, asked_at(s, 2, "mutex_acquire"), 2);
    release_quietly(three.a);
}

/* No handle waits there at the moment. The next one that waits is told of its grant at once. */
A_PLAY(a_channel_goes_with_its_slot_though_nobody_waits)
{
    const char *name = cluster_name(1, 0);
    cluster_set(s);
    cluster_change(s, know_no_shards);
    struct three three = three_at(s, name);
    cancel(three.b);
    run_ms(s, 100);
    SAME(s, store_listeners(store_at(s, 1), channel_of(three.b)), 1);
    cluster_move(s, name, 1, 2);
    acquire(three.b, HILOCK_TRY);
    unheard_ms(s, 1000);
    SAME(s, store_listeners(store_at(s, 1), channel_of(three.b)), 0);
    SAME(s, store_listeners(store_at(s, 2), channel_of(three.b)), 1);
    release_quietly(three.a);
}

/* Its channel there is on its way, and the one that it had is silent from now on. */
A_PLAY(the_head_of_a_line_asks_where_the_slot_has_gone)
{
    const char *name = cluster_name(1, 0);
    struct client *p = cluster_begin(s);
    store_grant(store_at(s, 1), name, "x:9", 600000);
    asking(p, "a", name, NULL);
    run_ms(s, 100);
    PLAN(s, .on = "SSUBSCRIBE", .at = store_at(s, 2), .holds = 1, .times = PLAN_ALWAYS);
    cluster_move(s, name, 1, 2);
    run_ms(s, 500);
    HOLDS(s, asked_at(s, 2, "mutex_acquire") >= 1);
    fixture_hush(s);
}

/* Behind another program, whose release is told at the server of the slot. */
A_PLAY(who_waits_hears_of_releases_where_the_slot_has_gone)
{
    const char *name = cluster_name(1, 0), *unlocks = formatted("redisson_lock__channel:{%s}", name);
    struct client *p = cluster_begin(s);
    store_take(store_at(s, 1), name, "another", 600000);
    asking(p, "a", name, NULL);
    run_ms(s, 100);
    SAME(s, store_shard_listeners(store_at(s, 1), unlocks), 1);
    cluster_move(s, name, 1, 2);
    run_ms(s, 1000);
    SAME(s, store_shard_listeners(store_at(s, 2), unlocks), 1);
    store_delete(store_at(s, 2), name);
    store_publish_to_shard(store_at(s, 2), unlocks, "0");
    TELLS_IN(s, 5, "a:WAITING a:OK");
}

/* The link was closed because it was unused. A handle that waits later is told of its grant over a new link. */
A_PLAY(a_channel_whose_link_was_closed_is_heard_again)
{
    const char *name = cluster_name(1, 0);
    cluster_set(s);
    struct three three = three_at(s, name);
    held(three.q, "k", cluster_name(0, 0), NULL); /* at another server */
    cancel(three.c);
    cancel(three.b);
    unheard_ms(s, 100000);
    SAME(s, listeners(1, three.b), 0);
    acquire(three.b, HILOCK_FOREVER);
    unheard_ms(s, 20);
    SAME(s, listeners(1, three.b), 1);
    release_quietly(three.a);
    TELLS_IN(s, 2, "b:OK");
}

/* A free name needs no grants, wherever it is. */
A_PLAY(a_channel_that_was_never_listened_to_does_not_go_with_its_slot)
{
    const char *name = cluster_name(1, 0);
    struct client *p = cluster_begin(s);
    held(p, "a", name, NULL);
    size_t before = asked_all(s, "SSUBSCRIBE");
    cluster_move(s, name, 1, 2);
    unheard_ms(s, 11000);
    SAME(s, asked_all(s, "SSUBSCRIBE"), before);
}

/* Its channel was given up a moment ago, and is still subscribed: what came meanwhile is asked after. */
A_PLAY(who_waits_at_a_channel_that_was_just_given_up_asks_once_more)
{
    struct client *p = cluster_begin(s);
    struct handle *a = handle_new(p, "a", cluster_name(0, 0), NULL), *b = handle_new(p, "b", cluster_name(1, 0), NULL);
    store_grant(store_at(s, 0), cluster_name(0, 0), "x:9", 600000);
    store_grant(store_at(s, 1), cluster_name(1, 0), "x:9", 600000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    cancel(a);
    unheard_ms(s, 61000);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 1);
    store_forget(store_at(s, 0));
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 5, "b:WAITING a:WAITING");
    SAME(s, asked_at(s, 0, "mutex_acquire"), 2);
    SAME(s, asked_at(s, 0, "SSUBSCRIBE"), 0);
}
