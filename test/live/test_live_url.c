/* SPDX-License-Identifier: BSD-3-Clause */
/* Every way to say where the server is and who we are: over it a lock is taken, in the database that was asked for, and no secret is logged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture.h"

static const char secret[] = "p@ss:w/rd?%";
static const char secret_in_url[] = "p%40ss%3Aw%2Frd%3F%25";

/* Hears every log line: none may have the secret in it. */
static unsigned lines, leaks;

static void listen_for_secrets(hilock_log_level level, const char *line, void *user)
{
    (void)level;
    (void)user;
    lines++;
    leaks += strstr(line, secret) != NULL || strstr(line, secret_in_url) != NULL;
}

struct ears { struct event_base *base; hilock_client *hilock; int is_closed; };

static void on_closed(void *user) { ((struct ears *)user)->is_closed = 1; }

static void on_result(const struct hilock_result *result, void *user)
{
    struct ears *ears = user;
    if (result->status != HILOCK_OK)
        check_fail("%s: %s", hilock_status_name(result->status), result->detail);
    hilock_client_close(ears->hilock, 0, on_closed, ears);
}

/* A pair through a client that logs everything, at the most talkative level. */
static void check_tells_no_secret(const struct hilock_client_options *options)
{
    struct ears ears = {.base = event_base_new()};
    struct hilock_client_options mine = *options;
    hilock_lock *lock;
    mine.log_level = HILOCK_LOG_DEBUG;
    mine.on_log = listen_for_secrets;
    lines = leaks = 0;
    assert_int_equal(hilock_client_open_libevent(&ears.hilock, ears.base, &mine, NULL), HILOCK_OK);
    assert_int_equal(hilock_lock_create(&lock, ears.hilock, "logged", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)), HILOCK_OK);
    assert_int_equal(hilock_acquire(lock, HILOCK_FOREVER, on_result, &ears), HILOCK_OK);
    assert_int_equal(event_base_dispatch(ears.base), 1); /* nothing left on the loop */
    assert_int_equal(ears.is_closed, 1);
    assert_true(lines > 0);
    assert_int_equal(leaks, 0);
    hilock_lock_free(lock);
    event_base_free(ears.base);
}

/* The lock is in this database, and in no other. */
static void check_works(struct fixture *fixture, const struct hilock_client_options *options, int database)
{
    struct redis *there = redis_open_as(fixture->server, NULL, NULL, database);
    struct client client;
    struct handle stock;
    client_open_with(&client, options);
    handle_open(&stock, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(redis_integer(there, "HLEN stock"), 2);
    assert_int_equal(redis_integer(there, "DBSIZE"), 2);
    for (int i = 0; i < 16; i++) {
        struct redis *other = redis_open_as(fixture->server, NULL, NULL, i);
        assert_int_equal(redis_integer(other, "EXISTS stock"), i == database);
        redis_close(other);
    }
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
    fixture_check_clean(there);
    redis_do(there, "FLUSHALL");
    redis_close(there);
    check_tells_no_secret(options);
    redis_do(fixture->redis, "FLUSHALL");
}

static void check_url(struct fixture *fixture, int database, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void check_url(struct fixture *fixture, int database, const char *format, ...)
{
    char url[256];
    va_list list;
    va_start(list, format);
    vsnprintf(url, sizeof url, format, list);
    va_end(list);
    check_works(fixture, HILOCK_CLIENT_OPTIONS(.url = url), database);
}

static void tcp(void **state)
{
    struct fixture *fixture = *state;
    check_url(fixture, 0, "redis://127.0.0.1:%d", fixture->server->port);
    check_url(fixture, 0, "redis://127.0.0.1:%d/", fixture->server->port);
    check_url(fixture, 3, "redis://127.0.0.1:%d/3", fixture->server->port);
    check_url(fixture, 15, "REDIS://127.0.0.1:%d/15", fixture->server->port);
}

/* Resolved, and the address that answers is found: the server listens on 127.0.0.1 only, the name may also stand for ::1. */
static void host_name(void **state)
{
    struct fixture *fixture = *state;
    check_url(fixture, 0, "redis://localhost:%d", fixture->server->port);
    check_url(fixture, 7, "redis://localhost:%d/7", fixture->server->port);
}

static void unix_socket(void **state)
{
    struct fixture *fixture = *state;
    check_url(fixture, 0, "unix://%s", fixture->server->socket);
    check_url(fixture, 5, "unix://%s?db=5", fixture->server->socket);
}

static void password_of_the_default_user(void **state)
{
    struct fixture *fixture = *state;
    redis_do(fixture->redis, "CONFIG SET requirepass %s", secret);
    redis_do(fixture->redis, "AUTH %s", secret);
    {
        char url[256];
        struct client client;
        struct handle stock;
        snprintf(url, sizeof url, "redis://:%s@127.0.0.1:%d/2", secret_in_url, fixture->server->port);
        client_open(&client, url);
        handle_open(&stock, &client, "stock", NULL);
        assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
        assert_int_equal(client_stats(&client).disconnects, 0);
        assert_int_equal(handle_give(&stock), HILOCK_OK);
        handle_free(&stock);
        client_close(&client);
        check_tells_no_secret(HILOCK_CLIENT_OPTIONS(.url = url));
        snprintf(url, sizeof url, "unix://:%s@%s", secret_in_url, fixture->server->socket);
        check_tells_no_secret(HILOCK_CLIENT_OPTIONS(.url = url));
        check_tells_no_secret(HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .password = secret));
    }
}

/* Both links are logged in as the user that was asked for; options count before the URL. */
static void check_user(struct fixture *fixture, const struct hilock_client_options *options, const char *user)
{
    struct client client;
    struct handle first, second;
    redisReply *list;
    char wanted[64];
    unsigned links = 0;
    client_open_with(&client, options);
    handle_open(&first, &client, "stock:1", NULL);
    handle_open(&second, &client, "stock:1", NULL);
    assert_int_equal(handle_acquire(&first, HILOCK_FOREVER), HILOCK_OK);
    handle_ask(&second, HILOCK_FOREVER);
    handle_until(&second, &second.waiting, 1, "the wait");
    assert_int_equal(handle_give(&first), HILOCK_OK);
    handle_until(&second, &second.acquired, 1, "the grant");
    list = redis_reply(fixture->redis, "CLIENT LIST");
    snprintf(wanted, sizeof wanted, " user=%s ", user);
    for (char *line = strtok(list->str, "\n"); line; line = strtok(NULL, "\n"))
        if (strstr(line, "name=hilock:")) {
            assert_non_null(strstr(line, wanted));
            links++;
        }
    assert_int_equal(links, 2);
    freeReplyObject(list);
    handle_free(&first);
    handle_free(&second);
    assert_int_equal(client.warnings, 0);
    client_close(&client);
    fixture_check_clean(fixture->redis);
}

static void an_acl_user(void **state)
{
    struct fixture *fixture = *state;
    char url[256];
    redis_do(fixture->redis, "ACL SETUSER shop on >%s ~* &* +@all", secret);
    redis_do(fixture->redis, "ACL SETUSER other on >%s ~* &* +@all", "else");
    snprintf(url, sizeof url, "redis://shop:%s@localhost:%d/1", secret_in_url, fixture->server->port);
    check_user(fixture, HILOCK_CLIENT_OPTIONS(.url = url), "shop");
    check_tells_no_secret(HILOCK_CLIENT_OPTIONS(.url = url));
    snprintf(url, sizeof url, "unix://shop:%s@%s?db=1", secret_in_url, fixture->server->socket);
    check_user(fixture, HILOCK_CLIENT_OPTIONS(.url = url), "shop");
    check_user(fixture, HILOCK_CLIENT_OPTIONS(.url = url, .username = "other", .password = "else"), "other");
    check_user(fixture, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .username = "shop", .password = secret), "shop");
    check_user(fixture, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url), "default");
}

/* The same name in two databases is two locks. */
static void databases_do_not_meet(void **state)
{
    struct fixture *fixture = *state;
    struct client first, second;
    struct handle ours, theirs;
    char url[192];
    snprintf(url, sizeof url, "%s?db=1", fixture->server->url);
    client_open(&first, fixture->server->url);
    client_open_on(&second, first.base, HILOCK_CLIENT_OPTIONS(.url = url));
    handle_open(&ours, &first, "stock", NULL);
    handle_open(&theirs, &second, "stock", NULL);
    assert_int_equal(handle_acquire(&ours, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(handle_acquire(&theirs, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(handle_give(&ours), HILOCK_OK);
    assert_int_equal(hilock_lock_state(theirs.lock), HILOCK_STATE_HELD);
    assert_int_equal(handle_give(&theirs), HILOCK_OK);
    handle_free(&ours);
    handle_free(&theirs);
    client_close(&second);
    client_close(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST_WITH_PORT(tcp),
        FIXTURE_TEST_WITH_PORT(host_name),
        FIXTURE_TEST(unix_socket),
        FIXTURE_TEST_WITH_PORT(password_of_the_default_user),
        FIXTURE_TEST_WITH_PORT(an_acl_user),
        FIXTURE_TEST(databases_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
