/* SPDX-License-Identifier: BSD-3-Clause */
/* A refused login is reported, runs nothing, and is repeated until the server accepts it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "support/belief.h"
#include "support/fixture.h"

static const char rights[] = "~* &* +evalsha +script|load +client|setname +time +subscribe +unsubscribe +publish +pttl +hscan +hget "
                             "+hset +hdel +hlen +exists +set +pexpire +zadd +zrem +zcount +zrange +zrangebyscore";

/* "locks" may do all that locks need, and no more. */
static void let_in(struct fixture *fixture, const char *password)
{
    char command[512];
    snprintf(command, sizeof command, "ACL SETUSER locks reset on >%s %s", password, rights);
    redis_do(fixture->redis, command);
}

static void client_open_as(struct client *client, const struct fixture *fixture, const char *user, const char *password)
{
    client_open_with(client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .username = user, .password = password));
}

static void nothing_runs_after_a_refused_login(void **state) { assert_string_equal(rule_refused_login_is_the_end(*state, NULL), ""); }

struct logins { struct redis *redis; long long before; };

static int was_repeated(void *arg)
{
    const struct logins *logins = arg;
    return redis_calls(logins->redis, "auth") >= logins->before + 4;
}

static void login_is_repeated_until_it_is_good(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    let_in(fixture, "right");
    client_open_as(&client, fixture, "locks", "wrong");
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_DENIED);
    assert_non_null(strstr(stock.acquired.detail, "WRONGPASS"));
    assert_null(strstr(stock.acquired.detail, "wrong "));
    client_until(&client, was_repeated, &(struct logins){fixture->redis, redis_calls(fixture->redis, "auth")}, "more logins");
    assert_int_equal(client.connected, 0);
    assert_true(redis_count(fixture->redis, "ACL LOG") > 0);
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), 0);
    let_in(fixture, "wrong");
    client_connect(&client);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
}

/* Without a password nothing is said before the first command that is refused. */
static void password_that_is_missing(void **state)
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
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), 0);
    handle_free(&stock);
    client_close(&client);
    redis_do(fixture->redis, "CONFIG SET requirepass \"\"");
}

/* R5 for logins: a right that is taken away ends no hold before its deadline. */
static void user_that_goes_while_it_holds(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    struct belief belief = {0, 0};
    let_in(fixture, "right");
    client_open_as(&client, fixture, "locks", "right");
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    redis_do(fixture->redis, "ACL DELUSER locks");
    client_turn(&client);
    belief_look(&belief, &stock);
    belief_until_lost(&belief, &stock);
    assert_int_equal(stock.lost.reason, HILOCK_REASON_EXPIRED);
    handle_free(&stock);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(nothing_runs_after_a_refused_login),
        FIXTURE_TEST(login_is_repeated_until_it_is_good),
        FIXTURE_TEST(password_that_is_missing),
        FIXTURE_TEST(user_that_goes_while_it_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
