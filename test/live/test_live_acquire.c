/* SPDX-License-Identifier: BSD-3-Clause */
/* A free lock: what acquire and release leave at the server, byte for byte, and that nothing but the token stays. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture.h"

static void lays_out_a_hash_as_redisson_does(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    char holder[64], token[24];
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_OK);
    snprintf(holder, sizeof holder, "%s:1:live", hilock_client_uuid(client.hilock));
    snprintf(token, sizeof token, "%" PRIu64, hilock_lock_token(stock.lock));
    assert_string_equal(redis_text(fixture->redis, "TYPE stock:42"), "hash");
    assert_int_equal(redis_integer(fixture->redis, "HLEN stock:42"), 2);
    assert_string_equal(redis_text(fixture->redis, "HGET stock:42 mode"), "mutex");
    assert_string_equal(redis_text(fixture->redis, "HGET stock:42 %s", holder), token);
    assert_int_equal(redis_integer(fixture->redis, "DBSIZE"), 2);
    assert_string_equal(redis_text(fixture->redis, "TYPE hilock:token:{stock:42}"), "string");
    assert_true(strtoull(redis_text(fixture->redis, "GET hilock:token:{stock:42}"), NULL, 10) >= hilock_lock_token(stock.lock));
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock:42"), 0);
    assert_int_equal(redis_integer(fixture->redis, "DBSIZE"), 1);
    handle_free(&stock);
    client_close(&client);
}

static void sets_both_ends(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    long long lease_left_ms, token_left_ms;
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .token_ttl_ms = 400000));
    handle_open(&stock, &client, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 90000));
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_OK);
    lease_left_ms = redis_integer(fixture->redis, "PTTL stock");
    token_left_ms = redis_integer(fixture->redis, "PTTL hilock:token:{stock}");
    assert_true(lease_left_ms > 0 && lease_left_ms <= 90000);
    assert_true(token_left_ms > 400000 && token_left_ms <= 800000);
    /* what we believe ends before what the server keeps */
    assert_true(stock.acquired.remaining_ms < 90000);
    assert_true(hilock_lock_remaining_ms(stock.lock) <= stock.acquired.remaining_ms);
    lease_left_ms = redis_integer(fixture->redis, "PTTL stock");
    assert_true(hilock_lock_remaining_ms(stock.lock) < lease_left_ms);
    handle_give(&stock);
    handle_free(&stock);
    client_close(&client);
}

static void tells_the_result(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock", NULL);
    assert_int_equal(hilock_lock_state(stock.lock), HILOCK_STATE_IDLE);
    assert_int_equal(hilock_lock_token(stock.lock), 0);
    handle_ask(&stock, 60000);
    assert_int_equal(hilock_lock_state(stock.lock), HILOCK_STATE_WAITING);
    assert_int_equal(stock.acquired.count, 0);
    handle_until(&stock, &stock.acquired, 1, "the grant");
    assert_int_equal(stock.acquired.status, HILOCK_OK);
    assert_int_equal(stock.acquired.state, HILOCK_STATE_HELD);
    assert_int_equal(stock.acquired.hold_count, 1);
    assert_int_equal(stock.acquired.attempts, 1);
    assert_true(stock.acquired.token != 0 && stock.acquired.token == hilock_lock_token(stock.lock));
    assert_true(stock.acquired.remaining_ms > 0);
    handle_release(&stock);
    assert_int_equal(hilock_lock_state(stock.lock), HILOCK_STATE_IDLE); /* with the call */
    assert_int_equal(hilock_lock_remaining_ms(stock.lock), 0);
    assert_int_equal(stock.released.count, 0);
    handle_until(&stock, &stock.released, 1, "the release");
    assert_int_equal(stock.released.status, HILOCK_OK);
    assert_int_equal(stock.released.state, HILOCK_STATE_IDLE);
    assert_int_equal(stock.lost.count, 0);
    handle_free(&stock);
    client_close(&client);
}

static void shows_its_label_to_the_operator(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    redisReply *list;
    char name[128];
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .label = "shop-7"));
    client_connect(&client);
    snprintf(name, sizeof name, " name=hilock:shop-7:%s ", hilock_client_uuid(client.hilock));
    list = redis_reply(fixture->redis, "CLIENT LIST");
    assert_non_null(strstr(list->str, name));
    freeReplyObject(list);
    client_close(&client);
}

static void takes_two_commands_a_pair(void **state)
{
    enum { PAIRS = 200 };
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    struct hilock_stats stats;
    uint64_t token = 0;
    client_open(&client, fixture->server->url);
    client_connect(&client);
    handle_open(&stock, &client, "stock", NULL);
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    for (int i = 0; i < PAIRS; i++) {
        assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
        assert_true(stock.acquired.token > token); /* rises, though each grant found the lock free */
        token = stock.acquired.token;
        assert_int_equal(handle_give(&stock), HILOCK_OK);
    }
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), 2 * PAIRS);
    assert_int_equal(redis_calls(fixture->redis, "eval"), 0);
    assert_int_equal(redis_calls(fixture->redis, "script|load"), 0);
    assert_int_equal(redis_calls(fixture->redis, "subscribe"), 0);
    stats = client_stats(&client);
    assert_int_equal(stats.granted, PAIRS);
    assert_int_equal(stats.released, PAIRS);
    assert_int_equal(stats.commands, 2 * PAIRS);
    assert_int_equal(stats.undone + stats.renewals_failed + stats.failed, 0);
    handle_free(&stock);
    client_close(&client);
}

static int nothing_is_locked(void *arg) { return redis_lock_keys(arg) == 0; }

/* Drop, free and close release in the background, and say nothing. */
static void gives_back_what_is_dropped_or_freed(void **state)
{
    enum { FREED, DROPPED, LEFT, HANDLES };
    struct fixture *fixture = *state;
    struct client client;
    struct handle handles[HANDLES];
    char name[16];
    client_open(&client, fixture->server->url);
    for (int i = 0; i < HANDLES; i++) {
        snprintf(name, sizeof name, "name%d", i);
        handle_open(&handles[i], &client, name, NULL);
        assert_int_equal(handle_acquire(&handles[i], HILOCK_TRY), HILOCK_OK);
    }
    assert_int_equal(redis_lock_keys(fixture->redis), HANDLES);
    handle_free(&handles[FREED]);
    hilock_lock_drop(handles[DROPPED].lock);
    assert_int_equal(hilock_lock_state(handles[DROPPED].lock), HILOCK_STATE_IDLE);
    handle_give(&handles[LEFT]);
    client_until(&client, nothing_is_locked, fixture->redis, "the releases");
    assert_int_equal(handle_acquire(&handles[DROPPED], HILOCK_TRY), HILOCK_OK); /* good for another acquire */
    assert_int_equal(client_stats(&client).released, HANDLES);
    client_close(&client); /* holds it: reported as lost, and released */
    assert_int_equal(handles[DROPPED].lost.count, 1);
    assert_int_equal(handles[DROPPED].lost.reason, HILOCK_REASON_CLOSING);
    assert_int_equal(handles[DROPPED].released.count + handles[FREED].released.count, 0);
    assert_int_equal(handles[FREED].lost.count + handles[LEFT].lost.count, 0);
    handle_free(&handles[DROPPED]); /* outlives its client */
    handle_free(&handles[LEFT]);
}

static int freed_is_free(void *arg) { return redis_integer(arg, "EXISTS freed") == 0; }

/* Released with a callback, but dropped or freed before the answer: nothing comes, also not later. */
static void says_nothing_after_drop_and_free(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle dropped, freed;
    client_open(&client, fixture->server->url);
    handle_open(&dropped, &client, "dropped", NULL);
    handle_open(&freed, &client, "freed", NULL);
    assert_int_equal(handle_acquire(&dropped, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(handle_acquire(&freed, HILOCK_TRY), HILOCK_OK);
    handle_release(&dropped);
    handle_release(&freed);
    hilock_lock_drop(dropped.lock);
    handle_free(&freed);
    assert_int_equal(handle_acquire(&dropped, HILOCK_TRY), HILOCK_OK); /* a round trip behind these releases */
    client_until(&client, freed_is_free, fixture->redis, "the release");
    client_turn(&client);
    assert_int_equal(dropped.released.count + freed.released.count, 0);
    assert_int_equal(handle_give(&dropped), HILOCK_OK);
    assert_int_equal(dropped.released.count, 1);
    handle_free(&dropped);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(lays_out_a_hash_as_redisson_does),
        FIXTURE_TEST(sets_both_ends),
        FIXTURE_TEST(tells_the_result),
        FIXTURE_TEST(shows_its_label_to_the_operator),
        FIXTURE_TEST(takes_two_commands_a_pair),
        FIXTURE_TEST(gives_back_what_is_dropped_or_freed),
        FIXTURE_TEST(says_nothing_after_drop_and_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
