/* SPDX-License-Identifier: BSD-3-Clause */
/* A name is any bytes: each is its own lock, on its own keys, told apart to the last byte; what cannot be kept in one hash slot is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture.h"

enum { NAMES = 1000 };

static void a_thousand_at_once(void **state)
{
    static struct handle first[NAMES], second[NAMES];
    struct fixture *fixture = *state;
    struct client ours, theirs;
    char name[32];
    client_open(&ours, fixture->server->url);
    client_open_on(&theirs, ours.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "stock:%u", i);
        handle_open(&first[i], &ours, name, NULL);
        handle_open(&second[i], &theirs, name, NULL);
        handle_ask(&first[i], HILOCK_FOREVER);
    }
    for (unsigned i = 0; i < NAMES; i++) {
        handle_until(&first[i], &first[i].acquired, 1, "the grant");
        assert_int_equal(first[i].acquired.status, HILOCK_OK);
    }
    assert_int_equal(redis_lock_keys(fixture->redis), NAMES);
    assert_int_equal(client_stats(&ours).held, NAMES);
    for (unsigned i = 0; i < NAMES; i++)
        handle_ask(&second[i], HILOCK_FOREVER);
    for (unsigned i = 0; i < NAMES; i++)
        handle_until(&second[i], &second[i].waiting, 1, "the wait");
    for (unsigned i = 0; i < NAMES; i++)
        handle_release(&first[i]);
    for (unsigned i = 0; i < NAMES; i++) {
        handle_until(&second[i], &second[i].acquired, 1, "the grant");
        assert_int_equal(second[i].acquired.status, HILOCK_OK);
        assert_true(second[i].acquired.token > first[i].acquired.token);
        handle_free(&first[i]);
        handle_free(&second[i]);
    }
    fixture_until_unsubscribed(fixture, &ours);
    client_close(&theirs);
    client_close(&ours);
    assert_int_equal(redis_count(fixture->redis, "KEYS hilock:token:*"), NAMES);
}

static void open_bytes(struct handle *handle, struct client *client, const char *name, size_t length)
{
    handle_open(handle, client, name, HILOCK_LOCK_OPTIONS(.lease_ms = 60000, .name_length = length));
}

/* The name's own key, and its token's, are there; another client is kept out, waits, and is woken. */
static void check_is_a_lock(struct fixture *fixture, struct client *ours, struct client *theirs, const char *name, size_t length)
{
    int has_tag = memchr(name, '{', length) != NULL;
    struct handle first, second;
    open_bytes(&first, ours, name, length);
    open_bytes(&second, theirs, name, length);
    assert_int_equal(handle_acquire(&first, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(redis_integer(fixture->redis, "HLEN %b", name, length), 2);
    assert_int_equal(redis_integer(fixture->redis, has_tag ? "EXISTS hilock:token=%b" : "EXISTS hilock:token:{%b}", name, length), 1);
    assert_int_equal(redis_lock_keys(fixture->redis), 1);
    assert_int_equal(handle_acquire(&second, HILOCK_TRY), HILOCK_TIMED_OUT);
    handle_ask(&second, HILOCK_FOREVER);
    handle_until(&second, &second.waiting, 1, "the wait");
    assert_int_equal(handle_give(&first), HILOCK_OK);
    handle_until(&second, &second.acquired, 2, "the grant");
    assert_int_equal(second.acquired.status, HILOCK_OK);
    assert_int_equal(handle_give(&second), HILOCK_OK);
    assert_int_equal(redis_lock_keys(fixture->redis), 0);
    handle_free(&first);
    handle_free(&second);
}

static void open_two(struct client *ours, struct client *theirs, struct fixture *fixture)
{
    client_open(ours, fixture->server->url);
    client_open_on(theirs, ours->base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
}

static void every_byte(void **state)
{
    struct fixture *fixture = *state;
    struct client ours, theirs;
    char all[256];
    open_two(&ours, &theirs, fixture);
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    check_is_a_lock(fixture, &ours, &theirs, all, sizeof all); /* has {|} in it, a tag */
    for (int i = 0; i < 256; i++)
        if (i != '{' && i != '}')
            check_is_a_lock(fixture, &ours, &theirs, all + i, 1);
    client_close(&theirs);
    client_close(&ours);
}

static void the_longest(void **state)
{
    struct fixture *fixture = *state;
    struct client ours, theirs;
    char name[HILOCK_NAME_MAX + 1];
    hilock_lock *lock = NULL;
    open_two(&ours, &theirs, fixture);
    memset(name, 'n', sizeof name);
    check_is_a_lock(fixture, &ours, &theirs, name, HILOCK_NAME_MAX);
    assert_int_equal(hilock_lock_create(&lock, ours.hilock, name, HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .name_length = sizeof name)),
                     HILOCK_BAD_NAME);
    assert_non_null(strstr(hilock_client_refusal(ours.hilock), "1025 bytes"));
    assert_null(lock);
    client_close(&theirs);
    client_close(&ours);
}

static void tags(void **state)
{
    static const char *const good[] = {"{shop}stock", "stock{7}", "{a}{b}", "a{b}c}d", "{{}}", "{a{b}"};
    static const char *const bad[] = {"x}y", "}", "{", "a{}b", "a{}b{c}", "stock{7"};
    struct fixture *fixture = *state;
    struct client ours, theirs;
    hilock_lock *lock = NULL;
    open_two(&ours, &theirs, fixture);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_is_a_lock(fixture, &ours, &theirs, good[i], strlen(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(hilock_lock_create(&lock, ours.hilock, bad[i], HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)), HILOCK_BAD_NAME);
        assert_non_null(strstr(hilock_client_refusal(ours.hilock), "braces"));
        assert_null(lock);
    }
    client_close(&theirs);
    client_close(&ours);
}

/* "a", "a\0", "a\0b", "a\0c" and the empty prefix of them all are different locks, held at once. */
static void told_apart_to_the_last_byte(void **state)
{
    static const struct { const char *bytes; size_t length; } names[] = {{"a", 1}, {"a\0", 2}, {"a\0b", 3}, {"a\0c", 3}, {"A", 1}, {"\0", 1}, {"\0a", 2}};
    enum { COUNT = sizeof names / sizeof *names };
    struct fixture *fixture = *state;
    struct client client;
    struct handle handles[COUNT];
    struct hilock_lock_info info = {.size = sizeof info};
    client_open(&client, fixture->server->url);
    for (size_t i = 0; i < COUNT; i++) {
        open_bytes(&handles[i], &client, names[i].bytes, names[i].length);
        assert_int_equal(handle_acquire(&handles[i], HILOCK_TRY), HILOCK_OK);
        hilock_lock_describe(handles[i].lock, &info);
        assert_int_equal(info.name_length, names[i].length);
        assert_memory_equal(info.name, names[i].bytes, names[i].length + 1);
    }
    assert_int_equal(redis_lock_keys(fixture->redis), COUNT);
    for (size_t i = 0; i < COUNT; i++)
        handle_free(&handles[i]);
    client_close(&client);
}

static void ask_fair(struct handle *handle, struct client *client, const char *name)
{
    handle_open(handle, client, name, HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = 60000));
    handle_ask(handle, HILOCK_FOREVER);
}

/* One client waits for "a" and "{a}", which share a channel; each gets its own. */
static void braces_are_a_letter_more(void **state)
{
    struct fixture *fixture = *state;
    struct client ours, theirs;
    struct handle held[2], waits[2];
    open_two(&ours, &theirs, fixture);
    for (int i = 0; i < 2; i++) {
        ask_fair(&held[i], &ours, i ? "{a}" : "a");
        handle_until(&held[i], &held[i].acquired, 1, "the grant");
        ask_fair(&waits[i], &theirs, i ? "{a}" : "a");
        handle_until(&waits[i], &waits[i].waiting, 1, "the wait");
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(handle_give(&held[i]), HILOCK_OK);
        handle_until(&waits[i], &waits[i].acquired, 1, "the grant");
        assert_int_equal(waits[i].acquired.status, HILOCK_OK);
        assert_int_equal(waits[!i].acquired.count, i);
    }
    for (int i = 0; i < 2; i++) {
        handle_free(&held[i]);
        handle_free(&waits[i]);
    }
    client_close(&theirs);
    client_close(&ours);
}

static void a_prefix(void **state)
{
    struct fixture *fixture = *state;
    struct client shop, plain;
    struct handle ours, theirs;
    hilock_lock *lock = NULL;
    client_open_with(&shop, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .name_prefix = "shop:"));
    client_open_on(&plain, shop.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    handle_open(&ours, &shop, "stock", NULL);
    handle_open(&theirs, &plain, "shop:stock", NULL);
    assert_string_equal(hilock_lock_name(ours.lock), "shop:stock");
    assert_int_equal(handle_acquire(&ours, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS shop:stock"), 1);
    assert_int_equal(handle_acquire(&theirs, HILOCK_TRY), HILOCK_TIMED_OUT);
    assert_int_equal(hilock_lock_create(&lock, shop.hilock, "", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)), HILOCK_BAD_NAME);
    assert_int_equal(hilock_lock_create(&lock, plain.hilock, "", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)), HILOCK_BAD_NAME);
    handle_free(&ours);
    handle_free(&theirs);
    client_close(&plain);
    client_close(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_thousand_at_once),          FIXTURE_TEST(every_byte), FIXTURE_TEST(the_longest), FIXTURE_TEST(tags),
        FIXTURE_TEST(told_apart_to_the_last_byte), FIXTURE_TEST(a_prefix), FIXTURE_TEST(braces_are_a_letter_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
