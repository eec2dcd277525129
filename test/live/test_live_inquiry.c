/* SPDX-License-Identifier: BSD-3-Clause */
/* peek tells what a real server has, and changes nothing; force_release ends exactly the hold it names, and who waits has it at once. */
#include <stdio.h>
#include <string.h>

#include "support/fixture.h"

struct answer {
    unsigned count;
    hilock_status status;
    hilock_operation operation;
    uint32_t holder_remaining_ms, attempts;
    char holder[1100], detail[300];
};

static void on_answer(const struct hilock_result *result, void *user)
{
    struct answer *answer = user;
    answer->count++;
    answer->status = result->status;
    answer->operation = result->operation;
    answer->holder_remaining_ms = result->holder_remaining_ms;
    answer->attempts = result->attempts;
    snprintf(answer->holder, sizeof answer->holder, "%s", result->holder);
    snprintf(answer->detail, sizeof answer->detail, "%s", result->detail);
}

static int has_come(void *arg) { return ((struct answer *)arg)->count > 0; }

static hilock_status peek(struct handle *handle, struct answer *answer)
{
    answer->count = 0;
    CHECK(hilock_peek(handle->lock, on_answer, answer) == HILOCK_OK && !answer->count);
    client_until(handle->client, has_come, answer, "the answer to peek");
    CHECK(answer->operation == HILOCK_OP_PEEK);
    return answer->status;
}

static hilock_status force(struct handle *handle, const char *holder, struct answer *answer)
{
    answer->count = 0;
    CHECK(hilock_force_release(handle->lock, holder, on_answer, answer) == HILOCK_OK && !answer->count);
    client_until(handle->client, has_come, answer, "the answer to force_release");
    CHECK(answer->operation == HILOCK_OP_FORCE_RELEASE);
    return answer->status;
}

static void peek_tells_what_the_server_has(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock, watch;
    struct answer answer;
    char holder[128];
    long long before;
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    handle_open(&watch, &client, "stock:42", NULL);
    assert_int_equal(peek(&watch, &answer), HILOCK_OK);
    assert_string_equal(answer.holder, "");
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    before = redis_integer(fixture->redis, "PTTL stock:42");
    assert_int_equal(peek(&watch, &answer), HILOCK_OK);
    snprintf(holder, sizeof holder, "%s:1:live", hilock_client_uuid(client.hilock));
    assert_string_equal(answer.holder, holder);
    assert_true(answer.holder_remaining_ms <= before && answer.holder_remaining_ms >= redis_integer(fixture->redis, "PTTL stock:42"));
    assert_int_equal(redis_integer(fixture->redis, "HLEN stock:42"), 2);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    redis_do(fixture->redis, "HSET stock:42 somebody:7 1");
    assert_int_equal(peek(&watch, &answer), HILOCK_OK);
    assert_string_equal(answer.holder, "somebody:7");
    assert_int_equal(answer.holder_remaining_ms, HILOCK_FOREVER);
    redis_do(fixture->redis, "DEL stock:42");
    redis_do(fixture->redis, "SET stock:42 x");
    assert_int_equal(peek(&watch, &answer), HILOCK_WRONG_KIND);
    assert_int_equal(force(&watch, NULL, &answer), HILOCK_WRONG_KIND);
    assert_int_equal(force(&watch, "x", &answer), HILOCK_WRONG_KIND);
    redis_do(fixture->redis, "DEL stock:42");
    handle_free(&stock);
    handle_free(&watch);
    client_close(&client);
}

static void a_forced_release_wakes_who_waits(void **state)
{
    struct fixture *fixture = *state;
    struct client holding, waiting;
    struct handle old, new, watch;
    struct answer answer;
    char stale[128], holder[1100];
    client_open(&holding, fixture->server->url);
    client_open(&waiting, fixture->server->url);
    handle_open(&old, &holding, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    handle_open(&new, &waiting, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    handle_open(&watch, &waiting, "stock:42", NULL);
    assert_int_equal(handle_acquire(&old, 20000), HILOCK_OK);
    handle_ask(&new, HILOCK_FOREVER);
    handle_until(&new, &new.waiting, 1, "WAITING");
    snprintf(stale, sizeof stale, "%s:99:live", hilock_client_uuid(holding.hilock));
    assert_int_equal(force(&watch, stale, &answer), HILOCK_LOST);
    assert_int_equal(redis_integer(fixture->redis, "HLEN stock:42"), 2);
    assert_int_equal(peek(&watch, &answer), HILOCK_OK);
    snprintf(holder, sizeof holder, "%s", answer.holder);
    assert_int_equal(force(&watch, holder, &answer), HILOCK_OK);
    handle_until(&new, &new.acquired, 1, "the grant");
    assert_int_equal(new.acquired.status, HILOCK_OK);
    handle_until(&old, &old.lost, 1, "the loss");
    assert_int_equal(old.lost.reason, HILOCK_REASON_TAKEN);
    assert_true(new.acquired.token > old.acquired.token);
    assert_int_equal(force(&watch, holder, &answer), HILOCK_LOST);
    assert_true(hilock_lock_remaining_ms(new.lock) > 0);
    assert_int_equal(handle_give(&new), HILOCK_OK);
    handle_free(&old);
    handle_free(&new);
    handle_free(&watch);
    client_close(&holding);
    client_close(&waiting);
}

static void whoever_holds_is_thrown_out(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle watch;
    struct answer answer;
    client_open(&client, fixture->server->url);
    handle_open(&watch, &client, "stock:42", NULL);
    redis_do(fixture->redis, "HSET stock:42 another:1 1 mode mutex");
    assert_int_equal(force(&watch, NULL, &answer), HILOCK_OK);
    assert_string_equal(answer.holder, "another:1");
    assert_int_equal(redis_lock_keys(fixture->redis), 0);
    assert_int_equal(force(&watch, NULL, &answer), HILOCK_LOST);
    handle_free(&watch);
    client_close(&client);
}

/* A read lock of two Java threads, a writer's, a map, a group multilock, and a map so large that reading all of it would stop the server. */
static void what_is_no_lock_stands(void **state)
{
    static const char *const theirs[] = {"HSET stock:42 mode read java:1 1 java:2 1", "HSET stock:42 mode write java:1:write 1", "HSET stock:42 java:1 ann java:2 bob",
                                         "HSET stock:42 f java:1 f:java:1:expire_time 5 f:java:1:lock_count 1",
                                         "EVAL %s 1 stock:42"};
    static const char large[] = "for i = 1, 100000 do redis.call('HSET', KEYS[1], 'java:' .. i, i) end";
    struct fixture *fixture = *state;
    struct client client;
    struct handle watches[2];
    struct answer answer;
    char digest[64];
    client_open(&client, fixture->server->url);
    handle_open(&watches[0], &client, "stock:42", NULL);
    handle_open(&watches[1], &client, "stock:42", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) {
        redis_do(fixture->redis, theirs[i], large);
        snprintf(digest, sizeof digest, "%s", redis_text(fixture->redis, "EVAL %s 0", "return redis.sha1hex(redis.call('DUMP', 'stock:42'))"));
        for (int j = 0; j < 2; j++) {
            assert_int_equal(peek(&watches[j], &answer), i < 2 ? HILOCK_OK : HILOCK_WRONG_KIND);
            assert_int_equal(force(&watches[j], NULL, &answer), HILOCK_WRONG_KIND);
            assert_int_equal(force(&watches[j], i == 1 ? "java:1:write" : "java:1", &answer), HILOCK_WRONG_KIND);
            assert_int_equal(handle_acquire(&watches[j], HILOCK_TRY), HILOCK_TIMED_OUT);
        }
        assert_string_equal(redis_text(fixture->redis, "EVAL %s 0", "return redis.sha1hex(redis.call('DUMP', 'stock:42'))"), digest);
        redis_do(fixture->redis, "DEL stock:42");
    }
    assert_int_equal(redis_calls(fixture->redis, "hkeys") + redis_calls(fixture->redis, "hgetall"), 0);
    for (int j = 0; j < 2; j++)
        handle_free(&watches[j]);
    client_close(&client);
}

static void a_server_that_stands_still_is_UNREACHABLE_or_UNKNOWN(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle watch;
    struct answer answer;
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .command_timeout_ms = 3000));
    client_connect(&client);
    handle_open(&watch, &client, "stock:42", NULL);
    server_suspend(fixture->server);
    assert_int_equal(peek(&watch, &answer), HILOCK_UNREACHABLE);
    server_resume(fixture->server);
    assert_int_equal(peek(&watch, &answer), HILOCK_OK);
    server_suspend(fixture->server);
    assert_int_equal(force(&watch, "another:1", &answer), HILOCK_UNKNOWN);
    server_resume(fixture->server);
    handle_free(&watch);
    client_close(&client);
}

/* A client that closes answers what it was asked. However slow the machine is: so a command has a minute. */
static void close_answers_them_all(void **state)
{
    enum { MANY = 2000 };
    struct fixture *fixture = *state;
    struct client client;
    struct handle watch;
    struct answer answer = {0};
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .command_timeout_ms = 60000));
    client_connect(&client);
    handle_open(&watch, &client, "stock:42", NULL);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(hilock_peek(watch.lock, on_answer, &answer), HILOCK_OK);
    client_close(&client);
    assert_int_equal(answer.count, MANY);
    assert_int_equal(answer.status, HILOCK_OK);
    handle_free(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(peek_tells_what_the_server_has),
        FIXTURE_TEST(a_forced_release_wakes_who_waits),
        FIXTURE_TEST(whoever_holds_is_thrown_out), FIXTURE_TEST(what_is_no_lock_stands),
        FIXTURE_TEST(a_server_that_stands_still_is_UNREACHABLE_or_UNKNOWN),
        FIXTURE_TEST(close_answers_them_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
