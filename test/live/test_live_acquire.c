/* SPDX-License-Identifier: BSD-3-Clause */
/* A free lock: what acquire and release leave at the server, byte for byte, for how long, and with how many commands.
 * */
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
    long long left_ms;
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .token_ttl_ms = 400000));
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 90000));
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_OK);
    snprintf(holder, sizeof holder, "%s:1:live", hilock_client_uuid(client.hilock));
    snprintf(token, sizeof token, "%" PRIu64, hilock_lock_token(stock.lock));
    assert_true(hilock_multi_token(stock.lock, 0) == 0); /* it is no multi */
    assert_string_equal(redis_text(fixture->redis, "TYPE stock:42"), "hash");
    assert_int_equal(redis_integer(fixture->redis, "HLEN stock:42"), 2);
    assert_string_equal(redis_text(fixture->redis, "HGET stock:42 mode"), "mutex");
    assert_string_equal(redis_text(fixture->redis, "HGET stock:42 %s", holder), token);
    assert_int_equal(redis_integer(fixture->redis, "DBSIZE"), 2);
    assert_string_equal(redis_text(fixture->redis, "TYPE hilock:token:{stock:42}"), "string");
    assert_true(strtoull(redis_text(fixture->redis, "GET hilock:token:{stock:42}"), NULL, 10) >= hilock_lock_token(stock.lock));
    assert_in_range(redis_integer(fixture->redis, "PTTL hilock:token:{stock:42}"), 400001, 800000);
    left_ms = redis_integer(fixture->redis, "PTTL stock:42");
    assert_true(left_ms <= 90000 && left_ms > hilock_lock_remaining_ms(stock.lock)); /* belief ends first */
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock:42"), 0);
    assert_int_equal(redis_integer(fixture->redis, "DBSIZE"), 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(lays_out_a_hash_as_redisson_does),
        FIXTURE_TEST(shows_its_label_to_the_operator),
        FIXTURE_TEST(takes_two_commands_a_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
