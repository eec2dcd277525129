/* SPDX-License-Identifier: BSD-3-Clause */
/* An extend is the store's own word: it makes the lease last, never shorter, proves the hold, and finds a loss before on_lost does. */
#include <string.h>

#include "support/fixture.h"

static const char thief[] = "00000000-0000-4000-8000-000000000000:7";

static void begin(struct client *client, struct handle *held, struct fixture *fixture, const struct hilock_lock_options *options)
{
    client_open(client, fixture->server->url);
    handle_open(held, client, "stock", options);
    assert_int_equal(handle_acquire(held, HILOCK_FOREVER), HILOCK_OK);
}

static void end(struct client *client, struct handle *held)
{
    handle_free(held);
    client_close(client);
}

static void it_lasts_at_the_store_and_never_shortens(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    begin(&client, &held, fixture, HILOCK_LOCK_OPTIONS(.lease_ms = 30000));
    assert_int_equal(handle_extend(&held, 600000), HILOCK_OK);
    assert_int_equal(held.extended.state, HILOCK_STATE_HELD);
    assert_int_equal(held.extended.hold_count, 1);
    assert_int_equal(held.extended.token, held.acquired.token);
    assert_int_equal(held.extended.attempts, 1);
    assert_true(held.extended.remaining_ms > 400000);
    assert_true(redis_integer(fixture->redis, "PTTL stock") >= (long long)hilock_lock_remaining_ms(held.lock)); /* I2 */
    assert_int_equal(handle_extend(&held, 100), HILOCK_OK);
    assert_int_equal(handle_extend(&held, 0), HILOCK_OK);
    assert_true(held.extended.remaining_ms > 400000);
    assert_true(redis_integer(fixture->redis, "PTTL stock") > 400000);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock"), 0);
    end(&client, &held);
}

/* The watchdog's own renewals ask for the lock's lease, and leave the longer one alone. */
static void renewals_leave_a_longer_lease_alone(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    uint64_t renewals;
    begin(&client, &held, fixture, HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    assert_int_equal(handle_extend(&held, 600000), HILOCK_OK);
    renewals = client_stats(&client).renewals;
    client_for_ms(&client, 2500);
    assert_true(client_stats(&client).renewals > renewals);
    assert_true(hilock_lock_remaining_ms(held.lock) > 400000);
    assert_true(redis_integer(fixture->redis, "PTTL stock") > 400000);
    assert_int_equal(client.anomalies, 0);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    end(&client, &held);
}

static void it_finds_a_loss_that_on_lost_does_not_tell_again(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    begin(&client, &held, fixture, NULL);
    redis_do(fixture->redis, "DEL stock");
    redis_do(fixture->redis, "HSET stock %s 9000000000000000 mode mutex", thief);
    redis_do(fixture->redis, "PEXPIRE stock 600000");
    assert_int_equal(handle_extend(&held, 0), HILOCK_LOST);
    assert_int_equal(held.extended.state, HILOCK_STATE_IDLE);
    assert_int_equal(held.extended.remaining_ms, 0);
    assert_non_null(strstr(held.extended.detail, "TAKEN"));
    assert_int_equal(hilock_lock_remaining_ms(held.lock), 0);
    assert_int_equal(hilock_extend(held.lock, 0, NULL, NULL), HILOCK_INVALID);
    assert_int_equal(hilock_release(held.lock, NULL, NULL), HILOCK_NOT_HELD);
    client_for_ms(&client, 500);
    assert_int_equal(held.lost.count, 0);
    assert_int_equal(client_stats(&client).lost_taken, 1);
    assert_int_equal(redis_integer(fixture->redis, "HEXISTS stock %s", thief), 1); /* his hold is left alone */
    assert_true(redis_integer(fixture->redis, "PTTL stock") > 300000);
    redis_do(fixture->redis, "DEL stock");
    end(&client, &held);
}

/* Nothing renews it but what its user asks for; then it ends by itself. */
static void renew_NEVER_lives_on_extends(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    uint64_t granted_us;
    begin(&client, &held, fixture, HILOCK_LOCK_OPTIONS(.lease_ms = 9000, .renew = HILOCK_RENEW_NEVER));
    granted_us = held.acquired.at_us;
    client_for_ms(&client, 1000);
    assert_int_equal(handle_extend(&held, 0), HILOCK_OK);
    client_for_ms(&client, 1000);
    assert_int_equal(handle_extend(&held, 9000), HILOCK_OK);
    handle_until(&held, &held.lost, 1, "the end");
    assert_int_equal(held.lost.reason, HILOCK_REASON_EXPIRED);
    assert_true(held.lost.at_us > granted_us + 10000000); /* 9 s and what the extends added */
    end(&client, &held);
}

static void hold_max_is_the_end_of_extends_as_well(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    begin(&client, &held, fixture, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .hold_max_ms = 4000));
    assert_int_equal(handle_extend(&held, 600000), HILOCK_OK);
    assert_true(held.extended.remaining_ms <= 4000);
    handle_until(&held, &held.lost, 1, "hold_max");
    assert_int_equal(held.lost.reason, HILOCK_REASON_HOLD_MAX);
    end(&client, &held); /* and the fixture finds the key released, long before its lease is over */
}

static void it_works_while_the_client_closes(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    begin(&client, &held, fixture, NULL);
    assert_int_equal(hilock_client_close(client.hilock, HILOCK_FOREVER, NULL, NULL), HILOCK_OK);
    assert_int_equal(handle_extend(&held, 600000), HILOCK_OK);
    assert_true(hilock_lock_remaining_ms(held.lock) > 400000);
    handle_free(&held);
    client_for_ms(&client, 200);
    client.hilock = NULL; /* gone by now: nothing is held */
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(it_lasts_at_the_store_and_never_shortens),
        FIXTURE_TEST(renewals_leave_a_longer_lease_alone),
        FIXTURE_TEST(it_finds_a_loss_that_on_lost_does_not_tell_again),
        FIXTURE_TEST(renew_NEVER_lives_on_extends),
        FIXTURE_TEST(hold_max_is_the_end_of_extends_as_well),
        FIXTURE_TEST(it_works_while_the_client_closes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
