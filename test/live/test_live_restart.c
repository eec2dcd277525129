/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that dies and comes back on the same address: empty, it has forgotten every hold, and everybody learns it; with its data kept,
 * holds and waits go on as if nothing had been. */
#include <stdio.h>
#include <stdlib.h>

#include "support/belief.h"
#include "support/fixture.h"

static void restart(struct fixture *fixture)
{
    redis_close(fixture->redis);
    server_kill(fixture->server);
    server_restart(fixture->server);
    fixture->redis = redis_open(fixture->server);
}

static void waiter_gets_what_was_forgotten(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    client_open(&client, fixture->server->url);
    redis_do(fixture->redis, "HSET stock:42 another 1");
    handle_open(&stock, &client, "stock:42", NULL);
    handle_ask(&stock, HILOCK_FOREVER);
    handle_until(&stock, &stock.waiting, 1, "WAITING");
    restart(fixture);
    handle_until(&stock, &stock.acquired, 1, "the grant");
    assert_int_equal(stock.acquired.status, HILOCK_OK);
    assert_int_equal(redis_integer(fixture->redis, "HLEN stock:42"), 2);
    handle_free(&stock);
    client_close(&client);
}

/* The waiter may have it before the holder learns of the loss: data was lost, and the token protects against that. */
static void holder_is_told_and_the_token_rises(void **state)
{
    struct fixture *fixture = *state;
    struct client holding, waiting;
    struct handle old, new;
    client_open(&holding, fixture->server->url);
    client_open(&waiting, fixture->server->url);
    handle_open(&old, &holding, "stock:42", NULL);
    handle_open(&new, &waiting, "stock:42", NULL);
    assert_int_equal(handle_acquire(&old, 20000), HILOCK_OK);
    handle_ask(&new, HILOCK_FOREVER);
    handle_until(&new, &new.waiting, 1, "WAITING");
    restart(fixture);
    handle_until(&new, &new.acquired, 1, "the waiter's grant");
    handle_until(&old, &old.lost, 1, "the holder's loss");
    assert_int_equal(new.acquired.status, HILOCK_OK);
    assert_int_equal(old.lost.reason, HILOCK_REASON_TAKEN);
    assert_true(old.lost.token == old.acquired.token && new.acquired.token > old.acquired.token);
    assert_int_equal(handle_give(&new), HILOCK_OK);
    handle_free(&old);
    handle_free(&new);
    client_close(&holding);
    client_close(&waiting);
}

static int is_back(void *arg) { return ((struct client *)arg)->connected >= 2; }

/* Never is a hold that was forgotten made again: not by a renewal, not by the release that nobody needs any more. */
static void nothing_is_made_again(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    struct belief belief = {0, 0};
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    restart(fixture);
    belief_look(&belief, &stock);
    assert_int_equal(hilock_lock_state(stock.lock), HILOCK_STATE_HELD);
    handle_until(&stock, &stock.lost, 1, "the loss");
    assert_int_equal(stock.lost.reason, HILOCK_REASON_TAKEN);
    assert_true(stock.lost.at_us < belief.from_us);
    assert_int_equal(redis_lock_keys(fixture->redis), 0);
    assert_int_equal(stock.renewal_failed.count, 0);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
}

struct renewals { struct client *client; uint64_t before; };

static int has_renewed(void *arg)
{
    const struct renewals *renewals = arg;
    return client_stats(renewals->client).renewals > renewals->before;
}

static void with_data_kept_the_hold_goes_on(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    redis_do(fixture->redis, "SAVE");
    restart(fixture);
    client_until(&client, is_back, &client, "the second connection");
    client_until(&client, has_renewed, &(struct renewals){&client, 0}, "the renewal that verifies the hold");
    assert_int_equal(stock.lost.count + stock.renewal_failed.count, 0);
    assert_true(hilock_lock_token(stock.lock) == stock.acquired.token);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
}

static int listens_again(void *arg) { return redis_grants(arg) >= 1; }

static void with_data_kept_the_wait_goes_on(void **state)
{
    struct fixture *fixture = *state;
    struct client holding, waiting;
    struct handle first, second;
    client_open(&holding, fixture->server->url);
    client_open(&waiting, fixture->server->url);
    handle_open(&first, &holding, "stock:42", NULL);
    handle_open(&second, &waiting, "stock:42", NULL);
    assert_int_equal(handle_acquire(&first, 20000), HILOCK_OK);
    handle_ask(&second, HILOCK_FOREVER);
    handle_until(&second, &second.waiting, 1, "WAITING");
    redis_do(fixture->redis, "SAVE");
    restart(fixture);
    client_until(&waiting, listens_again, fixture->redis, "a new subscription");
    client_until(&holding, is_back, &holding, "the holder's second connection");
    assert_int_equal(second.acquired.count, 0);
    assert_int_equal(handle_give(&first), HILOCK_OK);
    handle_until(&second, &second.acquired, 1, "the grant");
    assert_int_equal(second.acquired.status, HILOCK_OK);
    assert_true(second.acquired.token > first.acquired.token);
    assert_int_equal(first.lost.count, 0);
    handle_free(&first);
    handle_free(&second);
    client_close(&holding);
    client_close(&waiting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(waiter_gets_what_was_forgotten),
        FIXTURE_TEST(holder_is_told_and_the_token_rises),
        FIXTURE_TEST(nothing_is_made_again),
        FIXTURE_TEST(with_data_kept_the_hold_goes_on),
        FIXTURE_TEST(with_data_kept_the_wait_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
