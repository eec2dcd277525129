/* SPDX-License-Identifier: BSD-3-Clause */
/* A client belongs to the thread in which its loop first turns, one to each as in a threaded server: they compete
 * through the store, and share nothing. Main may open and ask before; afterwards it is refused, and breaks nothing.
 * A validity may be read, kept and given back by any thread while the loop's renews, ends and frees: never a moment
 * too long, 0 as soon as its end can be known. Runs under ThreadSanitizer too (.ci/run threads). */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support/fixture.h"

/* ---- clients ---- */

enum { THREADS = 4, ROUNDS = 50 };

struct worker {
    struct client client;
    struct handle handle;
    pthread_t thread;
    atomic_uint rounds;
    atomic_int may_stop;
};

static void *run(void *arg)
{
    struct worker *worker = arg;
    check_in_thread();
    handle_until(&worker->handle, &worker->handle.acquired, 1, "what main asked for");
    while (atomic_fetch_add(&worker->rounds, 1) < ROUNDS || !atomic_load(&worker->may_stop)) {
        CHECK(worker->handle.acquired.status == HILOCK_OK);
        CHECK(handle_give(&worker->handle) == HILOCK_OK);
        CHECK(handle_acquire(&worker->handle, HILOCK_FOREVER) == HILOCK_OK);
    }
    CHECK(worker->handle.lost.count == 0 && client_stats(&worker->client).wrong_thread >= 4);
    client_end(&worker->client);
    return NULL;
}

static int has_begun(void *arg) { return atomic_load(&((struct worker *)arg)->rounds) > 0; }

/* From the calls of main the thread feels nothing. */
static void check_refuses_this_thread(struct worker *worker)
{
    hilock_client *client = worker->client.hilock;
    hilock_lock *lock = worker->handle.lock;
    assert_int_equal(hilock_release(lock, NULL, NULL), HILOCK_WRONG_THREAD);
    hilock_lock_drop(lock);
    hilock_client_abandon(client);
    assert_int_equal(hilock_lock_remaining_ms(lock), 0);
    assert_non_null(strstr(hilock_client_refusal(client), "thread"));
}

LIVE(one_client_a_thread)
{
    static struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        client_open(&workers[i].client, fixture->server->url);
        handle_open(&workers[i].handle, &workers[i].client, "stock", NULL);
        handle_ask(&workers[i].handle, HILOCK_FOREVER);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        check_until(has_begun, &workers[i], "a hold of each thread");
        check_refuses_this_thread(&workers[i]);
        atomic_store(&workers[i].may_stop, 1);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
}

/* ---- a loop that goes on on another thread ---- */

struct move {
    struct client client;
    struct handle handle;
    struct redis *redis;
    int is_adopting;
};

static int is_gone(void *arg) { return redis_integer(((struct move *)arg)->redis, "EXISTS moved") == 0; }

static int is_renewed_often(void *arg) { return client_stats(&((struct move *)arg)->client).renewals >= 3; }

static void *turn_on(void *arg)
{
    struct move *move = arg;
    check_in_thread();
    if (move->is_adopting) {
        CHECK(hilock_client_adopt(move->client.hilock) == HILOCK_OK);
        client_until(&move->client, is_renewed_often, move, "renewals");
        CHECK(!is_gone(move) && handle_give(&move->handle) == HILOCK_OK);
        CHECK(handle_acquire(&move->handle, 20000) == HILOCK_OK);
    } else
        client_until(&move->client, is_gone, move, "the end of the lease");
    return NULL;
}

static void move_begin(struct move *move, struct fixture *fixture, struct client *client)
{
    move->redis = fixture->redis;
    client_open(client, fixture->server->url);
    handle_open(&move->handle, client, "moved", HILOCK_LOCK_OPTIONS(.lease_ms = 1500));
    assert_int_equal(handle_acquire(&move->handle, 20000), HILOCK_OK);
}

static void move_on(struct move *move)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, turn_on, move), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Nobody could release what it renewed there. Once the first thread turns the loop again all is as it should be. */
LIVE(another_thread_that_turns_the_loop_renews_nothing)
{
    struct move move;
    move.is_adopting = 0;
    move_begin(&move, fixture, &move.client);
    move_on(&move);
    assert_non_null(strstr(move.client.log, "hilock_client_adopt"));
    assert_int_equal(move.client.warnings, 1);
    handle_until(&move.handle, &move.handle.lost, 1, "the loss");
    assert_int_equal(handle_acquire(&move.handle, 20000), HILOCK_OK);
    client_end(&move.client);
}

/* There and back again; main ends it when the thread is gone. */
LIVE(another_thread_that_adopts_has_it_all)
{
    struct move move;
    move.is_adopting = 1;
    move_begin(&move, fixture, &move.client);
    move_on(&move);
    assert_int_equal(hilock_release(move.handle.lock, NULL, NULL), HILOCK_WRONG_THREAD);
    assert_int_equal(hilock_client_adopt(move.client.hilock), HILOCK_OK);
    assert_int_equal(handle_give(&move.handle), HILOCK_OK);
    assert_int_equal(move.handle.lost.count + move.client.warnings, 0);
    client_end(&move.client);
}

/* ---- the end, from outside ---- */

struct turner {
    struct move move;
    struct event_base *base;
    pthread_t thread;
    int is_ticking; /* something else is on the loop: it turns until it may stop */
    atomic_int is_turning, may_stop, is_closed, was_closed_twice;
};

static void *turn_until_empty(void *arg)
{
    struct turner *turner = arg;
    check_in_thread();
    CHECK(hilock_client_adopt(turner->move.client.hilock) == HILOCK_OK);
    atomic_store(&turner->is_turning, 1);
    while (turner->is_ticking && !atomic_load(&turner->may_stop))
        CHECK(event_base_loop(turner->base, EVLOOP_ONCE) == 0);
    CHECK(turner->is_ticking || event_base_dispatch(turner->base) >= 0);
    if (!turner->is_ticking) /* its client has ended, and the lock is this thread's */
        hilock_lock_free(turner->move.handle.lock);
    return NULL;
}

static int is_turning(void *arg) { return atomic_load(&((struct turner *)arg)->is_turning); }

/* The thread holds, and nothing but the client keeps its loop turning. */
static void turner_start(struct turner *turner, struct fixture *fixture)
{
    move_begin(&turner->move, fixture, &turner->move.client);
    turner->base = turner->move.client.base;
    if (!turner->is_ticking)
        event_free(turner->move.client.tick);
    assert_int_equal(pthread_create(&turner->thread, NULL, turn_until_empty, turner), 0);
    check_until(is_turning, turner, "the thread");
}

static void count_closed(void *count) { atomic_fetch_add((atomic_int *)count, 1); }

static struct hilock_stats stats_from_here(const struct turner *turner)
{
    struct hilock_stats stats = {.size = sizeof stats};
    hilock_client_stats(turner->move.client.hilock, &stats);
    return stats;
}

static int has_aged(void *arg)
{
    const struct turner *turner = arg;
    const struct hilock_stats stats = stats_from_here(turner);
    CHECK(stats.granted == 1 && stats.held == 1 && stats.locks == 1 && stats.nodes_up == 1 && stats.wrong_thread == 0);
    return stats.renewals >= 2 && stats.oldest_hold_ms > 0 && stats.command.count > 0;
}

/* Several threads may ask: each is answered, on the loop's thread, before that has nothing left to do. */
LIVE(another_thread_closes_and_reads_statistics)
{
    struct turner turner = {.is_ticking = 0};
    turner_start(&turner, fixture);
    check_until(has_aged, &turner, "statistics of another thread");
    hilock_client *client = turner.move.client.hilock;
    assert_int_equal(hilock_client_close(client, UINT32_MAX - 1, NULL, NULL), HILOCK_INVALID);
    assert_int_equal(hilock_client_close(client, HILOCK_FOREVER, count_closed, &turner.is_closed), HILOCK_OK);
    assert_int_equal(hilock_client_close(client, 0, count_closed, &turner.was_closed_twice), HILOCK_OK);
    assert_int_equal(pthread_join(turner.thread, NULL), 0);
    assert_int_equal(atomic_load(&turner.is_closed) + atomic_load(&turner.was_closed_twice), 2);
    assert_int_equal(turner.move.handle.lost.reason, HILOCK_REASON_CLOSING);
    assert_true(is_gone(&turner.move));
    event_base_free(turner.base);
}

/* The loop's thread has ended, and the program ends all on main: nothing stays at the server. */
LIVE(what_a_joined_thread_left_is_closed_by_main)
{
    struct turner turner = {.is_ticking = 1};
    turner_start(&turner, fixture);
    atomic_store(&turner.may_stop, 1);
    assert_int_equal(pthread_join(turner.thread, NULL), 0);
    hilock_client *client = turner.move.client.hilock;
    assert_int_equal(hilock_release(turner.move.handle.lock, NULL, NULL), HILOCK_WRONG_THREAD);
    assert_int_equal(hilock_client_close_libevent(NULL, turner.base, 0), HILOCK_INVALID);
    assert_int_equal(hilock_client_close_libevent(client, NULL, 0), HILOCK_INVALID);
    assert_int_equal(hilock_client_close_libevent(client, turner.base, 0), HILOCK_OK);
    assert_int_equal(turner.move.handle.lost.reason, HILOCK_REASON_CLOSING);
    assert_true(is_gone(&turner.move));
    hilock_lock_free(turner.move.handle.lock);
    event_free(turner.move.client.tick);
    event_base_free(turner.base);
}

/* ---- a validity ---- */

enum { READERS = 3, EXTENDS = 200 };

struct stage {
    struct client client;
    struct handle held;
    hilock_validity *validity;
    pthread_t readers[READERS];
    atomic_uint reads[READERS], next;
    atomic_int is_ending; /* about to end: 0 may be read from here on */
    atomic_int has_ended; /* anything but 0 is wrong from here on */
    atomic_int may_stop;
    _Atomic uint64_t latest_us[READERS]; /* the end of the hold, as reported last */
};

static void look(struct stage *stage, unsigned reader)
{
    int had_ended = atomic_load(&stage->has_ended);
    uint64_t now_us = check_now_us();
    hilock_validity *mine = hilock_validity_ref(stage->validity);
    uint32_t left_ms = hilock_validity_remaining_ms(mine);
    hilock_validity_unref(mine);
    CHECK(!had_ended || left_ms == 0);
    CHECK(left_ms > 0 || atomic_load(&stage->is_ending));
    if (left_ms)
        atomic_store(&stage->latest_us[reader], now_us + (uint64_t)left_ms * 1000);
    atomic_fetch_add(&stage->reads[reader], 1);
}

static void *read_on(void *arg)
{
    struct stage *stage = arg;
    unsigned reader = atomic_fetch_add(&stage->next, 1);
    check_in_thread();
    while (!atomic_load(&stage->may_stop))
        look(stage, reader);
    look(stage, reader);
    hilock_validity_unref(stage->validity); /* the reader's own reference, on its own thread */
    return NULL;
}

static int all_have_read(void *arg)
{
    struct stage *stage = arg;
    for (int i = 0; i < READERS; i++)
        if (atomic_load(&stage->reads[i]) == 0)
            return 0;
    return 1;
}

/* Each looks at least once more. */
static void readers_look_again(struct stage *stage)
{
    for (int i = 0; i < READERS; i++)
        atomic_store(&stage->reads[i], 0);
    check_until(all_have_read, stage, "the readers");
}

static void readers_start(struct stage *stage, const char *url)
{
    client_open(&stage->client, url);
    handle_open(&stage->held, &stage->client, "stock", NULL);
    assert_int_equal(handle_acquire(&stage->held, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(hilock_lock_validity(stage->held.lock, &stage->validity), HILOCK_OK);
    for (int i = 0; i < READERS; i++) {
        hilock_validity_ref(stage->validity);
        assert_int_equal(pthread_create(&stage->readers[i], NULL, read_on, stage), 0);
    }
    readers_look_again(stage);
}

static void readers_stop(struct stage *stage)
{
    readers_look_again(stage);
    atomic_store(&stage->may_stop, 1);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(stage->readers[i], NULL), 0);
}

/* The deadline moves hundreds of times under the readers' eyes; no claim of theirs reaches beyond the store's lease. */
LIVE(a_validity_follows_renewals_and_the_release)
{
    struct stage stage = {.validity = NULL};
    readers_start(&stage, fixture->server->url);
    uint64_t first_us = atomic_load(&stage.latest_us[0]);
    for (uint32_t i = 1; i <= EXTENDS; i++)
        assert_int_equal(handle_extend(&stage.held, 60000 + i * 1000), HILOCK_OK);
    readers_look_again(&stage);
    uint64_t over_us = check_now_us();
    over_us += (uint64_t)redis_integer(fixture->redis, "PTTL stock") * 1000 + (check_now_us() - over_us) + 1000;
    atomic_store(&stage.is_ending, 1);
    handle_release(&stage.held);
    atomic_store(&stage.has_ended, 1);
    readers_stop(&stage);
    for (int i = 0; i < READERS; i++)
        /* it followed */
        assert_true(stage.latest_us[i] <= over_us && stage.latest_us[i] > first_us + EXTENDS * 500000);
    handle_until(&stage.held, &stage.held.released, 1, "the release");
    assert_int_equal(handle_acquire(&stage.held, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(hilock_validity_remaining_ms(stage.validity), 0); /* never a later hold's */
    hilock_validity_unref(stage.validity);
    client_end(&stage.client);
}

/* Handle and client go while threads read; the last of them gives the memory back, which the sanitizers see. */
LIVE(a_validity_outlives_lock_and_client)
{
    struct stage stage = {.validity = NULL};
    readers_start(&stage, fixture->server->url);
    hilock_validity_unref(stage.validity); /* ours; the readers have theirs */
    atomic_store(&stage.is_ending, 1);
    handle_free(&stage.held);
    atomic_store(&stage.has_ended, 1);
    client_close(&stage.client);
    readers_stop(&stage);
}
