/* SPDX-License-Identifier: BSD-3-Clause */
/* Closing: what waits ends CLOSED at once, what is held lives on until it is released or the drain is over, on_closed runs once and last, and
 * then nothing is left: no key, no connection, no event on the loop. */
#include <stdio.h>
#include <stdlib.h>

#include "support/proxy.h"
#include "support/fixture.h"

enum { MANY = 1000 };

struct party {
    struct fixture *fixture;
    struct client client;
    struct handle holders[MANY], waiters[MANY];
    unsigned granted, closed, lost, released, ends; /* ends: on_closed */
    unsigned after_end;
};

static void note_grant(struct handle *handle) { ((struct party *)handle->user)->granted++; }

static void note_closed(struct handle *handle)
{
    struct party *party = handle->user;
    party->closed += handle->acquired.status == HILOCK_CLOSED;
    party->after_end += party->ends;
}

static void note_loss(struct handle *handle)
{
    struct party *party = handle->user;
    party->lost++;
    party->after_end += party->ends;
}

static void note_release(struct handle *handle)
{
    struct party *party = handle->user;
    party->released += handle->released.status == HILOCK_OK;
    party->after_end += party->ends;
}

static void on_closed(void *user)
{
    struct party *party = user;
    party->ends++;
    party->client.hilock = NULL;
}

static int all_hold(void *arg) { return ((const struct party *)arg)->granted == MANY; }

/* Half of the waiters want what this client holds, half what another program holds. */
static void begin(struct party *party, struct fixture *fixture, uint32_t lease_ms)
{
    const struct hilock_lock_options *options = HILOCK_LOCK_OPTIONS(.lease_ms = lease_ms);
    char name[32];
    party->fixture = fixture;
    client_open(&party->client, fixture->server->url);
    redis_do(fixture->redis, "EVAL %s 0", "for i = 0, 499 do redis.call('HSET', 'foreign:' .. i, 'another', 1, 'mode', 'mutex') end");
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "own:%u", i);
        handle_open(&party->holders[i], &party->client, name, options);
        party->holders[i].user = party;
        party->holders[i].on_acquired = note_grant;
        party->holders[i].on_lost = note_loss;
        party->holders[i].on_released = note_release;
        handle_ask(&party->holders[i], HILOCK_FOREVER);
    }
    client_until(&party->client, all_hold, party, "all grants");
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%s:%u", i % 2 ? "own" : "foreign", i / 2);
        handle_open(&party->waiters[i], &party->client, name, options);
        party->waiters[i].user = party;
        party->waiters[i].on_acquired = note_closed;
        handle_ask(&party->waiters[i], HILOCK_FOREVER);
    }
    handle_until(&party->waiters[MANY - 2], &party->waiters[MANY - 2].waiting, 1, "the last WAITING");
}

static void close_in(struct party *party, uint32_t drain_ms)
{
    assert_int_equal(hilock_client_close(party->client.hilock, drain_ms, on_closed, party), HILOCK_OK);
}

static void no_result(const struct hilock_result *result, void *user)
{
    (void)result;
    (void)user;
}

/* The loop is left to hilock alone, and ends when hilock does. */
static void until_dispatch_returns(struct party *party)
{
    event_free(party->client.tick);
    party->client.tick = NULL;
    assert_true(event_base_dispatch(party->client.base) >= 0);
    assert_int_equal(party->ends, 1);
    assert_int_equal(event_base_get_num_events(party->client.base, EVENT_BASE_COUNT_ADDED | EVENT_BASE_COUNT_ACTIVE), 0);
}

static void end(struct party *party)
{
    assert_int_equal(party->closed, MANY);
    assert_int_equal(party->after_end, 0);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(party->waiters[i].acquired.count, 1);
        assert_int_equal(party->holders[i].lost.count + party->holders[i].released.count, 1);
        assert_int_equal(hilock_lock_state(party->holders[i].lock), HILOCK_STATE_IDLE);
        assert_int_equal(hilock_acquire(party->waiters[i].lock, HILOCK_TRY, no_result, NULL), HILOCK_CLOSED);
        handle_free(&party->holders[i]);
        handle_free(&party->waiters[i]);
    }
    redis_do(party->fixture->redis, "EVAL %s 0", "for i = 0, 499 do redis.call('DEL', 'foreign:' .. i) end");
    assert_int_equal(redis_lock_keys(party->fixture->redis), 0);
    client_close(&party->client);
    free(party);
}

static void at_once(void **state)
{
    struct party *party = calloc(1, sizeof *party);
    begin(party, *state, 0);
    close_in(party, 0);
    assert_int_equal(party->closed + party->lost, 0);
    until_dispatch_returns(party);
    assert_int_equal(party->lost, MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(party->holders[i].lost.reason, HILOCK_REASON_CLOSING);
    end(party);
}

static int are_closed(void *arg) { return ((const struct party *)arg)->closed == MANY; }

static int all_renewed(void *arg) { return client_stats(&((const struct party *)arg)->client).renewals >= 2 * MANY; }

/* Held locks are kept for as long as it takes, beyond their lease too, and the last release ends it. */
static void with_the_last_release(void **state)
{
    struct party *party = calloc(1, sizeof *party);
    begin(party, *state, 9000);
    close_in(party, HILOCK_FOREVER);
    client_until(&party->client, are_closed, party, "the waits' ends");
    assert_int_equal(hilock_acquire(party->waiters[0].lock, HILOCK_TRY, no_result, NULL), HILOCK_CLOSED);
    client_until(&party->client, all_renewed, party, "renewals, twice as many as holds");
    assert_int_equal(party->lost + party->ends, 0);
    for (unsigned i = 0; i < MANY - 1; i++)
        handle_release(&party->holders[i]);
    while (party->released < MANY - 1)
        client_for_ms(&party->client, 1);
    assert_int_equal(party->ends, 0);
    assert_true(hilock_lock_remaining_ms(party->holders[MANY - 1].lock) > 0);
    handle_release(&party->holders[MANY - 1]);
    until_dispatch_returns(party);
    assert_int_equal(party->released, MANY);
    end(party);
}

/* Half is released within the drain; the rest is reported when it is over, not before. */
static void when_the_drain_is_over(void **state)
{
    struct party *party = calloc(1, sizeof *party);
    uint64_t begun_us;
    begin(party, *state, 0);
    begun_us = check_now_us();
    close_in(party, 1000);
    for (unsigned i = 0; i < MANY / 2; i++)
        handle_release(&party->holders[i]);
    until_dispatch_returns(party);
    assert_int_equal(party->released, MANY / 2);
    assert_int_equal(party->lost, MANY / 2);
    for (unsigned i = MANY / 2; i < MANY; i++) {
        assert_int_equal(party->holders[i].lost.reason, HILOCK_REASON_CLOSING);
        assert_true(party->holders[i].lost.at_us >= begun_us + 1000000);
    }
    end(party);
}

static void second_on_closed(void *user) { ((struct party *)user)->ends += 100; }

/* Called again it shortens the drain and nothing else; a longer one is not meant. */
static void called_again(void **state)
{
    struct party *party = calloc(1, sizeof *party);
    begin(party, *state, 0);
    close_in(party, HILOCK_FOREVER);
    client_until(&party->client, are_closed, party, "the waits' ends");
    assert_int_equal(hilock_client_close(party->client.hilock, 0, second_on_closed, party), HILOCK_OK);
    assert_int_equal(hilock_client_close(party->client.hilock, HILOCK_FOREVER, second_on_closed, party), HILOCK_OK);
    until_dispatch_returns(party);
    assert_int_equal(party->lost, MANY);
    end(party);
}

/* ---- without an answer ---- */

static int is_closed(void *arg) { return *(const unsigned *)arg > 0; }

static void count_end(void *user) { ++*(unsigned *)user; }

static void before_it_was_ever_connected(void **state)
{
    struct fixture *fixture = *state;
    struct proxy *proxy = proxy_start(fixture->server);
    struct client client;
    struct handle stock;
    unsigned ends = 0;
    proxy_refuse(proxy, 1);
    client_open(&client, proxy_url(proxy));
    handle_open(&stock, &client, "stock:42", NULL);
    handle_ask(&stock, HILOCK_FOREVER);
    assert_int_equal(hilock_client_close(client.hilock, HILOCK_FOREVER, count_end, &ends), HILOCK_OK);
    client_until(&client, is_closed, &ends, "on_closed");
    client.hilock = NULL;
    assert_int_equal(stock.acquired.status, HILOCK_CLOSED);
    handle_free(&stock);
    client_close(&client);
    proxy_end(proxy);
}

/* A hold whose server is silent: the drain and one more command's time, and the rest is left to the lease. */
static void while_the_server_is_silent(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    unsigned ends = 0;
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .command_timeout_ms = 500));
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    server_suspend(fixture->server);
    assert_int_equal(hilock_client_close(client.hilock, 500, count_end, &ends), HILOCK_OK);
    client_until(&client, is_closed, &ends, "on_closed");
    client.hilock = NULL;
    assert_int_equal(stock.lost.reason, HILOCK_REASON_CLOSING);
    server_resume(fixture->server);
    redis_do(fixture->redis, "DEL stock:42");
    handle_free(&stock);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(at_once),
        FIXTURE_TEST(with_the_last_release),
        FIXTURE_TEST(when_the_drain_is_over),
        FIXTURE_TEST(called_again),
        FIXTURE_TEST(before_it_was_ever_connected),
        FIXTURE_TEST(while_the_server_is_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
