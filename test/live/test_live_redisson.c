/* SPDX-License-Identifier: BSD-3-Clause */
/* A Java service with Redisson's RLock, played by raw commands: it is kept out and kept waiting by us, and we by it; each wakes the other. */
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "support/check.h"
#include "support/java.h"
#include "support/fixture.h"

static const char java_holder[] = "6f1c2a3b-0000-4000-8000-00000000beef:57";
static const char java_channel[] = "redisson_lock__channel:{stock}";

enum { HAD = JAVA_HAD, LEASE_MS = 60000 };

static long long locked(struct redis *java) { return java_lock(java, "stock", java_holder, LEASE_MS); }
static long long unlocked(struct redis *java) { return java_unlock(java, "stock", java_holder, LEASE_MS); }

static void is_kept_out_and_woken_by_us(void **state)
{
    struct fixture *fixture = *state;
    struct redis *java = redis_open(fixture->server), *ear = redis_open(fixture->server);
    struct timeval patience = {CHECK_PATIENCE_MS / 1000, 0};
    struct client client;
    struct handle held;
    redisReply *message = NULL;
    long long left_ms;
    client_open(&client, fixture->server->url);
    handle_open(&held, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&held, HILOCK_TRY), HILOCK_OK);
    left_ms = locked(java);
    assert_in_range(left_ms, 1, LEASE_MS); /* how long he will wait if nothing wakes him */
    assert_int_equal(redis_integer(fixture->redis, "HLEN stock"), 2); /* he has left no trace */
    redis_do(ear, "SUBSCRIBE %s", java_channel);
    assert_in_range(locked(java), 1, LEASE_MS);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    assert_int_equal(redisSetTimeout(ear->context, patience), REDIS_OK);
    assert_int_equal(redisGetReply(ear->context, (void **)&message), REDIS_OK);
    assert_string_equal(message->element[0]->str, "message");
    assert_string_equal(message->element[1]->str, java_channel);
    assert_string_equal(message->element[2]->str, "0"); /* anything but a number would be an error in his log */
    freeReplyObject(message);
    assert_int_equal(locked(java), HAD);
    assert_int_equal(handle_acquire(&held, HILOCK_TRY), HILOCK_TIMED_OUT);
    assert_string_equal(held.acquired.holder, java_holder);
    assert_int_equal(unlocked(java), 1);
    handle_free(&held);
    redis_close(ear);
    redis_close(java);
    client_close(&client);
}

struct calls { struct redis *redis; long long count; };

static int has_called(void *arg)
{
    const struct calls *calls = arg;
    return redis_calls(calls->redis, "evalsha") >= calls->count;
}

/* He holds twice over, as Java threads may; only his last unlock wakes us, and that with one command. */
static void keeps_us_out_and_wakes_us(void **state)
{
    struct fixture *fixture = *state;
    struct redis *java = redis_open(fixture->server);
    struct client client;
    struct handle waiter;
    uint64_t begun_us = check_now_us();
    long long java_has_it = 0;
    client_open(&client, fixture->server->url);
    handle_open(&waiter, &client, "stock", NULL);
    java_has_it += locked(java) == HAD;
    java_has_it += locked(java) == HAD;
    assert_int_equal(java_has_it, 2);
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    handle_ask(&waiter, HILOCK_FOREVER);
    client_until(&client, has_called, &(struct calls){fixture->redis, 2}, "both tries");
    handle_until(&waiter, &waiter.waiting, 1, "the wait");
    assert_string_equal(waiter.waiting.holder, java_holder);
    assert_int_equal(unlocked(java), 0);
    client_for_ms(&client, 200);
    assert_int_equal(waiter.acquired.count, 0);
    assert_int_equal(client_stats(&client).wakeups, 0);
    assert_int_equal(unlocked(java), 1);
    handle_until(&waiter, &waiter.acquired, 1, "the grant");
    assert_int_equal(waiter.acquired.status, HILOCK_OK);
    assert_int_equal(client_stats(&client).wakeups, 1);
    if (check_now_us() - begun_us < 5000000) /* else the safety poll has asked, too */
        assert_int_equal(redis_calls(fixture->redis, "evalsha"), 3);
    assert_int_equal(handle_give(&waiter), HILOCK_OK);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock"), 0);
    handle_free(&waiter);
    redis_close(java);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(is_kept_out_and_woken_by_us),
        FIXTURE_TEST(keeps_us_out_and_wakes_us),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
