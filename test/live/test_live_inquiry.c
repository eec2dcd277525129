/* SPDX-License-Identifier: BSD-3-Clause */
/* To peek and force_release what is no lock of ours, as a real server keeps it, is named, left as it was, and never
 * read as a whole. What they say and do of locks: unit/inquiry, acl (deeds). */
#include <stdio.h>

#include "support/fixture.h"

struct answer { unsigned count; hilock_status status; };

static void on_answer(const struct hilock_result *result, void *user)
{
    struct answer *answer = user;
    answer->count++;
    answer->status = result->status;
}

static int has_come(void *arg) { return ((struct answer *)arg)->count > 0; }

static hilock_status answered(struct handle *handle, hilock_status accepted, struct answer *answer)
{
    CHECK(accepted == HILOCK_OK && !answer->count);
    client_until(handle->client, has_come, answer, "the answer");
    return answer->status;
}

static hilock_status peek(struct handle *handle)
{
    struct answer answer = {0, HILOCK_OK};
    return answered(handle, hilock_peek(handle->lock, on_answer, &answer), &answer);
}

static hilock_status force(struct handle *handle, const char *holder)
{
    struct answer answer = {0, HILOCK_OK};
    return answered(handle, hilock_force_release(handle->lock, holder, on_answer, &answer), &answer);
}

static void digest(struct redis *redis, char digest[64])
{
    snprintf(digest, 64, "%s", redis_text(redis, "EVAL %s 0", "return redis.sha1hex(redis.call('DUMP', 'stock:42'))"));
}

/* A read lock of two Java threads, a writer's, a map, a group multilock, and a map so large that reading all of it
 * would stop the server. */
static void what_is_no_lock_stands(void **state)
{
    static const char *const theirs[] = {
        "HSET stock:42 mode read java:1 1 java:2 1", "HSET stock:42 mode write java:1:write 1",
        "HSET stock:42 java:1 ann java:2 bob", "HSET stock:42 f java:1 f:java:1:expire_time 5 f:java:1:lock_count 1",
        "EVAL %s 1 stock:42"};
    static const char large[] = "for i = 1, 100000 do redis.call('HSET', KEYS[1], 'java:' .. i, i) end";
    struct fixture *fixture = *state;
    struct client client;
    struct handle watches[2];
    char before[64], after[64];
    client_open(&client, fixture->server->url);
    handle_open(&watches[0], &client, "stock:42", NULL);
    handle_open(&watches[1], &client, "stock:42", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) {
        redis_do(fixture->redis, theirs[i], large);
        digest(fixture->redis, before);
        for (int j = 0; j < 2; j++) {
            assert_int_equal(peek(&watches[j]), i < 2 ? HILOCK_OK : HILOCK_WRONG_KIND);
            assert_int_equal(force(&watches[j], NULL), HILOCK_WRONG_KIND);
            assert_int_equal(force(&watches[j], i == 1 ? "java:1:write" : "java:1"), HILOCK_WRONG_KIND);
            assert_int_equal(handle_acquire(&watches[j], HILOCK_TRY), HILOCK_TIMED_OUT);
        }
        digest(fixture->redis, after);
        assert_string_equal(after, before);
        redis_do(fixture->redis, "DEL stock:42");
    }
    assert_int_equal(redis_calls(fixture->redis, "hkeys") + redis_calls(fixture->redis, "hgetall"), 0);
    for (int j = 0; j < 2; j++)
        handle_free(&watches[j]);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {FIXTURE_TEST(what_is_no_lock_stands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
