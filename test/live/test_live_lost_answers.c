/* SPDX-License-Identifier: BSD-3-Clause */
/* No answer is not a no, over real links that end or carry nothing: a request or its answer that is lost is asked for
 * again, a grant that nobody wants any more is undone, and what an old link still carries makes no holder that nobody
 * knows of. Keys that must go are kept from running out. */
#include "support/fixture.h"
#include "support/proxy.h"

static int is_granted(void *redis) { return redis_integer(redis, "EXISTS stock:42") == 1; }

static int is_free(void *redis) { return redis_lock_keys(redis) == 0; }

struct trial {
    struct fixture *fixture;
    struct proxy *proxy;
    struct client client;
    struct handle stock;
};

static void begin(struct trial *trial, void **state, uint32_t command_timeout_ms)
{
    trial->fixture = *state;
    trial->proxy = proxy_start(trial->fixture->server);
    client_open_with(&trial->client, HILOCK_CLIENT_OPTIONS(.url = proxy_url(trial->proxy), .retry_max_ms = 50,
                                                           .command_timeout_ms = command_timeout_ms));
    client_connect(&trial->client);
    handle_open(&trial->stock, &trial->client, "stock:42", NULL);
}

static void end(struct trial *trial)
{
    handle_free(&trial->stock);
    client_close(&trial->client);
    proxy_end(trial->proxy);
}

/* An acquire and a release: each carried out once, by two requests at most. */
static void asked_for_again(void **state)
{
    static void (*const lose[])(struct proxy *, const char *) = {proxy_lose_reply, proxy_lose_request};
    struct trial trial;
    begin(&trial, state, 1000);
    for (int i = 0; i < 2; i++) {
        redis_do(trial.fixture->redis, "CONFIG RESETSTAT");
        lose[i](trial.proxy, "stock:42");
        assert_int_equal(handle_acquire(&trial.stock, 20000), HILOCK_OK);
        assert_int_equal(trial.stock.acquired.attempts, 2);
        assert_int_equal(redis_calls(trial.fixture->redis, "hset"), 1);
        assert_int_equal(redis_integer(trial.fixture->redis, "HLEN stock:42"), 2);
        lose[i](trial.proxy, "stock:42");
        assert_int_equal(handle_give(&trial.stock), HILOCK_OK);
        assert_false(proxy_is_armed(trial.proxy));
        assert_int_equal(redis_lock_keys(trial.fixture->redis), 0);
    }
    end(&trial);
}

/* The grant is there, its answer is lost, no way leads to the server, and the wait ends. */
static void undone(void **state)
{
    struct trial trial;
    begin(&trial, state, 2000);
    proxy_refuse(trial.proxy, 1);
    proxy_lose_reply(trial.proxy, "stock:42");
    handle_ask(&trial.stock, 1000);
    client_until(&trial.client, is_granted, trial.fixture->redis, "the grant at the server");
    redis_do(trial.fixture->redis, "PERSIST stock:42");
    handle_until(&trial.stock, &trial.stock.acquired, 1, "the end of the wait");
    assert_int_equal(trial.stock.acquired.status, HILOCK_UNREACHABLE);
    assert_true(is_granted(trial.fixture->redis));
    proxy_refuse(trial.proxy, 0);
    client_until(&trial.client, is_free, trial.fixture->redis, "the undoing");
    end(&trial);
}

static void an_unknown_release_is_settled(void **state)
{
    struct trial trial;
    struct handle *stock = &trial.stock;
    begin(&trial, state, 500);
    assert_int_equal(handle_acquire(stock, 20000), HILOCK_OK);
    redis_do(trial.fixture->redis, "PERSIST stock:42");
    server_suspend(trial.fixture->server);
    assert_int_equal(handle_give(stock), HILOCK_UNKNOWN);
    assert_int_equal(stock->settled.count, 0);
    server_resume(trial.fixture->server);
    handle_until(stock, &stock->settled, 1, "RELEASE_SETTLED");
    assert_true(stock->settled.token == stock->acquired.token);
    assert_int_equal(redis_lock_keys(trial.fixture->redis), 0);
    assert_int_equal(stock->released.count, 1);
    end(&trial);
}

static int is_held_back(void *proxy) { return proxy_held(proxy, PROXY_REQUESTS) > 0; }

static int nothing_is_held_back(void *proxy) { return proxy_held(proxy, PROXY_BOTH) == 0; }

/* The request waits in the old link until long after its wait is over, and reaches the server then. */
static void a_late_request_makes_no_holder(void **state)
{
    struct trial trial;
    begin(&trial, state, 500);
    proxy_hold(trial.proxy, PROXY_COMMANDS, PROXY_REQUESTS);
    handle_ask(&trial.stock, 1000);
    client_until(&trial.client, is_held_back, trial.proxy, "the request on its way");
    handle_until(&trial.stock, &trial.stock.acquired, 1, "the end of the wait");
    assert_int_equal(trial.stock.acquired.status, HILOCK_UNREACHABLE);
    assert_true(trial.client.disconnected > 0);
    assert_int_equal(redis_calls(trial.fixture->redis, "evalsha"), 0);
    proxy_pass(trial.proxy);
    client_until(&trial.client, nothing_is_held_back, trial.proxy, "the late request to arrive");
    client_connect(&trial.client);
    assert_int_equal(handle_acquire(&trial.stock, 20000), HILOCK_OK);
    assert_true(redis_calls(trial.fixture->redis, "evalsha") >= 2);
    assert_int_equal(redis_calls(trial.fixture->redis, "hset"), 1);
    assert_int_equal(handle_give(&trial.stock), HILOCK_OK);
    end(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(asked_for_again),
        FIXTURE_TEST(undone),
        FIXTURE_TEST(an_unknown_release_is_settled),
        FIXTURE_TEST(a_late_request_makes_no_holder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
