/* SPDX-License-Identifier: BSD-3-Clause */
/* A client belongs to the thread that turns its loop, and to the process that made it. Other threads are refused and change nothing; a
 * forked child may only give memory back, which never keeps its parent from renewing and waking. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/child.h"
#include "support/fixture.h"

static void no_result(const struct hilock_result *result, void *user)
{
    (void)result;
    (void)user;
    CHECK(0 && "called back");
}

static void no_visit(const struct hilock_lock_info *info, void *user)
{
    (void)info;
    (void)user;
    CHECK(0 && "visited");
}

static void no_end(void *user)
{
    (void)user;
    CHECK(0 && "closed");
}

/* All calls that only the owner may make, on a handle that holds and one that is idle. */
static void check_refusals(struct client *client, struct handle *held, struct handle *idle, hilock_status status)
{
    struct hilock_stats stats = {.size = sizeof stats};
    struct hilock_lock_info info = {.size = sizeof info};
    hilock_lock *none = NULL;
    hilock_validity *validity = NULL;
    CHECK(hilock_lock_validity(held->lock, &validity) == status && !validity);
    CHECK(hilock_multi_token(held->lock, 0) == 0);
    CHECK(hilock_acquire(idle->lock, HILOCK_TRY, no_result, NULL) == status);
    CHECK(hilock_release(held->lock, no_result, NULL) == status);
    CHECK(hilock_cancel(idle->lock) == status);
    CHECK(hilock_extend(held->lock, 3000, no_result, NULL) == status);
    CHECK(hilock_peek(held->lock, no_result, NULL) == status);
    CHECK(hilock_force_release(held->lock, NULL, no_result, NULL) == status);
    CHECK(hilock_lock_create(&none, client->hilock, "new", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)) == status && !none);
    CHECK(hilock_multi_create(&none, client->hilock, (const char *const[]){"a", "b", NULL}, HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)) == status && !none);
    CHECK(hilock_client_close(client->hilock, 0, no_end, NULL) == status);
    hilock_lock_drop(held->lock);
    CHECK(hilock_lock_state(held->lock) == HILOCK_STATE_IDLE && hilock_lock_remaining_ms(held->lock) == 0 && hilock_lock_token(held->lock) == 0);
    CHECK(*hilock_lock_name(held->lock) == '\0' && !hilock_lock_user(held->lock));
    CHECK(*hilock_client_uuid(client->hilock) == '\0' && !hilock_client_is_connected(client->hilock));
    hilock_client_each_lock(client->hilock, no_visit, NULL);
    hilock_client_stats(client->hilock, &stats);
    CHECK(stats.acquires == 0);
    hilock_lock_describe(held->lock, &info);
    CHECK(info.fencing_token == 0 && info.state == HILOCK_STATE_IDLE);
    CHECK(strstr(hilock_client_refusal(client->hilock), status == HILOCK_FORKED ? "forked child" : "another thread"));
}

struct trial {
    struct fixture *fixture;
    struct client client;
    struct handle held, idle, waiting;
};

static void begin(struct trial *trial, void **state, uint32_t lease_ms)
{
    trial->fixture = *state;
    client_open(&trial->client, trial->fixture->server->url);
    handle_open(&trial->held, &trial->client, "held", HILOCK_LOCK_OPTIONS(.lease_ms = lease_ms));
    handle_open(&trial->idle, &trial->client, "idle", NULL);
    handle_open(&trial->waiting, &trial->client, "foreign", NULL);
    redis_do(trial->fixture->redis, "HSET foreign another 1");
    assert_int_equal(handle_acquire(&trial->held, 20000), HILOCK_OK);
    handle_ask(&trial->waiting, HILOCK_FOREVER);
    handle_until(&trial->waiting, &trial->waiting.waiting, 1, "WAITING");
    while (redis_channels(trial->fixture->redis) == 0)
        client_turn(&trial->client);
}

static int has_renewed_twice(void *arg) { return client_stats(arg).renewals >= 2; }

/* Renewals are timers, wakes are messages: both still come. */
static void end(struct trial *trial)
{
    client_until(&trial->client, has_renewed_twice, &trial->client, "two renewals");
    redis_do(trial->fixture->redis, "DEL foreign");
    redis_do(trial->fixture->redis, "PUBLISH redisson_lock__channel:{foreign} 0");
    handle_until(&trial->waiting, &trial->waiting.acquired, 1, "the wake");
    assert_int_equal(trial->waiting.acquired.status, HILOCK_OK);
    assert_true(client_stats(&trial->client).wakeups > 0);
    assert_int_equal(handle_give(&trial->held), HILOCK_OK);
    assert_int_equal(trial->held.lost.count + trial->held.renewal_failed.count, 0);
    assert_int_equal(trial->client.disconnected, 0);
    handle_free(&trial->held);
    handle_free(&trial->idle);
    handle_free(&trial->waiting);
    client_close(&trial->client);
}

static void *other_thread(void *arg)
{
    struct trial *trial = arg;
    check_refusals(&trial->client, &trial->held, &trial->idle, HILOCK_WRONG_THREAD);
    hilock_lock_free(trial->idle.lock);
    hilock_client_abandon(trial->client.hilock);
    return NULL;
}

static void another_thread_is_refused(void **state)
{
    struct trial trial;
    pthread_t thread;
    begin(&trial, state, 3000);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &trial), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(client_stats(&trial.client).wrong_thread, 25);
    assert_int_equal(client_stats(&trial.client).refused, 0);
    assert_string_equal(hilock_client_refusal(trial.client.hilock), "");
    assert_int_equal(hilock_lock_state(trial.held.lock), HILOCK_STATE_HELD);
    assert_int_equal(handle_acquire(&trial.idle, 20000), HILOCK_OK);
    end(&trial);
}

/* ---- hand-over before the first turn ---- */

struct handover { struct client client; struct handle stock; };

static void *thread_that_turns(void *arg)
{
    struct handover *handover = arg;
    handle_until(&handover->stock, &handover->stock.acquired, 1, "the grant");
    CHECK(handover->stock.acquired.status == HILOCK_OK);
    CHECK(handle_give(&handover->stock) == HILOCK_OK);
    handle_free(&handover->stock);
    client_close(&handover->client);
    return NULL;
}

static void made_here_and_turned_there(void **state)
{
    struct fixture *fixture = *state;
    struct handover handover;
    pthread_t thread;
    client_open(&handover.client, fixture->server->url);
    handle_open(&handover.stock, &handover.client, "stock:42", NULL);
    handle_ask(&handover.stock, 20000);
    assert_int_equal(pthread_create(&thread, NULL, thread_that_turns, &handover), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- forked children ---- */

static void child_that_asks(void *arg)
{
    struct trial *trial = arg;
    check_refusals(&trial->client, &trial->held, &trial->idle, HILOCK_FORKED);
}

static void forked_child_is_refused(void **state)
{
    struct trial trial;
    begin(&trial, state, 3000);
    child_join(child_start(child_that_asks, &trial));
    assert_int_equal(client_stats(&trial.client).wrong_thread, 0);
    end(&trial);
}

static void child_that_gives_back(void *arg)
{
    struct trial *trial = arg;
    CHECK(event_reinit(trial->client.base) == 0);
    hilock_client_abandon(trial->client.hilock);
    trial->client.hilock = NULL;
    handle_free(&trial->waiting);
    handle_free(&trial->held);
    handle_free(&trial->idle);
    client_close(&trial->client); /* checks that the loop is empty */
}

static void child_that_frees_handles_first(void *arg)
{
    struct trial *trial = arg;
    CHECK(event_reinit(trial->client.base) == 0);
    handle_free(&trial->held);
    handle_free(&trial->waiting);
    handle_free(&trial->idle);
    hilock_client_abandon(trial->client.hilock);
    trial->client.hilock = NULL;
    client_close(&trial->client);
}

static void child_gives_memory_back(void **state)
{
    struct trial trial;
    long long evalsha;
    begin(&trial, state, 9000);
    evalsha = redis_calls(trial.fixture->redis, "evalsha");
    child_join(child_start(child_that_gives_back, &trial));
    child_join(child_start(child_that_frees_handles_first, &trial));
    assert_int_equal(redis_calls(trial.fixture->redis, "evalsha"), evalsha);
    assert_int_equal(redis_integer(trial.fixture->redis, "HLEN held"), 2);
    end(&trial);
}

/* A child that goes on: what was its parent's it gives back, what it needs it opens itself, and both live side by side. */
static void child_with_a_client_of_its_own(void *arg)
{
    struct trial *trial = arg;
    struct client client;
    struct handle own, parents;
    child_that_gives_back(trial);
    client_open(&client, trial->fixture->server->url);
    handle_open(&own, &client, "child", NULL);
    handle_open(&parents, &client, "held", NULL);
    CHECK(handle_acquire(&own, 20000) == HILOCK_OK);
    CHECK(handle_acquire(&parents, HILOCK_TRY) == HILOCK_TIMED_OUT);
    CHECK(handle_give(&own) == HILOCK_OK);
    handle_free(&own);
    handle_free(&parents);
    client_close(&client);
}

static void child_goes_on(void **state)
{
    struct trial trial;
    begin(&trial, state, 9000);
    child_join(child_start(child_with_a_client_of_its_own, &trial));
    end(&trial);
}

/* Most children only exec or exit, and touch nothing. */
static void child_that_exits(void *arg) { (void)arg; }

static void child_touches_nothing(void **state)
{
    struct trial trial;
    begin(&trial, state, 3000);
    child_join(child_start(child_that_exits, &trial));
    end(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(another_thread_is_refused),
        FIXTURE_TEST(made_here_and_turned_there),
        FIXTURE_TEST(forked_child_is_refused),
        FIXTURE_TEST(child_gives_memory_back),
        FIXTURE_TEST(child_goes_on),
        FIXTURE_TEST(child_touches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
