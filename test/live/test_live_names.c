/* SPDX-License-Identifier: BSD-3-Clause */
/* A name is any bytes: to a real server, too, each is its own lock, on its own keys, told apart to the last byte. What
 * is refused: unit/keys and names. */
#include <string.h>

#include "support/fixture.h"

static void open_bytes(struct handle *handle, struct client *client, const char *name, size_t length)
{
    handle_open(handle, client, name, HILOCK_LOCK_OPTIONS(.lease_ms = 60000, .name_length = length));
}

struct two { struct fixture *fixture; struct client ours, theirs; };

static void begin(struct two *two, void **state)
{
    two->fixture = *state;
    client_open(&two->ours, two->fixture->server->url);
    client_open_on(&two->theirs, two->ours.base, HILOCK_CLIENT_OPTIONS(.url = two->fixture->server->url));
}

static void end(struct two *two)
{
    client_close(&two->theirs);
    client_close(&two->ours);
}

/* The name's own key, and its token's, are there; another client is kept out, waits, and is woken. */
static void check_is_a_lock(struct two *two, const char *name, size_t length)
{
    static const char *const tokens[] = {"EXISTS hilock:token:{%b}", "EXISTS hilock:token=%b"};
    int has_tag = memchr(name, '{', length) != NULL;
    struct redis *redis = two->fixture->redis;
    struct handle first, second;
    open_bytes(&first, &two->ours, name, length);
    open_bytes(&second, &two->theirs, name, length);
    assert_int_equal(handle_acquire(&first, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(redis_integer(redis, "HLEN %b", name, length), 2);
    assert_int_equal(redis_integer(redis, tokens[has_tag], name, length), 1);
    assert_int_equal(redis_lock_keys(redis), 1);
    assert_int_equal(handle_acquire(&second, HILOCK_TRY), HILOCK_TIMED_OUT);
    handle_ask(&second, HILOCK_FOREVER);
    handle_until(&second, &second.waiting, 1, "the wait");
    assert_int_equal(handle_give(&first), HILOCK_OK);
    handle_until(&second, &second.acquired, 2, "the grant");
    assert_int_equal(second.acquired.status, HILOCK_OK);
    assert_int_equal(handle_give(&second), HILOCK_OK);
    assert_int_equal(redis_lock_keys(redis), 0);
    handle_free(&first);
    handle_free(&second);
}

static void any_bytes(void **state)
{
    static const char *const tagged[] = {"{shop}stock", "stock{7}", "{a}{b}", "a{b}c}d", "{{}}", "{a{b}"};
    struct two two;
    char all[256], longest[HILOCK_NAME_MAX];
    begin(&two, state);
    memset(longest, 'n', sizeof longest);
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    check_is_a_lock(&two, longest, sizeof longest);
    check_is_a_lock(&two, all, sizeof all); /* has {|} in it, a tag */
    for (int i = 0; i < 256; i++)
        if (i != '{' && i != '}')
            check_is_a_lock(&two, all + i, 1);
    for (size_t i = 0; i < sizeof tagged / sizeof *tagged; i++)
        check_is_a_lock(&two, tagged[i], strlen(tagged[i]));
    end(&two);
}

/* All held at once. */
static void told_apart_to_the_last_byte(void **state)
{
    static const struct { const char *bytes; size_t length; } names[] = {
        {"a", 1}, {"a\0", 2}, {"a\0b", 3}, {"a\0c", 3}, {"A", 1}, {"\0", 1}, {"\0a", 2}};
    enum { COUNT = sizeof names / sizeof *names };
    struct fixture *fixture = *state;
    struct client client;
    struct handle handles[COUNT];
    client_open(&client, fixture->server->url);
    for (size_t i = 0; i < COUNT; i++) {
        open_bytes(&handles[i], &client, names[i].bytes, names[i].length);
        assert_int_equal(handle_acquire(&handles[i], HILOCK_TRY), HILOCK_OK);
    }
    assert_int_equal(redis_lock_keys(fixture->redis), COUNT);
    for (size_t i = 0; i < COUNT; i++)
        handle_free(&handles[i]);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(any_bytes),
        FIXTURE_TEST(told_apart_to_the_last_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
