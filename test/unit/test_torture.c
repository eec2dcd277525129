/* SPDX-License-Identifier: BSD-3-Clause */
/* A day with everything in it at one server, one behind Sentinel and one in a cluster, with a failover in each, one
 * with replicas that confirm, one of a queue, of multis and of a quorum, played once for every allocation, timer, link,
 * command and query that may fail in it: nothing crashes or leaks, refusals say NO_MEMORY, each acquire that was
 * accepted has one outcome, the client ends, and where memory came back it works again. */
#include "play.h"
#include "stage.h"
#include "wanted.h"

/* It is played if its client could be opened. */
struct day {
    void (*set)(struct fixture *s); /* NULL: there is one server */
    const char *url, *name_prefix;
    unsigned masters; /* of a quorum; 0: there is none */
    void (*play)(struct fixture *s, struct client *p);
};

enum { COMPETED_MS = 3000 };

/* 1: done. There may be no memory for it, but nothing else is in its way. */
static unsigned is_done(struct fixture *s, hilock_status status)
{
    HOLDS(s, status == HILOCK_OK || status == HILOCK_NO_MEMORY);
    return status == HILOCK_OK;
}

/* Each call only of what could be made. */
static void ask(struct handle *handle, uint32_t wait_ms)
{
    if (handle->lock && hilock_lock_state(handle->lock) == HILOCK_STATE_IDLE)
        is_done(handle->fixture, acquire(handle, wait_ms));
}

static void stop(struct handle *handle)
{
    if (handle->lock)
        (void)cancel(handle);
}

static int is_held_still(const struct handle *handle) { return handle->lock && is_held(handle); }

static void let_go(struct handle *handle)
{
    if (is_held_still(handle))
        release_quietly(handle);
    run_ms(handle->fixture, 5);
}

/* Longer, deeper, seen from outside; as many releases as it was entered. */
static void use(struct handle *handle)
{
    struct fixture *s = handle->fixture;
    hilock_validity *validity = NULL;
    unsigned entered = 0;
    if (!is_held_still(handle))
        return;
    is_done(s, extend(handle, 5000));
    for (int i = 0; i < 2; i++)
        entered += is_done(s, acquire(handle, HILOCK_TRY));
    if (is_done(s, hilock_lock_validity(handle->lock, &validity)))
        SAME(s, hilock_validity_remaining_ms(validity), hilock_lock_remaining_ms(handle->lock));
    hilock_validity_unref(validity);
    run_ms(s, 10);
    while (entered--)
        is_done(s, release(handle));
}

static void on_holder(const struct hilock_holder_info *info, void *user)
{
    struct handle *handle = user;
    HOLDS(handle->fixture, info->fencing_token != 0);
}

static void on_listed(const struct hilock_result *result, void *user)
{
    (void)result, (void)user;
}

/* It goes on as a share, and who holds is listed. */
static void look_on(struct handle *handle)
{
    if (!is_held_still(handle))
        return;
    is_done(handle->fixture, downgrade(handle));
    is_done(handle->fixture, hilock_holders(handle->lock, on_holder, on_listed, handle));
    run_ms(handle->fixture, 10);
}

/* Readers on one share, if there is memory for that: used, and given back by each. */
static void read_together(struct client *p)
{
    struct handle *readers[3];
    for (int i = 0; i < 3; i++) {
        readers[i] = handle_new(p, "reader", "page", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .reentrant = 1, .holders_max = HILOCK_ANY_NUMBER,
                                                                         .share_local_ms = 1000));
        ask(readers[i], 1000);
        run_ms(p->fixture, 5);
    }
    use(readers[1]);
    for (int i = 0; i < 3; i++)
        if (is_held_still(readers[i]))
            SAME(p->fixture, release(readers[i]), HILOCK_OK); /* that needs no memory */
    run_ms(p->fixture, 1100);
}

static struct handle *asks(struct client *p, hilock_kind kind, const char *name, uint32_t wait_ms)
{
    struct handle *handle = handle_new(p, name, name,
                                       HILOCK_LOCK_OPTIONS(.kind = kind, .lease_ms = 3000, .reentrant = 1));
    ask(handle, wait_ms);
    return handle;
}

/* A host name, so that it is resolved, and all that is said at login. One hold, two turns, and a wait that is cancelled
 * amid them; then all kinds of ends that a wait and a hold have, and a lost link. */
static void plain_set(struct fixture *s)
{
    s->is_tampered = 1;
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    net_listen(&s->net, "127.0.0.1:6380", &s->store);
}

static void plain_day(struct fixture *s, struct client *p)
{
    struct handle *turns[4];
    p->loop.name.addresses[0] = "127.0.0.1";
    for (int i = 0; i < 4; i++)
        turns[i] = asks(p, HILOCK_MUTEX, "fourth", 3000);
    run_ms(s, 500);
    let_go(turns[0]);
    use(turns[1]);
    stop(turns[2]);
    let_go(turns[1]);
    let_go(turns[3]);
    run_ms(s, 4000);
    store_take(&s->store, "shop:other", "another", 20000);
    struct handle *a = asks(p, HILOCK_MUTEX, "stock", HILOCK_FOREVER), *b = asks(p, HILOCK_MUTEX, "stock", 5000);
    struct handle *c = asks(p, HILOCK_MUTEX, "other", 2000);
    run_ms(s, 200);
    struct handle *d = asks(p, HILOCK_MUTEX, "third", HILOCK_TRY);
    use(a);
    run_ms(s, 2500);
    let_go(a);
    run_ms(s, 2600);
    net_reset(&s->net, NULL, NET_ALL);
    ask(d, HILOCK_FOREVER);
    store_free_name(&s->store, "shop:other");
    run_ms(s, 4000);
    ask(c, 1000);
    run_ms(s, 1100);
    look_on(b);
    let_go(b);
    let_go(c);
    read_together(p);
    handle_free(d);
    run_ms(s, 2000);
}

static void hold_and_wait(struct client *p, const char *one, const char *other)
{
    struct handle *a = asks(p, HILOCK_MUTEX, one, HILOCK_FOREVER);
    asks(p, HILOCK_MUTEX, other, HILOCK_FOREVER);
    run_ms(p->fixture, 200);
    if (a->lock)
        (void)release(a);
    run_ms(p->fixture, 200);
}

static void sentinel_day(struct fixture *s, struct client *p)
{
    store_take(&s->store, "other", "another", 60000);
    run_ms(s, 3000);
    hold_and_wait(p, "stock", "other");
    store_copy(replica_of(s), &s->store);
    sentinels_fail_over(s, 3, 1, 1);
    run_ms(s, 5000);
    hold_and_wait(p, "stock", "third");
}

static void cluster_day(struct fixture *s, struct client *p)
{
    const char *one = cluster_name(0, 0);
    const char *other = cluster_name(1, 0);
    store_take(store_at(s, 1), other, "another", 60000);
    run_ms(s, 3000);
    hold_and_wait(p, one, other);
    cluster_begin_move(s, cluster_slot(one), 0, 2);
    hold_and_wait(p, one, other);
    cluster_end_move(s, cluster_slot(one), 2);
    hold_and_wait(p, one, other);
    cluster_take_over(s, 1, 0, 1);
    run_ms(s, 5000);
    hold_and_wait(p, one, other);
}

/* A replica that comes and goes, a link that dies, and the three kinds of grant: at a free name, by push, of several names. */
static void replicas_day(struct fixture *s, struct client *p)
{
    static const char *const names[] = {"one", "two", NULL};
    const struct hilock_lock_options mutex = {.size = sizeof mutex, .lease_ms = 3000, .replicas = 1, .replica_timeout_ms = 300},
                                     fair = {.size = sizeof fair, .lease_ms = 3000, .kind = HILOCK_FAIR, .replicas = 2, .replica_timeout_ms = 200};
    struct handle *handles[4];
    s->store.replicas = 2;
    s->store.replica_us = 2000;
    run_ms(s, 3000);
    handles[0] = handle_new(p, "a", "stock", &mutex);
    handles[1] = handle_new(p, "b", "queue", &fair);
    handles[2] = handle_new(p, "c", "queue", &fair);
    handles[3] = multi_new(p, "d", names, &mutex);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++)
            ask(handles[i], 2000);
        run_ms(s, 4);
        s->store.replicas_away = round == 1 ? 2 : 0;
        if (round == 2)
            net_reset(&s->net, NULL, NET_COMMANDS);
        for (int i = 0; i < 4; i++) {
            run_ms(s, 500);
            let_go(handles[i]);
        }
    }
}

static struct handle *queues(struct client *p, const char *name, uint32_t wait_ms)
{
    struct handle *handle = asks(p, HILOCK_FAIR, name, wait_ms);
    run_ms(p->fixture, 5);
    return handle;
}

/* Enqueued, heard of again, granted by push and by a heartbeat, handed over within a client and to another, cancelled in the queue and as the
 * grant comes, timed out; behind a kind that hands over to nobody; and a push that is lost. */
static void queue_day(struct fixture *s, struct client *p)
{
    struct client *q = fixture_open(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000));
    if (q->status != HILOCK_OK)
        return;
    run_ms(s, 2000);
    struct handle *a = queues(p, "queue", HILOCK_FOREVER);
    struct handle *b = queues(p, "queue", HILOCK_FOREVER);
    struct handle *c = queues(p, "queue", HILOCK_FOREVER);
    struct handle *d = queues(q, "queue", 20000);
    struct handle *e = queues(p, "queue", 1500);
    run_ms(s, 3500);
    let_go(a);
    stop(c);
    let_go(b);
    run_ms(s, 1500);
    ask(e, HILOCK_FOREVER);
    ask(a, HILOCK_FOREVER);
    run_ms(s, 20);
    if (is_held_still(d))
        release_quietly(d);
    run_us(s, 150);
    net_reset(&s->net, &p->loop, NET_STREAMS);
    stop(e);
    run_ms(s, 4000);
    let_go(a);
    store_take(&s->store, "foreign", "java:1", 700);
    (void)queues(q, "foreign", 5000);
    run_ms(s, 2000);
    client_close(q, 100);
    run_ms(s, 5000);
}

static struct handle *competes(struct client *p, const char *tag, unsigned masters)
{
    static const char *const names[] = {"stock", "b", "c", NULL};
    const struct hilock_lock_options options = {.size = sizeof options, .lease_ms = COMPETED_MS};
    struct handle *handle = masters == 1 ? multi_new(p, tag, names, &options) : handle_new(p, tag, "stock", &options);
    HOLDS(p->fixture, handle->lock || strncmp(hilock_client_refusal(p->client), "out of memory", 13) == 0);
    return handle;
}

/* 1: accepted, so that it will be answered. */
static unsigned is_accepted(struct handle *handle)
{
    return is_done(handle->fixture, handle->lock ? acquire(handle, 6000) : HILOCK_NO_MEMORY);
}

/* Two want the same, which another has at first. Every accepted acquire is answered, and nothing stays at any store for
 * longer than a lease. */
static void compete(struct fixture *s, struct client *p)
{
    const unsigned masters = s->masters_count;
    s->is_tampered = 1;
    struct client *q = fixture_open(s, HILOCK_CLIENT_OPTIONS(.quorum_urls = masters > 1 ? urls_of(masters) : NULL));
    if (q->status != HILOCK_OK)
        return;
    struct handle *a = competes(p, "a", masters), *b = competes(q, "b", masters);
    store_take(&s->store, "stock", "another", 700);
    unsigned owed = is_accepted(a);
    run_ms(s, 20);
    owed += is_accepted(b);
    run_ms(s, 1000);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 1500);
    let_go(a);
    run_ms(s, 8000);
    SAME(s, (a->calls > 0) + (b->calls > 0), owed);
    handle_free(a);
    handle_free(b);
    s->memory.fail_at = 0;
    run_ms(s, 3 * COMPETED_MS + 8000);
    SAME(s, kept(s, "stock") + kept(s, "b") + kept(s, "c"), 0);
}

static const struct day plain = {plain_set, "redis://:" FIXTURE_SECRET "@localhost:6380/1", "shop:", 0, plain_day},
                        sentinel = {sentinels_set, SENTINEL_URL, NULL, 0, sentinel_day},
                        cluster = {cluster_set, CLUSTER_URL, NULL, 0, cluster_day},
                        replicas = {NULL, NULL, NULL, 0, replicas_day},
                        queue = {NULL, NULL, NULL, 0, queue_day},
                        multi = {NULL, NULL, NULL, 0, compete},
                        several_masters = {NULL, NULL, NULL, 3, compete};

/* How often memory was asked for; 0: a claim failed. */
static uint64_t play_day(const struct day *day, uint64_t fail_at, uint64_t fails)
{
    struct fixture s;
    fixture_begin(&s);
    s.is_untold = 1;
    s.memory.fail_at = fail_at;
    s.memory.fails = fails;
    if (day->set)
        day->set(&s);
    fixture_masters(&s, day->masters);
    const char *const *urls = day->masters ? urls_of(day->masters) : NULL;
    struct client *p = fixture_open(&s, HILOCK_CLIENT_OPTIONS(.url = day->url, .name_prefix = day->name_prefix,
                                                              .quorum_urls = urls, .command_timeout_ms = 1000));
    if (p->status == HILOCK_OK)
        day->play(&s, p);
    uint64_t asked_for = s.memory.asked;
    s.memory.fail_at = 0;
    HOLDS(&s, p->status == HILOCK_OK || (p->status == HILOCK_NO_MEMORY && s.memory.refused));
    if (p->status == HILOCK_OK) {
        struct handle *last = asking(p, "last", "last", NULL);
        struct handle *tail = asking(p, "tail", "tail", HILOCK_LOCK_OPTIONS(.kind = s.masters_count > 1 ? HILOCK_MUTEX : HILOCK_FAIR));
        run_ms(&s, 10000);
        HOLDS(&s, is_held(last) && is_held(tail));
        struct hilock_stats stats = counts_of(p);
        SAME(&s, stats.acquires - stats.waiting,
             stats.granted + stats.reentered + stats.timed_out + stats.cancelled + stats.failed);
        client_close(p, 0);
        run_ms(&s, 10000);
        HOLDS(&s, p->is_closed);
    }
    return fixture_end(&s) ? asked_for : 0;
}

/* Every so many allocations, so many in a row fail; where it begins, the seed decides. */
static void play_days(const struct day *day, uint64_t fails, uint64_t step)
{
    const uint64_t most = play_day(day, 0, 0), stride = step * wanted_stride();
    assert_true(most > 50);
    for (uint64_t at = 1 + wanted("HILOCK_SEED", 0) % stride; at <= most; at += stride)
        if (!play_day(day, at, fails))
            fail_msg("when allocation %llu of %llu fails", (unsigned long long)at, (unsigned long long)most);
}

TEST(at_one_server_each_may_fail) { play_days(&plain, 1, 1); }
TEST(at_one_server_ten_may_fail) { play_days(&plain, 10, 5); }
TEST(behind_sentinel_each_may_fail) { play_days(&sentinel, 1, 1); }
TEST(behind_sentinel_ten_may_fail) { play_days(&sentinel, 10, 5); }
TEST(in_a_cluster_each_may_fail) { play_days(&cluster, 1, 1); }
TEST(in_a_cluster_ten_may_fail) { play_days(&cluster, 10, 5); }
TEST(with_replicas_each_may_fail) { play_days(&replicas, 1, 1); }
TEST(with_replicas_ten_may_fail) { play_days(&replicas, 10, 5); }
TEST(in_a_queue_each_may_fail) { play_days(&queue, 1, 1); }
TEST(in_a_queue_ten_may_fail) { play_days(&queue, 10, 5); }
TEST(of_a_multi_five_may_fail) { play_days(&multi, 5, 5); }
TEST(of_a_quorum_five_may_fail) { play_days(&several_masters, 5, 5); }

/* Release, close and free need no memory. A command that cannot be sent is another matter. */
WITH_CLIENT(the_end_needs_no_memory)
{
    struct handle *a = held(p, "a", "one", NULL), *b = held(p, "b", "two", NULL), *w = asking(p, "w", "one", NULL);
    run_ms(s, 5);
    s->memory.is_out = s->memory.spares_links = 1;
    release(a);
    TELLS_IN(s, 5, "w:WAITING a:released");
    SAME(s, acquire(a, HILOCK_FOREVER), HILOCK_NO_MEMORY);
    TEXT(s, hilock_client_refusal(p->client), "out of memory for an acquire");
    handle_free(w);
    SAME(s, client_close(p, 10), HILOCK_OK);
    TELLS_IN(s, 50, "b:LOST CLOSING closed");
    HOLDS(s, !is_ours(s, "one") && !is_ours(s, "two"));
    handle_free(b);
}
