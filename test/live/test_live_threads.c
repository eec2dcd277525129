/* SPDX-License-Identifier: BSD-3-Clause */
/* A client belongs to the thread in which its loop first turns: main may open it before; afterwards main is refused, and breaks nothing. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support/ledger.h"
#include "support/fixture.h"

struct worker {
    struct client client;
    struct handle handle;
    struct ledger *ledger; /* NULL: holds until it may stop */
    pthread_t thread;
    atomic_int is_holding, may_stop;
    unsigned rounds;
};

static int may_stop(void *arg) { return atomic_load(&((struct worker *)arg)->may_stop); }

static void hold_until_told(struct worker *worker)
{
    handle_until(&worker->handle, &worker->handle.acquired, 1, "the grant");
    CHECK(worker->handle.acquired.status == HILOCK_OK);
    atomic_store(&worker->is_holding, 1);
    client_until(&worker->client, may_stop, worker, "main");
    CHECK(hilock_lock_remaining_ms(worker->handle.lock) > 0 && worker->handle.lost.count == 0);
    CHECK(client_stats(&worker->client).wrong_thread >= 8); /* main's calls */
    CHECK(handle_give(&worker->handle) == HILOCK_OK);
}

static void take_turns(struct worker *worker)
{
    for (unsigned i = 0; i < worker->rounds; i++) {
        size_t grant;
        CHECK(handle_acquire(&worker->handle, HILOCK_FOREVER) == HILOCK_OK);
        grant = ledger_begin(worker->ledger, 0, worker->handle.acquired.token);
        client_turn(&worker->client);
        ledger_end(worker->ledger, grant);
        CHECK(handle_give(&worker->handle) == HILOCK_OK);
    }
}

static void *run(void *arg)
{
    struct worker *worker = arg;
    check_in_thread();
    if (worker->ledger)
        take_turns(worker);
    else
        hold_until_told(worker);
    handle_free(&worker->handle);
    client_close(&worker->client);
    return NULL;
}

static int is_holding(void *arg) { return atomic_load(&((struct worker *)arg)->is_holding); }

static void nothing(const struct hilock_result *result, void *user)
{
    (void)result;
    (void)user;
}

static void check_refuses_this_thread(struct worker *worker)
{
    hilock_client *client = worker->client.hilock;
    hilock_lock *lock = worker->handle.lock;
    assert_int_equal(hilock_acquire(lock, 1000, nothing, NULL), HILOCK_WRONG_THREAD);
    assert_int_equal(hilock_release(lock, nothing, NULL), HILOCK_WRONG_THREAD);
    assert_int_equal(hilock_client_close(client, 0, NULL, NULL), HILOCK_WRONG_THREAD);
    hilock_lock_drop(lock);
    hilock_client_abandon(client);
    assert_int_equal(hilock_lock_state(lock), HILOCK_STATE_IDLE);
    assert_int_equal(hilock_lock_remaining_ms(lock), 0);
    assert_string_equal(hilock_lock_name(lock), "");
    assert_non_null(strstr(hilock_client_refusal(client), "thread"));
}

/* Opened, a handle made and an acquire asked for, all in main; from the thread's first turn on it is the thread's. */
static void opened_in_main(void **state)
{
    struct fixture *fixture = *state;
    struct worker worker = {.ledger = NULL};
    client_open(&worker.client, fixture->server->url);
    handle_open(&worker.handle, &worker.client, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    handle_ask(&worker.handle, HILOCK_FOREVER);
    assert_int_equal(hilock_lock_state(worker.handle.lock), HILOCK_STATE_WAITING);
    assert_int_equal(pthread_create(&worker.thread, NULL, run, &worker), 0);
    check_until(is_holding, &worker, "the thread's hold");
    check_refuses_this_thread(&worker);
    check_pause_ms(1200); /* it renews there, untroubled */
    assert_int_equal(redis_lock_keys(fixture->redis), 1);
    atomic_store(&worker.may_stop, 1);
    assert_int_equal(pthread_join(worker.thread, NULL), 0);
    assert_int_equal(worker.handle.lost.count, 0);
    assert_int_equal(worker.handle.released.count, 1);
}

/* A client a thread, as in a threaded server: they compete through the store, and share nothing. */
static void one_client_a_thread(void **state)
{
    enum { THREADS = 4, ROUNDS = 50 };
    struct fixture *fixture = *state;
    static struct worker workers[THREADS];
    struct ledger *ledger = ledger_new(1, THREADS * ROUNDS);
    struct verdict verdict;
    for (int i = 0; i < THREADS; i++) {
        workers[i].ledger = ledger;
        workers[i].rounds = ROUNDS;
        client_open(&workers[i].client, fixture->server->url);
        handle_open(&workers[i].handle, &workers[i].client, "stock", NULL);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    verdict = ledger_judge(ledger);
    assert_int_equal(verdict.grants, THREADS * ROUNDS);
    assert_int_equal(verdict.overlaps + verdict.met + verdict.backward + verdict.open, 0);
    ledger_free(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(opened_in_main),
        FIXTURE_TEST(one_client_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
