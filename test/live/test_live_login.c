/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may not, is told so: a refused login runs nothing, and is repeated until the server knows better; a missing right is named, or, where
 * locks can do without it, only logged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "support/belief.h"
#include "support/scene.h"

static const char rights[] = "~* &* +evalsha +script|load +client|setname +time +subscribe +unsubscribe +publish +pttl +hkeys +hget "
                             "+hset +hexists +hdel +set +pexpire";

/* "locks" may do all that locks need, and no more. */
static void let_in(struct scene *scene, const char *password)
{
    char command[512];
    snprintf(command, sizeof command, "ACL SETUSER locks reset on >%s %s", password, rights);
    redis_do(scene->redis, command);
}

static void client_open_as(struct client *client, const struct scene *scene, const char *user, const char *password)
{
    client_open_with(client, HILOCK_CLIENT_OPTIONS(.url = scene->server->url, .username = user, .password = password));
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
    struct scene *scene = *state;
    struct client client;
    struct handle stock;
    let_in(scene, "right");
    client_open_as(&client, scene, "locks", "wrong");
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_DENIED);
    assert_non_null(strstr(stock.acquired.detail, "WRONGPASS"));
    assert_null(strstr(stock.acquired.detail, "wrong "));
    client_until(&client, was_repeated, &(struct logins){scene->redis, redis_calls(scene->redis, "auth")}, "more logins");
    assert_int_equal(client.connected, 0);
    assert_true(redis_count(scene->redis, "ACL LOG") > 0);
    assert_int_equal(redis_calls(scene->redis, "evalsha"), 0);
    let_in(scene, "wrong");
    client_connect(&client);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
}

/* Without a password nothing is said before the first command that is refused. */
static void password_that_is_missing(void **state)
{
    struct scene *scene = *state;
    struct client client;
    struct handle stock;
    redis_do(scene->redis, "CONFIG SET requirepass right");
    client_open(&client, scene->server->url);
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_DENIED);
    assert_non_null(strstr(stock.acquired.detail, "NOAUTH"));
    assert_int_equal(redis_calls(scene->redis, "evalsha"), 0);
    handle_free(&stock);
    client_close(&client);
    redis_do(scene->redis, "CONFIG SET requirepass \"\"");
}

/* R5 for logins: a right that is taken away ends no hold before its deadline. */
static void user_that_goes_while_it_holds(void **state)
{
    struct scene *scene = *state;
    struct client client;
    struct handle stock;
    struct belief belief = {0, 0};
    let_in(scene, "right");
    client_open_as(&client, scene, "locks", "right");
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    redis_do(scene->redis, "ACL DELUSER locks");
    client_turn(&client);
    belief_look(&belief, &stock);
    belief_until_lost(&belief, &stock);
    assert_int_equal(stock.lost.reason, HILOCK_LOST_EXPIRED);
    handle_free(&stock);
    client_close(&client);
}

struct lack {
    const char *right; /* taken away */
    const char *words; /* of the server's refusal, or of its script's */
};

static void acquire_without(struct scene *scene, const struct lack *lack)
{
    struct client client;
    struct handle stock;
    char command[128];
    let_in(scene, "right");
    snprintf(command, sizeof command, "ACL SETUSER locks %s", lack->right);
    redis_do(scene->redis, command);
    client_open_as(&client, scene, "locks", "right");
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_DENIED);
    if (!strstr(stock.acquired.detail, lack->words))
        check_fail("without %s: \"%s\"", lack->right, stock.acquired.detail);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_DENIED);
    let_in(scene, "right");
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
    redis_do(scene->redis, "SCRIPT FLUSH");
}

static void right_that_is_missing_is_named(void **state)
{
    static const struct lack lacks[] = {
        {"-evalsha", "evalsha"},
        {"-hset", "script"}, /* the server names no command there */
        {"-pttl", "script"},
        {"-script|load", "script|load"},
        {"resetkeys ~other:*", "key"},
    };
    for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
        acquire_without(*state, &lacks[i]);
}

static int was_warned(void *arg) { return ((struct client *)arg)->warnings > 0; }

/* A lock can be had and given back; who waits does without messages. */
static void works_without(struct scene *scene, const char *right)
{
    struct client client;
    struct handle stock;
    char command[128];
    let_in(scene, "right");
    snprintf(command, sizeof command, "ACL SETUSER locks %s", right);
    redis_do(scene->redis, command);
    client_open_as(&client, scene, "locks", "right");
    handle_open(&stock, &client, "stock:42", NULL);
    redis_do(scene->redis, "HSET stock:42 another 1 mode mutex");
    redis_do(scene->redis, "PEXPIRE stock:42 500");
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    client_until(&client, was_warned, &client, "a warning");
    handle_free(&stock);
    client_close(&client);
}

static void right_that_can_be_missed(void **state)
{
    works_without(*state, "-client|setname");
    works_without(*state, "-subscribe");
    works_without(*state, "resetchannels");
    works_without(*state, "-publish");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE_TEST(nothing_runs_after_a_refused_login),
        SCENE_TEST(login_is_repeated_until_it_is_good),
        SCENE_TEST(password_that_is_missing),
        SCENE_TEST(user_that_goes_while_it_holds),
        SCENE_TEST(right_that_is_missing_is_named),
        SCENE_TEST(right_that_can_be_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
