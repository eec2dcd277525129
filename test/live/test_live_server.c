/* SPDX-License-Identifier: BSD-3-Clause */
/* What one client leaves at a real server, byte for byte. What the store answers to each script: ../sim/lockstep; names
 * of any bytes: ../unit/test_handle.c, ../unit/test_encode.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture.h"

LIVE(is_left_as_redisson_would)
{
    struct client client;
    struct handle stock;
    char holder[64], name[128];
    client_open_with(&client,
                     HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .token_ttl_ms = 400000, .label = "shop-7"));
    handle_open(&stock, &client, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 90000));
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_OK);
    snprintf(holder, sizeof holder, "%s:1:shop-7", hilock_client_uuid(client.hilock));
    assert_int_equal(redis_integer(fixture->redis, "HLEN stock"), 2);
    assert_string_equal(redis_text(fixture->redis, "HGET stock mode"), "mutex");
    assert_true(strtoull(redis_text(fixture->redis, "HGET stock %s", holder), NULL,
                         10) == hilock_lock_token(stock.lock));
    assert_true(strtoull(redis_text(fixture->redis, "GET hilock:token:{stock}"), NULL,
                         10) >= hilock_lock_token(stock.lock));
    assert_in_range(redis_integer(fixture->redis, "PTTL hilock:token:{stock}"), 400001, 800000);
    /* belief ends first */
    assert_in_range(redis_integer(fixture->redis, "PTTL stock"), hilock_lock_remaining_ms(stock.lock) + 1, 90000);
    redisReply *list = redis_reply(fixture->redis, "CLIENT LIST");
    snprintf(name, sizeof name, " name=hilock:shop-7:%s ", hilock_client_uuid(client.hilock));
    assert_non_null(strstr(list->str, name));
    freeReplyObject(list);
    client_end(&client);
}
