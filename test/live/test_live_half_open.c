/* SPDX-License-Identifier: BSD-3-Clause */
/* A link that looks open and carries nothing in one direction is found out by what is asked over it, or by its keep-alive, and replaced;
 * what is held and what waits goes on. */
#include <stdio.h>
#include <stdlib.h>

#include "support/proxy.h"
#include "support/fixture.h"

struct trial {
    struct fixture *fixture;
    struct proxy *proxy;
    struct client client;
};

static void begin(struct trial *trial, void **state)
{
    trial->fixture = *state;
    trial->proxy = proxy_start(trial->fixture->server);
    client_open_with(&trial->client, HILOCK_CLIENT_OPTIONS(.url = proxy_url(trial->proxy), .keepalive_ms = 300, .command_timeout_ms = 500));
    client_connect(&trial->client);
}

static void end(struct trial *trial)
{
    client_close(&trial->client);
    proxy_end(trial->proxy);
}

static int is_found_out(void *arg) { return ((const struct client *)arg)->disconnected > 0; }

/* Nothing is asked here: only the keep-alive can tell. */
static void idle_link(void **state, unsigned direction)
{
    struct trial trial;
    struct handle stock;
    begin(&trial, state);
    proxy_drop(trial.proxy, PROXY_COMMANDS, direction);
    client_until(&trial.client, is_found_out, &trial.client, "the link to be given up");
    proxy_pass(trial.proxy);
    handle_open(&stock, &trial.client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    assert_true(trial.client.connected >= 2);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    end(&trial);
}

static void idle_link_without_answers(void **state) { idle_link(state, PROXY_REPLIES); }

static void idle_link_without_questions(void **state) { idle_link(state, PROXY_REQUESTS); }

static int was_dropped(void *arg) { return proxy_dropped(arg) > 0; }

static void link_in_use(void **state, unsigned direction)
{
    struct trial trial;
    struct handle held, wanted;
    begin(&trial, state);
    handle_open(&held, &trial.client, "held", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    handle_open(&wanted, &trial.client, "wanted", NULL);
    assert_int_equal(handle_acquire(&held, 20000), HILOCK_OK);
    proxy_drop(trial.proxy, PROXY_COMMANDS, direction);
    handle_ask(&wanted, 60000);
    client_until(&trial.client, was_dropped, trial.proxy, "something to vanish");
    client_until(&trial.client, is_found_out, &trial.client, "the link to be given up");
    proxy_pass(trial.proxy);
    handle_until(&wanted, &wanted.acquired, 1, "the grant");
    assert_int_equal(wanted.acquired.status, HILOCK_OK);
    assert_int_equal(held.lost.count, 0);
    assert_int_equal(handle_give(&wanted), HILOCK_OK);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    handle_free(&held);
    handle_free(&wanted);
    end(&trial);
}

static void link_in_use_without_answers(void **state) { link_in_use(state, PROXY_REPLIES); }

static void link_in_use_without_questions(void **state) { link_in_use(state, PROXY_REQUESTS); }

struct links { struct proxy *proxy; size_t before; };

static int is_replaced(void *arg)
{
    const struct links *links = arg;
    return proxy_accepted(links->proxy) > links->before;
}

static int is_listening(void *arg) { return redis_channels(arg) == 1; }

/* The waiter would be deaf for ever, and live on its safety poll. */
static void deaf_link(void **state, unsigned direction)
{
    struct trial trial;
    struct handle stock;
    begin(&trial, state);
    redis_do(trial.fixture->redis, "HSET stock:42 another 1");
    handle_open(&stock, &trial.client, "stock:42", NULL);
    handle_ask(&stock, HILOCK_FOREVER);
    client_until(&trial.client, is_listening, trial.fixture->redis, "the subscription");
    proxy_drop(trial.proxy, PROXY_SUBSCRIPTIONS, direction);
    client_until(&trial.client, is_replaced, &(struct links){trial.proxy, proxy_accepted(trial.proxy)}, "a new link");
    proxy_pass(trial.proxy);
    assert_int_equal(client_stats(&trial.client).wakeups, 0);
    while (client_stats(&trial.client).wakeups == 0) {
        redis_do(trial.fixture->redis, "PUBLISH redisson_lock__channel:{stock:42} 0");
        client_for_ms(&trial.client, 10);
    }
    assert_int_equal(stock.acquired.count, 0);
    redis_do(trial.fixture->redis, "DEL stock:42");
    redis_do(trial.fixture->redis, "PUBLISH redisson_lock__channel:{stock:42} 0");
    handle_until(&stock, &stock.acquired, 1, "the grant");
    assert_int_equal(stock.acquired.status, HILOCK_OK);
    assert_int_equal(trial.client.disconnected, 0);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    end(&trial);
}

static void deaf_link_without_messages(void **state) { deaf_link(state, PROXY_REPLIES); }

static void deaf_link_without_questions(void **state) { deaf_link(state, PROXY_REQUESTS); }

/* Two keep-alives of a link that is well cost it nothing. */
static int was_probed(void *arg) { return redis_calls(arg, "time") >= 4; }

static void a_good_link_is_kept(void **state)
{
    struct trial trial;
    struct handle stock;
    begin(&trial, state);
    handle_open(&stock, &trial.client, "stock:42", NULL); /* it may listen: the second link */
    client_until(&trial.client, was_probed, trial.fixture->redis, "keep-alives");
    assert_int_equal(trial.client.disconnected, 0);
    assert_int_equal(trial.client.connected, 1);
    assert_int_equal(proxy_accepted(trial.proxy), 2);
    handle_free(&stock);
    end(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(idle_link_without_answers),
        FIXTURE_TEST(idle_link_without_questions),
        FIXTURE_TEST(link_in_use_without_answers),
        FIXTURE_TEST(link_in_use_without_questions),
        FIXTURE_TEST(deaf_link_without_messages),
        FIXTURE_TEST(deaf_link_without_questions),
        FIXTURE_TEST(a_good_link_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
