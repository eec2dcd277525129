/* SPDX-License-Identifier: BSD-3-Clause */
/* Every way to say where the server is and who we are: over it a lock is taken, in the database and as the user that
 * were asked for, and no secret is logged. A login that is refused runs nothing, and is repeated until it is accepted. */
#include <stdio.h>
#include <string.h>

#include "support/fixture.h"

static const char secret[] = "p@:secret?%";
static const char secret_in_both[] = "secret"; /* no line of the log may have it */

enum { DATABASES = 16 };

/* Both links are logged in as that user, and the lock is in this database, and in no other. */
static void check_place(struct fixture *fixture, int database, const char *user)
{
    redisReply *list = redis_reply(fixture->redis, "CLIENT LIST");
    char wanted[64];
    unsigned links = 0;
    snprintf(wanted, sizeof wanted, " user=%s ", user);
    for (char *line = strtok(list->str, "\n"); line; line = strtok(NULL, "\n"))
        links += strstr(line, "name=hilock:") && strstr(line, wanted);
    freeReplyObject(list);
    assert_int_equal(links, 2);
    for (int i = 0; i < DATABASES; i++) {
        redis_do(fixture->redis, "SELECT %d", i);
        assert_int_equal(redis_integer(fixture->redis, "EXISTS stock"), i == database);
    }
    redis_do(fixture->redis, "SELECT 0");
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
    handle_until(&sibling, &sibling.waiting, 1, "the wait"); /* opens the second link */
    check_place(fixture, database, user);
    assert_int_equal(client.warnings + client.watched_count, 0);
    client_end(&client);
    fixture_check_clean(fixture->redis);
}

struct row { const char *format; int is_local, database; const char *user; }; /* of the host's port, or of the socket */

static void check_rows(struct fixture *fixture, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char where[128], url[256];
        const char *at = strchr(rows[i].format, '$');
        if (rows[i].is_local)
            snprintf(where, sizeof where, "%s", fixture->server->socket);
        else
            snprintf(where, sizeof where, "%d", fixture->server->port);
        snprintf(url, sizeof url, "%.*s%s%s", (int)(at - rows[i].format), rows[i].format, where, at + 1);
        check_works(fixture, HILOCK_CLIENT_OPTIONS(.url = url), rows[i].database, rows[i].user);
    }
}

/* By a name it is resolved, and the address that answers is found: the server listens on 127.0.0.1 only, the name may
 * also stand for ::1. */
static void without_a_login(void **state)
{
    static const struct row rows[] = {
        {"redis://127.0.0.1:$/", 0, 0, "default"},
        {"REDIS://127.0.0.1:$/15", 0, 15, "default"},
        {"redis://localhost:$/7", 0, 7, "default"},
        {"unix://$?db=5", 1, 5, "default"},
    };
    check_rows(*state, rows, sizeof rows / sizeof *rows);
}

#define PASSWORD_IN_URL "p%40%3Asecret%3F%25"

/* Options count before the URL. */
static void with_a_login(void **state)
{
    static const struct row rows[] = {
        {"redis://:" PASSWORD_IN_URL "@127.0.0.1:$/2", 0, 2, "default"},
        {"unix://:" PASSWORD_IN_URL "@$", 1, 0, "default"},
        {"redis://shop:" PASSWORD_IN_URL "@localhost:$/1", 0, 1, "shop"},
        {"unix://shop:" PASSWORD_IN_URL "@$?db=1", 1, 1, "shop"},
    };
    struct fixture *fixture = *state;
    redis_do(fixture->redis, "CONFIG SET requirepass %s", secret);
    redis_do(fixture->redis, "AUTH %s", secret);
    redis_do(fixture->redis, "ACL SETUSER shop on >%s ~* &* +@all", secret);
    redis_do(fixture->redis, "ACL SETUSER other on >else ~* &* +@all");
    check_rows(fixture, rows, sizeof rows / sizeof *rows);
    check_works(fixture, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .username = "other", .password = "else"), 0, "other");
    check_works(fixture, HILOCK_CLIENT_OPTIONS(.url = fixture->server->tcp_url, .password = secret), 0, "default");
}

/* ---- refused ---- */

/* All rights, so that only the login keeps it out. */
static void let_in(struct fixture *fixture, const char *password) { redis_do(fixture->redis, "ACL SETUSER locks reset on >%s ~* &* +@all", password); }

static long long calls_of_locks(struct redis *redis)
{
    return redis_calls(redis, "evalsha") + redis_calls(redis, "script|load") + redis_calls(redis, "subscribe");
}

static int was_repeated(void *redis) { return redis_calls(redis, "auth") >= 4; }

/* The default user may do everything here: nothing runs as that one. */
static void is_repeated_until_it_is_good(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    let_in(fixture, "right");
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .username = "locks", .password = "wrong"));
    handle_open(&stock, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_DENIED);
    assert_non_null(strstr(stock.acquired.detail, "WRONGPASS"));
    client_until(&client, was_repeated, fixture->redis, "more logins");
    assert_false(hilock_client_is_connected(client.hilock));
    assert_int_equal(calls_of_locks(fixture->redis), 0);
    let_in(fixture, "wrong");
    client_connect(&client);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    client_end(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST_WITH_PORT(without_a_login),
        FIXTURE_TEST_WITH_PORT(with_a_login),
        FIXTURE_TEST(is_repeated_until_it_is_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
