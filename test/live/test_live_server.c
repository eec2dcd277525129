/* SPDX-License-Identifier: BSD-3-Clause */
/* What one client leaves at a real server, byte for byte. What the store answers to each script: ../sim/lockstep; names
 * of any bytes: ../unit/test_handle.c, ../unit/test_encode.c. */
#include <fcntl.h>
#include <malloc.h>
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

/* ---- what a client costs ---- */

enum { CLIENTS = 8, BYTES_MAX = 18 << 10, FDS_EACH = 2 };

static size_t heap_bytes(void) { return mallinfo2().uordblks; } /* 0 where a sanitizer has the heap */

static int open_fds(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static int has_sent_scripts(void *arg)
{
    const struct client *clients = arg;
    for (int i = 0; i < CLIENTS; i++)
        if (!hilock_client_is_connected(clients[i].hilock))
            return 0;
    return 1;
}

/* Connected and idle: what it sent as it connected is not kept. */
LIVE(an_idle_client_is_small)
{
    struct client first, clients[CLIENTS];
    client_open(&first, fixture->server->url); /* what the process pays once */
    client_connect(&first);
    size_t bytes = heap_bytes();
    int fds = open_fds();
    for (int i = 0; i < CLIENTS; i++)
        client_open_on(&clients[i], first.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    client_until(&clients[0], has_sent_scripts, clients, "all connections");
    bytes = (heap_bytes() - bytes) / CLIENTS;
    print_message("%zu bytes, %d descriptors\n", bytes, (open_fds() - fds) / CLIENTS);
    assert_true(bytes <= BYTES_MAX);
    assert_int_equal(open_fds() - fds, CLIENTS * FDS_EACH);
    for (int i = 0; i < CLIENTS; i++)
        client_end(&clients[i]);
    client_end(&first);
}
