/* SPDX-License-Identifier: BSD-3-Clause */
/* An accepted cancel always answers CANCELLED, in any state of the server; until that answer the handle is in use, and
 * nothing of a cancelled acquire stays at the store. Keys that must go are kept from running out. */
#include <stdio.h>
#include <stdlib.h>

#include "support/proxy.h"
#include "support/fixture.h"

static int is_granted(void *arg) { return redis_integer(arg, "EXISTS stock:42") == 1; }

static int is_free(void *arg) { return redis_lock_keys(arg) == 0; }

static int nothing_is_held_back(void *arg) { return proxy_held(arg, PROXY_BOTH) == 0; }

static void must_refuse(struct handle *handle)
{
    assert_int_equal(hilock_cancel(handle->lock), HILOCK_NOT_PENDING);
    assert_true(*hilock_client_refusal(handle->client->hilock) != '\0');
}

static void no_result(const struct hilock_result *result, void *user)
{
    (void)result;
    (void)user;
}

/* Cancels, turns until the answer, and checks that it came from the loop and once. */
static void cancel(struct handle *handle)
{
    unsigned before = handle->acquired.count;
    assert_int_equal(hilock_cancel(handle->lock), HILOCK_OK);
    assert_int_equal(handle->acquired.count, before);
    assert_int_equal(hilock_lock_state(handle->lock), HILOCK_STATE_WAITING);
    assert_int_equal(hilock_acquire(handle->lock, HILOCK_TRY, no_result, NULL), HILOCK_IN_USE);
    assert_int_equal(hilock_cancel(handle->lock), HILOCK_OK);
    handle_until(handle, &handle->acquired, before + 1, "the answer");
    assert_int_equal(handle->acquired.status, HILOCK_CANCELLED);
    assert_int_equal(handle->acquired.state, HILOCK_STATE_IDLE);
    assert_int_equal(hilock_lock_state(handle->lock), HILOCK_STATE_IDLE);
    assert_true(hilock_lock_token(handle->lock) == 0 && hilock_lock_remaining_ms(handle->lock) == 0);
    must_refuse(handle);
    client_turn(handle->client);
    assert_int_equal(handle->acquired.count, before + 1);
}

static void of_nothing_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock:42", NULL);
    must_refuse(&stock);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    must_refuse(&stock);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    must_refuse(&stock);
    handle_free(&stock);
    client_close(&client);
}

static void before_it_was_sent(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock:42", NULL);
    handle_ask(&stock, HILOCK_FOREVER);
    cancel(&stock);
    client_connect(&client);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), 2);
    handle_free(&stock);
    client_close(&client);
}

static void while_nobody_answers_the_door(void **state)
{
    struct fixture *fixture = *state;
    struct proxy *proxy = proxy_start(fixture->server);
    struct client client;
    struct handle stock;
    proxy_refuse(proxy, 1);
    client_open(&client, proxy_url(proxy));
    handle_open(&stock, &client, "stock:42", NULL);
    handle_ask(&stock, HILOCK_FOREVER);
    while (client.disconnected < 2)
        client_for_ms(&client, 1);
    cancel(&stock);
    handle_free(&stock);
    client_close(&client);
    proxy_end(proxy);
}

static void in_flight(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock, sibling;
    client_open(&client, fixture->server->url);
    client_connect(&client);
    handle_open(&stock, &client, "stock:42", NULL);
    handle_open(&sibling, &client, "stock:42", NULL);
    server_suspend(fixture->server);
    handle_ask(&stock, HILOCK_FOREVER);
    client_turn(&client);
    assert_int_equal(client_stats(&client).inflight, 1);
    cancel(&stock);
    server_resume(fixture->server);
    assert_int_equal(handle_acquire(&sibling, 20000), HILOCK_OK);
    assert_int_equal(redis_calls(fixture->redis, "hset"), 2);
    assert_int_equal(redis_integer(fixture->redis, "HLEN stock:42"), 2);
    assert_int_equal(client_stats(&client).undone, 1);
    assert_int_equal(handle_give(&sibling), HILOCK_OK);
    handle_free(&stock);
    handle_free(&sibling);
    client_close(&client);
}

/* Granted at the server, and the answer lies in our own socket. */
static void granted_and_not_read(void **state)
{
    struct fixture *fixture = *state;
    struct proxy *proxy = proxy_start(fixture->server);
    struct client client;
    struct handle stock;
    client_open(&client, proxy_url(proxy));
    client_connect(&client);
    handle_open(&stock, &client, "stock:42", NULL);
    proxy_hold(proxy, PROXY_COMMANDS, PROXY_REPLIES);
    handle_ask(&stock, HILOCK_FOREVER);
    client_until(&client, is_granted, fixture->redis, "the grant at the server");
    redis_do(fixture->redis, "PERSIST stock:42");
    proxy_pass(proxy);
    check_until(nothing_is_held_back, proxy, "the answer to come");
    cancel(&stock);
    client_until(&client, is_free, fixture->redis, "the undoing");
    assert_int_equal(client_stats(&client).undone, 1);
    handle_free(&stock);
    client_close(&client);
    proxy_end(proxy);
}

static void cancel_sibling(struct handle *handle)
{
    struct handle *sibling = handle->user;
    if (handle->acquired.status == HILOCK_OK)
        CHECK(hilock_cancel(sibling->lock) == HILOCK_OK);
}

/* Both answers are read in one go, so the second grant waits in our own queue while the first is reported. */
static void granted_and_not_told(void **state)
{
    struct fixture *fixture = *state;
    struct proxy *proxy = proxy_start(fixture->server);
    struct client client;
    struct handle first, second;
    client_open(&client, proxy_url(proxy));
    client_connect(&client);
    handle_open(&first, &client, "first", NULL);
    handle_open(&second, &client, "stock:42", NULL);
    first.user = &second;
    first.on_acquired = cancel_sibling;
    proxy_hold(proxy, PROXY_COMMANDS, PROXY_REPLIES);
    handle_ask(&first, HILOCK_FOREVER);
    handle_ask(&second, HILOCK_FOREVER);
    client_until(&client, is_granted, fixture->redis, "the second grant at the server");
    redis_do(fixture->redis, "PERSIST stock:42");
    proxy_pass(proxy);
    check_until(nothing_is_held_back, proxy, "the answers to come");
    handle_until(&second, &second.acquired, 1, "the answer to the cancelled");
    assert_int_equal(first.acquired.status, HILOCK_OK);
    assert_int_equal(second.acquired.status, HILOCK_CANCELLED);
    assert_int_equal(handle_give(&first), HILOCK_OK);
    client_until(&client, is_free, fixture->redis, "the undoing");
    handle_free(&first);
    handle_free(&second);
    client_close(&client);
    proxy_end(proxy);
}

/* Also one whose time was over, but not reported yet. */
static void refused_and_not_told(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock, tried;
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock:42", NULL);
    handle_open(&tried, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    handle_ask(&tried, HILOCK_TRY);
    cancel(&tried);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    handle_free(&tried);
    client_close(&client);
}

static void while_another_holds_it(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    redis_do(fixture->redis, "HSET stock:42 another 1");
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock:42", NULL);
    handle_ask(&stock, HILOCK_FOREVER);
    handle_until(&stock, &stock.waiting, 1, "WAITING");
    cancel(&stock);
    assert_int_equal(redis_integer(fixture->redis, "HLEN stock:42"), 1);
    redis_do(fixture->redis, "DEL stock:42");
    fixture_until_unsubscribed(fixture, &client);
    handle_free(&stock);
    client_close(&client);
}

/* The head of the line leaves; the next one is not forgotten. */
static void of_the_first_in_line(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle first, second;
    client_open(&client, fixture->server->url);
    client_connect(&client);
    handle_open(&first, &client, "stock:42", NULL);
    handle_open(&second, &client, "stock:42", NULL);
    server_suspend(fixture->server);
    handle_ask(&first, HILOCK_FOREVER);
    handle_ask(&second, HILOCK_FOREVER);
    client_turn(&client);
    cancel(&first);
    server_resume(fixture->server);
    handle_until(&second, &second.acquired, 1, "the grant");
    assert_int_equal(second.acquired.status, HILOCK_OK);
    assert_int_equal(handle_give(&second), HILOCK_OK);
    handle_free(&first);
    handle_free(&second);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(of_nothing_is_refused),
        FIXTURE_TEST(before_it_was_sent),
        FIXTURE_TEST(while_nobody_answers_the_door),
        FIXTURE_TEST(in_flight),
        FIXTURE_TEST(granted_and_not_read),
        FIXTURE_TEST(granted_and_not_told),
        FIXTURE_TEST(refused_and_not_told),
        FIXTURE_TEST(while_another_holds_it),
        FIXTURE_TEST(of_the_first_in_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
