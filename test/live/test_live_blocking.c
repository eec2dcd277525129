/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking calls do what their header says, from many threads: a hold excludes, a wait ends in time and leaves nothing, a loss is seen by
 * remaining, descriptor and callback, closing wakes the threads that wait, and what may not be called somewhere is refused there. */
#include <errno.h>
#include <fcntl.h>
#include <hilock/blocking.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "support/child.h"
#include "support/ledger.h"
#include "support/fixture.h"
#include "support/secret.h"

enum { LEASE_MS = 3000, LONG_LEASE_MS = 60000 };

static hilock_blocking *open_at(const char *url)
{
    hilock_blocking *client = NULL;
    struct hilock_error error = {""};
    if (hilock_blocking_open(&client, HILOCK_CLIENT_OPTIONS(.url = url, .label = "blocking", .command_timeout_ms = 1000), &error) != HILOCK_OK)
        check_fail("open refused: %s", error.text);
    return client;
}

static struct hilock_blocking_result heard(void) { return (struct hilock_blocking_result){.size = sizeof(struct hilock_blocking_result)}; }

static hilock_status take(hilock_blocking *client, const char *name, uint32_t lease_ms, uint32_t wait_ms, hilock_blocking_lock **ret_lock)
{
    struct hilock_blocking_result result = heard();
    hilock_status status = hilock_blocking_acquire(client, name, HILOCK_LOCK_OPTIONS(.lease_ms = lease_ms), wait_ms, ret_lock, &result);
    CHECK(status == result.status && (status == HILOCK_OK) == (*ret_lock != NULL));
    CHECK(!strstr(result.detail, TEST_SECRET));
    return status;
}

static hilock_blocking_lock *held(hilock_blocking *client, const char *name, uint32_t lease_ms)
{
    hilock_blocking_lock *lock;
    CHECK(take(client, name, lease_ms, HILOCK_FOREVER, &lock) == HILOCK_OK);
    return lock;
}

static int is_readable(int fd, int patience_ms)
{
    struct pollfd asked = {.fd = fd, .events = POLLIN};
    return poll(&asked, 1, patience_ms) == 1 && asked.revents == POLLIN;
}

static int is_set(void *arg) { return atomic_load((atomic_int *)arg) != 0; }

/* ---- one thread */

LIVE(taken_and_given_back)
{
    struct hilock_blocking_result result = heard();
    hilock_blocking *client = open_at(fixture->server->url);
    hilock_blocking_lock *lock = NULL;
    assert_int_equal(hilock_blocking_acquire(client, "stock", NULL, HILOCK_FOREVER, &lock, &result), HILOCK_OK);
    uint64_t token = hilock_blocking_token(lock);
    assert_true(token > 0 && token == result.fencing_token && result.attempts == 1);
    assert_true(hilock_blocking_remaining_ms(lock) > 0 && result.remaining_ms > 0);
    assert_int_equal(redis_lock_keys(fixture->redis), 1);
    assert_false(is_readable(hilock_blocking_lost_fd(lock), 0));
    assert_int_equal(hilock_blocking_extend(lock, LONG_LEASE_MS, &result), HILOCK_OK);
    assert_in_range(result.remaining_ms, 30001, LONG_LEASE_MS);
    assert_int_equal(hilock_blocking_release(lock, &result), HILOCK_OK);
    assert_int_equal(redis_lock_keys(fixture->redis), 0);
    lock = held(client, "stock", LEASE_MS);
    assert_true(hilock_blocking_token(lock) > token);
    assert_int_equal(hilock_blocking_release(lock, NULL), HILOCK_OK);
    hilock_blocking_free(client);
}

LIVE(shared_with_others)
{
    const struct hilock_lock_options *sharing = HILOCK_LOCK_OPTIONS(.lease_ms = LONG_LEASE_MS, .holders_max = 2);
    hilock_blocking *client = open_at(fixture->server->url);
    hilock_blocking_lock *locks[2], *third;
    struct hilock_blocking_result result = heard();
    for (int i = 0; i < 2; i++)
        CHECK(hilock_blocking_acquire(client, "stock", sharing, HILOCK_TRY, &locks[i], NULL) == HILOCK_OK);
    CHECK(hilock_blocking_token(locks[0]) < hilock_blocking_token(locks[1]));
    CHECK(hilock_blocking_acquire(client, "stock", sharing, HILOCK_TRY, &third, &result) == HILOCK_TIMED_OUT && result.holders == 2);
    CHECK(hilock_blocking_release(locks[0], NULL) == HILOCK_OK && hilock_blocking_remaining_ms(locks[1]) > 0);
    CHECK(hilock_blocking_acquire(client, "stock", sharing, HILOCK_TRY, &third, NULL) == HILOCK_OK);
    CHECK(hilock_blocking_downgrade(third, &result) == HILOCK_UNSUPPORTED && strstr(result.detail, "shares the name already"));
    CHECK(hilock_blocking_release(locks[1], NULL) == HILOCK_OK && hilock_blocking_release(third, NULL) == HILOCK_OK);
    CHECK(hilock_blocking_acquire(client, "stock", NULL, HILOCK_TRY, &third, NULL) == HILOCK_OK);
    CHECK(hilock_blocking_downgrade(third, &result) == HILOCK_OK && result.fencing_token == hilock_blocking_token(third));
    CHECK(hilock_blocking_acquire(client, "stock", sharing, HILOCK_TRY, &locks[0], NULL) == HILOCK_OK);
    CHECK(hilock_blocking_downgrade(NULL, NULL) == HILOCK_INVALID);
    CHECK(hilock_blocking_release(third, NULL) == HILOCK_OK && hilock_blocking_release(locks[0], NULL) == HILOCK_OK);
    hilock_blocking_free(client);
}

LIVE(a_wait_ends_in_time)
{
    struct hilock_blocking_result result = heard();
    hilock_blocking *holder = open_at(fixture->server->url), *other = open_at(fixture->server->url);
    hilock_blocking_lock *lock = held(holder, "stock", LONG_LEASE_MS), *none;
    assert_int_equal(take(other, "stock", LEASE_MS, HILOCK_TRY, &none), HILOCK_TIMED_OUT);
    assert_int_equal(take(holder, "stock", LEASE_MS, HILOCK_TRY, &none), HILOCK_TIMED_OUT);
    assert_int_equal(hilock_blocking_acquire(other, "stock", NULL, 300, &none, &result), HILOCK_TIMED_OUT);
    assert_true(result.waited_ms >= 300 && result.holder_remaining_ms > 0 && strchr(result.holder, ':'));
    assert_int_equal(hilock_blocking_release(lock, NULL), HILOCK_OK);
    hilock_blocking_free(holder);
    hilock_blocking_free(other);
}

static int is_clean(void *arg) { return redis_lock_keys(arg) == 0; }

/* Each in words; what is refused leaves nothing behind. */
LIVE(refused)
{
    struct hilock_blocking_result unsized = {.size = 0};
    struct { struct hilock_lock_options known; int unknown; } newer = {hilock_lock_options_default(), 1};
    const struct { const char *name; const struct hilock_lock_options *options; const char *words; } rows[] = {
        {"stock", &newer.known, ""},
        {"stock", HILOCK_LOCK_OPTIONS(.reentrant = 1), "reentrant"},
        {"stock", HILOCK_LOCK_OPTIONS(.lease_ms = 50), "lease_ms 50"},
        {"a}b{c", NULL, "a}b{c"},
    };
    struct hilock_error error = {""};
    hilock_blocking *client = NULL;
    hilock_blocking_lock *lock = NULL;
    assert_int_equal(hilock_blocking_open(&client, HILOCK_CLIENT_OPTIONS(.lease_ms = 50), &error), HILOCK_INVALID);
    assert_true(client == NULL && strstr(error.text, "lease_ms 50"));
    client = open_at(fixture->server->url);
    newer.known.size = sizeof newer;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hilock_blocking_result result = heard();
        assert_int_equal(hilock_blocking_acquire(client, rows[i].name, rows[i].options, 0, &lock, &result),
                         rows[i].options ? HILOCK_INVALID : HILOCK_BAD_NAME);
        assert_true(lock == NULL && strstr(result.detail, rows[i].words));
    }
    assert_int_equal(hilock_blocking_acquire(client, "stock", NULL, 0, &lock, &unsized), HILOCK_INVALID);
    assert_int_equal(hilock_blocking_acquire(client, "stock", NULL, 0, NULL, NULL), HILOCK_INVALID);
    assert_int_equal(hilock_blocking_acquire(NULL, "stock", NULL, 0, &lock, NULL), HILOCK_INVALID);
    lock = held(client, "stock", LEASE_MS);
    assert_int_equal(hilock_blocking_extend(lock, 1, NULL), HILOCK_INVALID);
    assert_int_equal(hilock_blocking_release(lock, &unsized), HILOCK_INVALID); /* and is still there */
    assert_int_equal(hilock_blocking_release(lock, NULL), HILOCK_OK);
    assert_int_equal(hilock_blocking_close(client, HILOCK_FOREVER - 1), HILOCK_INVALID);
    assert_int_equal(hilock_blocking_release(NULL, NULL), HILOCK_INVALID);
    assert_int_equal(hilock_blocking_extend(NULL, 0, NULL) + hilock_blocking_close(NULL, 0), 2 * HILOCK_INVALID);
    assert_int_equal(hilock_blocking_remaining_ms(NULL) + hilock_blocking_token(NULL), 0);
    hilock_blocking_free(NULL);
    hilock_blocking_free(client);
}

/* ---- loss */

struct loss {
    hilock_blocking *client;
    hilock_blocking_lock *lock;
    pthread_t on_thread;
    hilock_lost_reason reason;
    int refusals, had_objects, was_held;
    atomic_int count;
};

/* All that may not be called here. */
static void on_lost(const struct hilock_event *event, void *user)
{
    struct loss *loss = user;
    hilock_blocking_lock *none;
    loss->on_thread = pthread_self();
    loss->reason = event->reason;
    loss->had_objects = event->client || event->lock;
    loss->was_held = hilock_blocking_remaining_ms(loss->lock) > 0 || !is_readable(hilock_blocking_lost_fd(loss->lock), 0);
    loss->refusals = (take(loss->client, "stock", LEASE_MS, HILOCK_FOREVER, &none) == HILOCK_WRONG_THREAD) +
                     (hilock_blocking_extend(loss->lock, 0, NULL) == HILOCK_WRONG_THREAD) +
                     (hilock_blocking_release(loss->lock, NULL) == HILOCK_WRONG_THREAD) +
                     (hilock_blocking_close(loss->client, 0) == HILOCK_WRONG_THREAD);
    hilock_blocking_free(loss->client);
    atomic_fetch_add(&loss->count, 1);
}

static void loss_begin(struct loss *loss, const char *url)
{
    *loss = (struct loss){.client = open_at(url), .reason = HILOCK_REASON_NONE};
    CHECK(hilock_blocking_acquire(loss->client, "stock", HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = loss, .lease_ms = LEASE_MS), HILOCK_TRY,
                                  &loss->lock, NULL) == HILOCK_OK);
}

static void check_lost(struct loss *loss, hilock_lost_reason reason)
{
    check_until(is_set, &loss->count, "on_lost");
    CHECK(loss->reason == reason && !loss->had_objects && !loss->was_held && loss->refusals == 4);
    CHECK(!pthread_equal(loss->on_thread, pthread_self()));
    CHECK(hilock_blocking_remaining_ms(loss->lock) == 0);
    CHECK(hilock_blocking_extend(loss->lock, 0, NULL) == HILOCK_LOST);
}

LIVE(taken_away)
{
    struct hilock_blocking_result result = heard();
    struct loss loss;
    loss_begin(&loss, fixture->server->url);
    assert_false(is_readable(hilock_blocking_lost_fd(loss.lock), 0));
    redis_do(fixture->redis, "DEL stock");
    assert_true(is_readable(hilock_blocking_lost_fd(loss.lock), CHECK_PATIENCE_MS));
    check_lost(&loss, HILOCK_REASON_TAKEN);
    assert_int_equal(hilock_blocking_release(loss.lock, &result), HILOCK_LOST);
    assert_non_null(strstr(result.detail, "TAKEN"));
    assert_int_equal(atomic_load(&loss.count), 1);
    hilock_blocking_free(loss.client);
}

/* The caller learns it, and the descriptor shows it; on_lost does not run too. */
LIVE(found_lost_by_an_extend)
{
    struct loss loss;
    loss_begin(&loss, fixture->server->url);
    int fd = hilock_blocking_lost_fd(loss.lock);
    redis_do(fixture->redis, "DEL stock");
    while (hilock_blocking_extend(loss.lock, 0, NULL) == HILOCK_OK)
        ;
    assert_true(is_readable(fd, CHECK_PATIENCE_MS) && hilock_blocking_remaining_ms(loss.lock) == 0);
    assert_int_equal(hilock_blocking_release(loss.lock, NULL), HILOCK_LOST);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* closed with its lock */
    hilock_blocking_free(loss.client);
}

/* ---- several threads */

struct worker {
    hilock_blocking *client;
    hilock_blocking_lock *lock;
    pthread_t thread;
    hilock_status status;
    atomic_int is_waiting, has_ended;
};

static void on_event(const struct hilock_event *event, void *user)
{
    if (event->kind == HILOCK_EVENT_WAITING && !event->lock && !event->client)
        atomic_store((atomic_int *)user, 1);
}

static void *wait_for_stock(void *arg)
{
    struct worker *worker = arg;
    check_in_thread();
    worker->status = hilock_blocking_acquire(worker->client, "stock",
                                             HILOCK_LOCK_OPTIONS(.lease_ms = LEASE_MS, .on_event = on_event, .user = &worker->is_waiting),
                                             HILOCK_FOREVER, &worker->lock, NULL);
    atomic_store(&worker->has_ended, 1);
    return NULL;
}

static void *prolong(void *arg)
{
    struct worker *worker = arg;
    worker->status = hilock_blocking_extend(worker->lock, 0, NULL);
    return NULL;
}

static void *close_it(void *arg)
{
    struct worker *worker = arg;
    worker->status = hilock_blocking_close(worker->client, HILOCK_FOREVER);
    atomic_store(&worker->has_ended, 1);
    return NULL;
}

static void begin(struct worker *worker, void *(*run)(void *arg)) { CHECK(pthread_create(&worker->thread, NULL, run, worker) == 0); }

static void begin_to_wait(struct worker *worker, hilock_blocking *client)
{
    *worker = (struct worker){.client = client};
    begin(worker, wait_for_stock);
    check_until(is_set, &worker->is_waiting, "WAITING");
}

static atomic_int signals;

static void on_signal(int number)
{
    (void)number;
    atomic_fetch_add(&signals, 1);
}

/* A signal's handler runs in the thread that it is for, and the wait goes on. */
LIVE(one_waits_for_another)
{
    const struct sigaction without_restart = {.sa_handler = on_signal};
    struct worker waiter;
    hilock_blocking *client = open_at(fixture->server->url);
    hilock_blocking_lock *lock = held(client, "stock", LEASE_MS);
    sigaction(SIGUSR1, &without_restart, NULL);
    begin_to_wait(&waiter, client);
    pthread_kill(waiter.thread, SIGUSR1);
    check_until(is_set, &signals, "the signal");
    check_pause_ms(50);
    assert_int_equal(atomic_load(&waiter.has_ended), 0);
    assert_int_equal(hilock_blocking_release(lock, NULL), HILOCK_OK);
    assert_int_equal(pthread_join(waiter.thread, NULL), 0);
    assert_int_equal(waiter.status, HILOCK_OK);
    assert_int_equal(hilock_blocking_release(waiter.lock, NULL), HILOCK_OK);
    hilock_blocking_free(client);
}

LIVE(closed_while_others_wait)
{
    enum { WAITERS = 4 };
    struct worker waiters[WAITERS];
    struct loss loss;
    loss_begin(&loss, fixture->server->url);
    for (int i = 0; i < WAITERS; i++)
        begin_to_wait(&waiters[i], loss.client);
    assert_int_equal(hilock_blocking_close(loss.client, 0), HILOCK_OK);
    for (int i = 0; i < WAITERS; i++) {
        assert_int_equal(pthread_join(waiters[i].thread, NULL), 0);
        assert_true(waiters[i].status == HILOCK_CLOSED && !waiters[i].lock);
    }
    check_lost(&loss, HILOCK_REASON_CLOSING);
    assert_int_equal(take(loss.client, "other", LEASE_MS, HILOCK_FOREVER, &waiters[0].lock), HILOCK_CLOSED);
    assert_int_equal(hilock_blocking_close(loss.client, HILOCK_FOREVER), HILOCK_OK); /* it is closed */
    hilock_blocking_free(loss.client);
    assert_true(is_readable(hilock_blocking_lost_fd(loss.lock), 0));
    assert_int_equal(hilock_blocking_release(loss.lock, NULL), HILOCK_LOST);
}

/* The drain: a hold lives on, may be extended and is released; then the close returns. */
LIVE(closed_while_one_works)
{
    struct worker closer = {.client = open_at(fixture->server->url)}, waiter;
    hilock_blocking_lock *lock = held(closer.client, "stock", LEASE_MS);
    begin_to_wait(&waiter, closer.client);
    begin(&closer, close_it);
    check_until(is_set, &waiter.has_ended, "CLOSED to the waiter");
    assert_int_equal(waiter.status, HILOCK_CLOSED);
    assert_int_equal(hilock_blocking_extend(lock, 0, NULL), HILOCK_OK);
    assert_int_equal(atomic_load(&closer.has_ended), 0);
    assert_int_equal(hilock_blocking_release(lock, NULL), HILOCK_OK);
    assert_int_equal(pthread_join(closer.thread, NULL) + pthread_join(waiter.thread, NULL), 0);
    assert_int_equal(closer.status, HILOCK_OK);
    hilock_blocking_free(closer.client);
}

static int is_kept_waiting(void *redis) { return redis_info(redis, "clients", "blocked_clients") > 0; }

/* Each is answered, though the store serves nobody meanwhile. */
LIVE(released_under_an_extend)
{
    struct worker worker = {.client = open_at(fixture->server->url)};
    worker.lock = held(worker.client, "stock", LONG_LEASE_MS);
    redis_do(fixture->redis, "CLIENT PAUSE 120000 WRITE");
    begin(&worker, prolong);
    check_until(is_kept_waiting, fixture->redis, "the extend");
    assert_int_equal(hilock_blocking_release(worker.lock, NULL), HILOCK_UNKNOWN);
    assert_int_equal(pthread_join(worker.thread, NULL), 0);
    assert_true(worker.status == HILOCK_UNKNOWN || worker.status == HILOCK_LOST);
    redis_do(fixture->redis, "CLIENT UNPAUSE");
    check_until(is_clean, fixture->redis, "the release");
    hilock_blocking_free(worker.client);
}

/* ---- many threads */

enum { THREADS = 8, ROUNDS = 40 };

struct hammer {
    hilock_blocking *client;
    struct ledger *ledger;
    unsigned plain; /* a thread sanitizer sees that holds are in order */
};

static void *hammer_on(void *arg)
{
    struct hammer *hammer = arg;
    check_in_thread();
    for (int i = 0; i < ROUNDS; i++) {
        hilock_blocking_lock *lock = held(hammer->client, "stock", LONG_LEASE_MS);
        const size_t grant = ledger_begin(hammer->ledger, 0, hilock_blocking_token(lock));
        hammer->plain++;
        CHECK(hilock_blocking_remaining_ms(lock) > 0);
        ledger_end(hammer->ledger, grant);
        CHECK(hilock_blocking_release(lock, NULL) == HILOCK_OK);
    }
    return NULL;
}

LIVE(one_thread_at_a_time)
{
    struct hammer hammer = {.client = open_at(fixture->server->url), .ledger = ledger_new(1, THREADS * ROUNDS)};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer_on, &hammer), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    struct verdict verdict = ledger_judge(hammer.ledger);
    assert_true(verdict.grants == THREADS * ROUNDS && hammer.plain == THREADS * ROUNDS);
    assert_int_equal(verdict.overlaps + verdict.met + verdict.backward + verdict.open, 0);
    hilock_blocking_free(hammer.client);
    ledger_free(hammer.ledger);
}

/* ---- a forked child */

static void in_child(void *arg)
{
    struct loss *loss = arg;
    hilock_blocking_lock *none;
    CHECK(take(loss->client, "other", LEASE_MS, HILOCK_FOREVER, &none) == HILOCK_FORKED);
    CHECK(hilock_blocking_extend(loss->lock, 0, NULL) == HILOCK_FORKED);
    CHECK(hilock_blocking_release(loss->lock, NULL) == HILOCK_FORKED);
    CHECK(hilock_blocking_close(loss->client, 0) == HILOCK_FORKED);
    CHECK(hilock_blocking_remaining_ms(loss->lock) == 0 && hilock_blocking_lost_fd(loss->lock) == -1 && errno == EINVAL);
    CHECK(hilock_blocking_token(loss->lock) > 0);
    hilock_blocking_free(loss->client);
}

LIVE(forked)
{
    struct loss loss;
    loss_begin(&loss, fixture->server->url);
    child_join(child_start(in_child, &loss));
    assert_true(hilock_blocking_remaining_ms(loss.lock) > 0);
    assert_int_equal(hilock_blocking_release(loss.lock, NULL), HILOCK_OK);
    hilock_blocking_free(loss.client);
    assert_int_equal(atomic_load(&loss.count), 0);
}
