/* SPDX-License-Identifier: BSD-3-Clause */
/* A client belongs to the thread in which its loop first turns, one to each as in a threaded server: they compete
 * through the store, and share nothing. Main may open and ask before; afterwards it is refused, and breaks nothing.
 * Runs under ThreadSanitizer too (.ci/run threads). */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support/fixture.h"
#include "support/ledger.h"

enum { THREADS = 4, ROUNDS = 50, ROUNDS_MAX = 1000000, CALLS = 9 };

struct worker {
    struct client client;
    struct handle handle;
    struct ledger *ledger;
    pthread_t thread;
    atomic_uint rounds;
    atomic_int may_stop;
};

static void hold_once(struct worker *worker)
{
    size_t grant;
    CHECK(worker->handle.acquired.status == HILOCK_OK);
    grant = ledger_begin(worker->ledger, 0, worker->handle.acquired.token);
    client_turn(&worker->client);
    ledger_end(worker->ledger, grant);
    CHECK(handle_give(&worker->handle) == HILOCK_OK);
    atomic_fetch_add(&worker->rounds, 1);
}

static void *run(void *arg)
{
    struct worker *worker = arg;
    check_in_thread();
    handle_until(&worker->handle, &worker->handle.acquired, 1, "what main asked for");
    hold_once(worker);
    while (atomic_load(&worker->rounds) < ROUNDS || !atomic_load(&worker->may_stop)) {
        CHECK(handle_acquire(&worker->handle, HILOCK_FOREVER) == HILOCK_OK);
        hold_once(worker);
    }
    CHECK(worker->handle.lost.count == 0);
    CHECK(client_stats(&worker->client).wrong_thread >= CALLS);
    handle_free(&worker->handle);
    client_close(&worker->client);
    return NULL;
}

static int has_begun(void *arg) { return atomic_load(&((struct worker *)arg)->rounds) > 0; }

static void nothing(const struct hilock_result *result, void *user)
{
    (void)result;
    (void)user;
}

/* From the calls of main the thread feels nothing. */
static void check_refuses_this_thread(struct worker *worker)
{
    hilock_client *client = worker->client.hilock;
    hilock_lock *lock = worker->handle.lock;
    assert_int_equal(hilock_acquire(lock, 1000, nothing, NULL), HILOCK_WRONG_THREAD);
    assert_int_equal(hilock_release(lock, nothing, NULL), HILOCK_WRONG_THREAD);
    assert_int_equal(hilock_cancel(lock), HILOCK_WRONG_THREAD);
    assert_int_equal(hilock_client_close(client, 0, NULL, NULL), HILOCK_WRONG_THREAD);
    hilock_lock_drop(lock);
    hilock_client_abandon(client);
    assert_int_equal(hilock_lock_state(lock), HILOCK_STATE_IDLE);
    assert_int_equal(hilock_lock_remaining_ms(lock), 0);
    assert_string_equal(hilock_lock_name(lock), "");
    assert_non_null(strstr(hilock_client_refusal(client), "thread"));
}

static void one_client_a_thread(void **state)
{
    struct fixture *fixture = *state;
    static struct worker workers[THREADS];
    struct ledger *ledger = ledger_new(1, ROUNDS_MAX);
    struct verdict verdict;
    for (int i = 0; i < THREADS; i++) {
        workers[i].ledger = ledger;
        client_open(&workers[i].client, fixture->server->url);
        handle_open(&workers[i].handle, &workers[i].client, "stock", NULL);
        handle_ask(&workers[i].handle, HILOCK_FOREVER);
        assert_int_equal(hilock_lock_state(workers[i].handle.lock), HILOCK_STATE_WAITING);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        check_until(has_begun, &workers[i], "a hold of each thread");
        check_refuses_this_thread(&workers[i]);
        atomic_store(&workers[i].may_stop, 1);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    verdict = ledger_judge(ledger);
    assert_true(verdict.grants >= THREADS * ROUNDS);
    assert_int_equal(verdict.overlaps + verdict.met + verdict.backward + verdict.open, 0);
    ledger_free(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {FIXTURE_TEST(one_client_a_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
