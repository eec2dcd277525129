/* SPDX-License-Identifier: BSD-3-Clause */
/* A hold that another took at the store is reported as lost: once, as TAKEN, and the other's hold is left alone. What is not loss is not
 * reported as loss. */
#include <stdio.h>
#include <string.h>

#include "support/fixture.h"

enum { LEASE_MS = 3000 };

static const char thief[] = "00000000-0000-4000-8000-000000000000:7";

static void begin(struct client *client, struct handle *held, struct fixture *fixture, uint32_t lease_ms)
{
    client_open(client, fixture->server->url);
    handle_open(held, client, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = lease_ms));
    assert_int_equal(handle_acquire(held, HILOCK_TRY), HILOCK_OK);
}

/* Lost, once; then one more turn of the watchdog, in which nothing may be reported or sent. */
static void check_lost_once(struct client *client, struct handle *held, hilock_lost_reason reason)
{
    uint64_t commands;
    handle_until(held, &held->lost, 1, "the loss");
    commands = client_stats(client).commands;
    assert_int_equal(held->lost.reason, reason);
    assert_int_equal(held->lost.token, held->acquired.token);
    assert_non_null(strstr(held->lost.detail, "stock"));
    assert_int_equal(hilock_lock_state(held->lock), HILOCK_STATE_IDLE);
    assert_int_equal(hilock_lock_remaining_ms(held->lock), 0);
    assert_int_equal(hilock_lock_token(held->lock), 0);
    assert_int_equal(hilock_release(held->lock, NULL, NULL), HILOCK_NOT_HELD);
    client_for_ms(client, LEASE_MS / 2);
    assert_int_equal(held->lost.count, 1);
    assert_int_equal(client_stats(client).commands, commands);
}

static void end(struct client *client, struct handle *held)
{
    assert_int_equal(client_stats(client).lost_taken, 1);
    assert_int_equal(handle_acquire(held, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(handle_give(held), HILOCK_OK);
    handle_free(held);
    client_close(client);
}

static void deleted_by_hand(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    begin(&client, &held, fixture, LEASE_MS);
    assert_int_equal(redis_integer(fixture->redis, "DEL stock"), 1);
    check_lost_once(&client, &held, HILOCK_REASON_TAKEN);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock"), 0); /* never made again */
    end(&client, &held);
}

static void stolen_by_hand(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    begin(&client, &held, fixture, LEASE_MS);
    redis_do(fixture->redis, "EVAL %s 1 stock %s",
             "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], ARGV[1], '9000000000000000', 'mode', 'mutex') redis.call('PEXPIRE', KEYS[1], 600000)",
             thief);
    check_lost_once(&client, &held, HILOCK_REASON_TAKEN);
    assert_int_equal(redis_integer(fixture->redis, "HEXISTS stock %s", thief), 1);
    assert_int_equal(redis_integer(fixture->redis, "HLEN stock"), 2);
    assert_true(redis_integer(fixture->redis, "PTTL stock") > 300000); /* nor was his lease touched */
    assert_int_equal(handle_acquire(&held, HILOCK_TRY), HILOCK_TIMED_OUT);
    assert_string_equal(held.acquired.holder, thief);
    redis_do(fixture->redis, "DEL stock");
    end(&client, &held);
}

/* The field is ours, but under a token that we never got: that is another hold (a copy of our acquire, run late). */
static void made_again_under_another_token(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    begin(&client, &held, fixture, LEASE_MS);
    redis_do(fixture->redis, "HSET stock %s:1:live %s", hilock_client_uuid(client.hilock), "42");
    check_lost_once(&client, &held, HILOCK_REASON_TAKEN);
    redis_do(fixture->redis, "DEL stock");
    end(&client, &held);
}

static void flushed(void **state)
{
    enum { HOLDS = 20 };
    struct fixture *fixture = *state;
    struct client client;
    struct handle held[HOLDS];
    char name[16];
    client_open(&client, fixture->server->url);
    for (int i = 0; i < HOLDS; i++) {
        snprintf(name, sizeof name, "name%d", i);
        handle_open(&held[i], &client, name, HILOCK_LOCK_OPTIONS(.lease_ms = LEASE_MS));
        assert_int_equal(handle_acquire(&held[i], HILOCK_TRY), HILOCK_OK);
    }
    redis_do(fixture->redis, "FLUSHALL");
    for (int i = 0; i < HOLDS; i++)
        handle_until(&held[i], &held[i].lost, 1, "the loss");
    client_for_ms(&client, LEASE_MS / 2);
    for (int i = 0; i < HOLDS; i++) {
        assert_int_equal(held[i].lost.count, 1);
        assert_int_equal(held[i].lost.reason, HILOCK_REASON_TAKEN);
    }
    assert_int_equal(redis_integer(fixture->redis, "DBSIZE"), 0);
    assert_int_equal(handle_acquire(&held[0], HILOCK_TRY), HILOCK_OK);
    assert_true(held[0].acquired.token > held[0].lost.token); /* rises, though its key is lost */
    assert_int_equal(client_stats(&client).lost_taken, HOLDS);
    for (int i = 0; i < HOLDS; i++)
        handle_free(&held[i]);
    client_close(&client);
}

/* Nobody has noticed yet: the release does, and on_lost does not run as well. */
static void found_by_the_release(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    begin(&client, &held, fixture, 60000);
    redis_do(fixture->redis, "DEL stock");
    assert_int_equal(handle_give(&held), HILOCK_LOST);
    assert_non_null(strstr(held.released.detail, "overlapped"));
    client_for_ms(&client, 200);
    assert_int_equal(held.lost.count, 0);
    assert_int_equal(held.released.count, 1);
    handle_free(&held);
    client_close(&client);
}

/* A waiter of the same client takes over what its sibling lost. */
static void lost_to_a_sibling_in_line(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held, waiter;
    begin(&client, &held, fixture, LEASE_MS);
    handle_open(&waiter, &client, "stock", NULL);
    handle_ask(&waiter, HILOCK_FOREVER);
    redis_do(fixture->redis, "DEL stock");
    handle_until(&waiter, &waiter.acquired, 1, "the grant");
    assert_int_equal(waiter.acquired.status, HILOCK_OK);
    assert_int_equal(held.lost.count, 1);
    assert_int_equal(held.lost.reason, HILOCK_REASON_TAKEN);
    assert_true(held.lost.at_us <= waiter.acquired.at_us);
    assert_true(waiter.acquired.token > held.lost.token);
    handle_free(&held);
    handle_free(&waiter);
    client_close(&client);
}

/* The server takes no writes for want of replicas. That is an error, and no error is loss (R5): belief goes on to the deadline, with a warning. */
static void not_lost_by_errors_before_the_deadline(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    begin(&client, &held, fixture, LEASE_MS);
    redis_do(fixture->redis, "CONFIG SET min-replicas-to-write 1");
    handle_until(&held, &held.renewal_failed, 1, "the warning");
    assert_int_equal(held.lost.count, 0);
    assert_int_equal(hilock_lock_state(held.lock), HILOCK_STATE_HELD);
    handle_until(&held, &held.lost, 1, "the loss");
    assert_int_equal(held.renewal_failed.count, 1);
    assert_true(held.lost.reason == HILOCK_REASON_EXPIRED || held.lost.reason == HILOCK_REASON_SUSPENDED);
    assert_true(held.renewal_failed.at_us < held.lost.at_us);
    assert_int_equal(handle_acquire(&held, 1000), HILOCK_UNWRITABLE);
    redis_do(fixture->redis, "CONFIG SET min-replicas-to-write 0");
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    handle_free(&held);
    client_close(&client);
}

/* The key is a string now: the hold is as surely gone as under another holder's hash. */
static void lost_to_a_key_of_another_type(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    begin(&client, &held, fixture, LEASE_MS);
    redis_do(fixture->redis, "SET stock string");
    handle_until(&held, &held.lost, 1, "the loss");
    assert_int_equal(held.renewal_failed.count, 0);
    assert_int_equal(held.lost.reason, HILOCK_REASON_TAKEN);
    assert_int_equal(handle_acquire(&held, 5000), HILOCK_WRONG_KIND);
    redis_do(fixture->redis, "DEL stock");
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    handle_free(&held);
    client_close(&client);
}

/* Shortened by hand, but still ours: said as an anomaly, mended by the very renewal that finds it, and no loss. */
static void not_lost_by_a_shortened_lease(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    begin(&client, &held, fixture, 12000);
    assert_int_equal(redis_integer(fixture->redis, "PEXPIRE stock 9000"), 1);
    while (!client.anomalies)
        client_for_ms(&client, 50);
    assert_true(redis_integer(fixture->redis, "PTTL stock") > 9000);
    assert_int_equal(held.lost.count, 0);
    assert_true(hilock_lock_remaining_ms(held.lock) > 0);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    handle_free(&held);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(deleted_by_hand),
        FIXTURE_TEST(stolen_by_hand),
        FIXTURE_TEST(made_again_under_another_token),
        FIXTURE_TEST(flushed),
        FIXTURE_TEST(found_by_the_release),
        FIXTURE_TEST(lost_to_a_sibling_in_line),
        FIXTURE_TEST(not_lost_by_errors_before_the_deadline),
        FIXTURE_TEST(lost_to_a_key_of_another_type),
        FIXTURE_TEST(not_lost_by_a_shortened_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
