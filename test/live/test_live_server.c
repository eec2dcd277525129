/* SPDX-License-Identifier: BSD-3-Clause */
/* What one client leaves at a real server, byte for byte, under a name of any bytes. What the store answers to each
 * script: ../sim/lockstep. */
#include <inttypes.h>
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

/* All held at once, each with a key of its own. */
LIVE(names_are_any_bytes)
{
    static char all[256], longest[HILOCK_NAME_MAX];
    static const struct { const char *bytes; size_t length; } names[] = {
        {"a", 1}, {"a\0", 2}, {"a\0b", 3}, {"a\0c", 3}, {"A", 1}, {"\0", 1}, {"\r\n", 2}, {"\xff\xfe", 2}, {"{a}\0",
            4}, {"{a{b}", 5},
        {all, sizeof all}, {longest, sizeof longest}};
    enum { COUNT = sizeof names / sizeof *names };
    struct client client;
    struct handle handles[COUNT];
    memset(longest, 'n', sizeof longest);
    for (int i = 0; i < 256; i++)
        all[i] = (char)i; /* has {|} in it, a tag */
    client_open(&client, fixture->server->url);
    for (size_t i = 0; i < COUNT; i++) {
        handle_open(&handles[i], &client, names[i].bytes,
                    HILOCK_LOCK_OPTIONS(.lease_ms = 60000, .name_length = names[i].length));
        assert_int_equal(handle_acquire(&handles[i], HILOCK_TRY), HILOCK_OK);
        assert_int_equal(redis_integer(fixture->redis, "HLEN %b", names[i].bytes, names[i].length), 2);
        assert_int_equal(redis_lock_keys(fixture->redis), i + 1);
    }
    client_end(&client);
}
