/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that stands still: belief counts from before each send, ends in time and not before, with a warning; an outage that is shorter than
 * the lease costs nobody a lock; what was lost is released when the server goes on. */
#include <stdio.h>
#include <stdlib.h>

#include "support/belief.h"
#include "support/fixture.h"

static const uint64_t lease_us = 3000000;

struct count { struct client *client; uint64_t before; };

static int has_sent(void *arg)
{
    const struct count *count = arg;
    return client_stats(count->client).commands > count->before;
}

/* Turns until a command more than `before` has left; a time at which it had left is returned. */
static uint64_t until_sent(struct client *client, uint64_t before)
{
    client_until(client, has_sent, &(struct count){client, before}, "a command to be sent");
    return check_now_us();
}

static int has_renewed(void *arg) { return client_stats(arg).renewals > 0; }

static void wait_far_beyond_drift(void) { check_pause_ms(300); /* 37 ms is what a lease of 3 s gives up of itself */ }

/* R1: what the answer's delay costs is the holder's, never the store's. */
static void counts_from_before_the_send(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    struct belief granted = {0, 0}, renewed = {0, 0};
    uint64_t sent_us, commands;
    client_open(&client, fixture->server->url);
    client_connect(&client);
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    server_suspend(fixture->server);
    commands = client_stats(&client).commands;
    handle_ask(&stock, 10000);
    sent_us = until_sent(&client, commands);
    wait_far_beyond_drift();
    server_resume(fixture->server);
    handle_until(&stock, &stock.acquired, 1, "the grant");
    assert_int_equal(stock.acquired.status, HILOCK_OK);
    belief_settle(&granted, &stock);
    assert_true(granted.until_us <= sent_us + lease_us);

    server_suspend(fixture->server);
    sent_us = until_sent(&client, client_stats(&client).commands);
    wait_far_beyond_drift();
    server_resume(fixture->server);
    client_until(&client, has_renewed, &client, "the renewal");
    belief_settle(&renewed, &stock);
    assert_true(renewed.until_us <= sent_us + lease_us);
    assert_true(renewed.from_us > granted.until_us);
    handle_free(&stock);
    client_close(&client);
}

static int is_free(void *arg) { return redis_lock_keys(arg) == 0; }

/* The key is kept from running out, so that nothing but the release of this very hold takes it away. */
static void expires_with_a_warning(struct fixture *fixture, const struct hilock_client_options *options)
{
    struct client client;
    struct handle stock;
    struct belief belief = {0, 0};
    uint64_t asked_us;
    client_open_with(&client, options);
    client_connect(&client);
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    assert_int_equal(handle_acquire(&stock, 10000), HILOCK_OK);
    asked_us = stock.asked_us;
    redis_do(fixture->redis, "PERSIST stock:42");
    server_suspend(fixture->server);
    client_turn(&client);
    belief_settle(&belief, &stock);
    assert_true(belief.from_us < asked_us + lease_us || client_stats(&client).renewals > 0);
    belief_until_lost(&belief, &stock);
    assert_int_equal(stock.lost.reason, HILOCK_REASON_EXPIRED);
    assert_true(stock.lost.token == stock.acquired.token);
    assert_int_equal(stock.renewal_failed.count, 1);
    assert_true(stock.renewal_failed.remaining_ms > 0 && stock.renewal_failed.at_us < belief.until_us);
    assert_int_equal(hilock_lock_state(stock.lock), HILOCK_STATE_IDLE);
    assert_true(hilock_lock_token(stock.lock) == 0);

    server_resume(fixture->server);
    client_until(&client, is_free, fixture->redis, "the release of what was lost");
    assert_true(redis_calls(fixture->redis, "hdel") > 0);
    assert_int_equal(handle_acquire(&stock, 10000), HILOCK_OK);
    assert_int_equal(stock.lost.count, 1);
    handle_free(&stock);
    client_close(&client);
}

static void expires_with_a_warning_by_default(void **state)
{
    struct fixture *fixture = *state;
    expires_with_a_warning(fixture, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
}

static void expires_with_a_warning_over_tcp(void **state)
{
    struct fixture *fixture = *state;
    expires_with_a_warning(fixture, HILOCK_CLIENT_OPTIONS(.url = fixture->server->tcp_url, .command_timeout_ms = 500));
}

static int is_gone(void *arg) { return redis_integer(arg, "EXISTS stock:42") == 0; }

/* A release past the deadline, before on_lost is reported, is the only report, and says whether the store still had the hold. */
static void release_past_the_deadline(struct fixture *fixture, hilock_status status)
{
    struct client client;
    struct handle stock;
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
    assert_int_equal(handle_acquire(&stock, 10000), HILOCK_OK);
    if (status == HILOCK_OK)
        redis_do(fixture->redis, "PEXPIRE stock:42 600000");
    while (hilock_lock_remaining_ms(stock.lock) > 0)
        check_pause_ms(5);
    if (status == HILOCK_LOST)
        check_until(is_gone, fixture->redis, "the end of the lease at the store");
    assert_int_equal(hilock_lock_state(stock.lock), HILOCK_STATE_HELD);
    assert_int_equal(handle_give(&stock), status);
    assert_int_equal(stock.lost.count, 0);
    handle_free(&stock);
    client_close(&client);
}

static void release_past_the_deadline_reports_no_loss(void **state) { release_past_the_deadline(*state, HILOCK_LOST); }
static void release_past_the_deadline_is_OK_if_the_store_has_it(void **state) { release_past_the_deadline(*state, HILOCK_OK); }

/* The lease is longer here, so that a busy machine has the time to connect again before it is over. */
static void short_outage_costs_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    struct belief before = {0, 0}, after = {0, 0};
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .command_timeout_ms = 500));
    client_connect(&client);
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 12000));
    assert_int_equal(handle_acquire(&stock, 10000), HILOCK_OK);
    belief_look(&before, &stock);
    server_suspend(fixture->server);
    handle_until(&stock, &stock.renewal_failed, 1, "RENEWAL_FAILED");
    server_resume(fixture->server);
    handle_until(&stock, &stock.renewed, 1, "RENEWED");
    belief_look(&after, &stock);
    assert_true(after.from_us > before.until_us);
    assert_int_equal(stock.lost.count, 0);
    assert_int_equal(stock.renewal_failed.count, 1);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(counts_from_before_the_send),
        FIXTURE_TEST(expires_with_a_warning_by_default),
        FIXTURE_TEST_WITH_PORT(expires_with_a_warning_over_tcp),
        FIXTURE_TEST(release_past_the_deadline_reports_no_loss),
        FIXTURE_TEST(release_past_the_deadline_is_OK_if_the_store_has_it),
        FIXTURE_TEST(short_outage_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
