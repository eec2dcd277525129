/* SPDX-License-Identifier: BSD-3-Clause */
/* Every way to say where the server is and who we are: over it a lock is taken, in the database and as the user that
 * were asked for, and no secret is logged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture.h"

static const char secret[] = "p@:secret?%";
static const char secret_in_url[] = "p%40%3Asecret%3F%25";
static const char secret_in_both[] = "secret"; /* no line of the log may have it */

enum { DATABASES = 16 };

/* Both links are logged in as that user. */
static void check_links(struct fixture *fixture, const char *user)
{
    redisReply *list = redis_reply(fixture->redis, "CLIENT LIST");
    char wanted[64];
    unsigned links = 0;
    snprintf(wanted, sizeof wanted, " user=%s ", user);
    for (char *line = strtok(list->str, "\n"); line; line = strtok(NULL, "\n"))
        if (strstr(line, "name=hilock:")) {
            assert_non_null(strstr(line, wanted));
            links++;
        }
    assert_int_equal(links, 2);
    freeReplyObject(list);
}

/* The lock is in this database, and in no other. */
static void check_database(struct fixture *fixture, int database)
{
    for (int i = 0; i < DATABASES; i++) {
        struct redis *redis = redis_open(fixture->server);
        freeReplyObject(redis_reply(redis, "AUTH %s", secret)); /* where it is asked for */
        redis_do(redis, "SELECT %d", i);
        assert_int_equal(redis_integer(redis, "EXISTS stock"), i == database);
        redis_close(redis);
    }
}

static void check_works(struct fixture *fixture, const struct hilock_client_options *options, int database, const char *user)
{
    struct client client;
    struct handle stock, sibling;
    client_open_with(&client, options);
    client.watched = secret_in_both;
    handle_open(&stock, &client, "stock", NULL);
    handle_open(&sibling, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
    handle_ask(&sibling, HILOCK_FOREVER);
    handle_until(&sibling, &sibling.waiting, 1, "the wait");
    check_database(fixture, database);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_until(&sibling, &sibling.acquired, 1, "the grant");
    check_links(fixture, user);
    handle_free(&stock);
    handle_free(&sibling);
    assert_int_equal(client.warnings + client.watched_count, 0);
    client_close(&client);
    fixture_check_clean(fixture->redis);
}

static void check_url(struct fixture *fixture, int database, const char *user, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void check_url(struct fixture *fixture, int database, const char *user, const char *format, ...)
{
    char url[256];
    va_list list;
    va_start(list, format);
    vsnprintf(url, sizeof url, format, list);
    va_end(list);
    check_works(fixture, HILOCK_CLIENT_OPTIONS(.url = url), database, user);
}

/* By a name it is resolved, and the address that answers is found: the server listens on 127.0.0.1 only, the name may
 * also stand for ::1. */
static void without_a_login(void **state)
{
    struct fixture *fixture = *state;
    int port = fixture->server->port;
    check_url(fixture, 0, "default", "redis://127.0.0.1:%d/", port);
    check_url(fixture, 15, "default", "REDIS://127.0.0.1:%d/15", port);
    check_url(fixture, 7, "default", "redis://localhost:%d/7", port);
    check_url(fixture, 0, "default", "unix://%s", fixture->server->socket);
    check_url(fixture, 5, "default", "unix://%s?db=5", fixture->server->socket);
}

/* Options count before the URL. */
static void with_a_login(void **state)
{
    struct fixture *fixture = *state;
    const char *socket = fixture->server->socket;
    int port = fixture->server->port;
    redis_do(fixture->redis, "CONFIG SET requirepass %s", secret);
    redis_do(fixture->redis, "AUTH %s", secret);
    redis_do(fixture->redis, "ACL SETUSER shop on >%s ~* &* +@all", secret);
    redis_do(fixture->redis, "ACL SETUSER other on >else ~* &* +@all");
    check_url(fixture, 2, "default", "redis://:%s@127.0.0.1:%d/2", secret_in_url, port);
    check_url(fixture, 0, "default", "unix://:%s@%s", secret_in_url, socket);
    check_url(fixture, 1, "shop", "redis://shop:%s@localhost:%d/1", secret_in_url, port);
    check_url(fixture, 1, "shop", "unix://shop:%s@%s?db=1", secret_in_url, socket);
    check_works(fixture, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .username = "other", .password = "else"), 0, "other");
    check_works(fixture, HILOCK_CLIENT_OPTIONS(.url = fixture->server->tcp_url, .password = secret), 0, "default");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST_WITH_PORT(without_a_login),
        FIXTURE_TEST_WITH_PORT(with_a_login),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
