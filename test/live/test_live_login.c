/* SPDX-License-Identifier: BSD-3-Clause */
/* A refused login is reported, runs nothing, and is repeated until the server accepts it. */
#include <stdio.h>
#include <string.h>

#include "support/fixture.h"

/* All rights, so that only the login keeps it out. */
static void let_in(struct fixture *fixture, const char *password) { redis_do(fixture->redis, "ACL SETUSER locks reset on >%s ~* &* +@all", password); }

static long long calls_of_locks(struct redis *redis)
{
    return redis_calls(redis, "evalsha") + redis_calls(redis, "script|load") + redis_calls(redis, "subscribe");
}

struct logins { struct redis *redis; long long before; };

static int was_repeated(void *arg)
{
    const struct logins *logins = arg;
    return redis_calls(logins->redis, "auth") >= logins->before + 4;
}

/* The default user may do everything here: nothing runs as that one. */
static void is_repeated_until_it_is_good(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    let_in(fixture, "right");
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .username = "locks", .password = "wrong"));
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_DENIED);
    assert_non_null(strstr(stock.acquired.detail, "WRONGPASS"));
    assert_null(strstr(stock.acquired.detail, "wrong "));
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_DENIED);
    client_until(&client, was_repeated, &(struct logins){fixture->redis, redis_calls(fixture->redis, "auth")}, "more logins");
    assert_false(hilock_client_is_connected(client.hilock));
    assert_int_equal(client.connected, 0);
    assert_true(redis_count(fixture->redis, "ACL LOG") > 0);
    assert_int_equal(calls_of_locks(fixture->redis), 0);
    let_in(fixture, "wrong");
    client_connect(&client);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
}

/* Without a password nothing is said before the first command that is refused. */
static void a_password_that_is_missing(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    char url[128];
    snprintf(url, sizeof url, "unix://%s", fixture->server->socket);
    redis_do(fixture->redis, "CONFIG SET requirepass right");
    client_open(&client, url);
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_DENIED);
    assert_non_null(strstr(stock.acquired.detail, "NOAUTH"));
    assert_int_equal(calls_of_locks(fixture->redis), 0);
    handle_free(&stock);
    client_close(&client);
    redis_do(fixture->redis, "CONFIG SET requirepass \"\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(is_repeated_until_it_is_good),
        FIXTURE_TEST(a_password_that_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
